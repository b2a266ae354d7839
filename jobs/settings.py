"""What the environment says about this deployment."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import msgspec

from crontick.jobs.database_url import password
from crontick.jobs.environ import Environ


class Variable(NamedTuple):
    """One row of the table of settings in the README."""

    name: str
    default: str
    meaning: str


VARIABLES: Final = (
    Variable("CRONTICK_DATABASE_URL", "DATABASE_URL", "where the jobs are; may be a pooler"),
    Variable("DATABASE_URL", "", "used when CRONTICK_DATABASE_URL is not set"),
    Variable("CRONTICK_MIGRATE_URL", "the same", "a direct URL with the owner's role, for `crontick migrate`"),
    Variable(
        "CRONTICK_LISTEN_URL",
        "CRONTICK_DATABASE_URL",
        "a direct URL, where the other is a pooler's: for `crontick watch`",
    ),
    Variable("CRON_SECRET", "", "who may call the tick: tokens of 16 characters or more, separated by commas"),
    Variable("CRONTICK_ADMIN_SECRET", "", "who may operate: tokens of 32 characters or more"),
    Variable("CRONTICK_ENQUEUE_SECRET", "", "who may enqueue over HTTP: tokens of 16 characters or more"),
    Variable(
        "CRONTICK_ENCRYPTION_KEYS",
        "",
        "keys for secret fields, `ID:BASE64` of 32 bytes, separated by commas; the first seals",
    ),
    Variable(
        "CRONTICK_SIGNING_SECRET",
        "",
        "signs what kinds at a URL are sent, and links: `whsec_…`, several while rotating",
    ),
    Variable("CRONTICK_PUBLIC_URL", "", "where crontick's routes are for others, such as https://app.example: links"),
    Variable("CRONTICK_ALERT_URL", "", "where alerts are posted: Slack or whatever takes the same, Discord, ntfy"),
    Variable("CRONTICK_MODULES", "", "modules that define kinds, separated by commas"),
    Variable("CRONTICK_AROUND", "", "`module:name` of a context manager around every attempt"),
    Variable("CRONTICK_CONFIG", "crontick.toml if there", "the configuration file"),
    Variable("CRONTICK_LIMIT", "100", "jobs that one tick claims at most, 1 to 1000"),
    Variable("CRONTICK_BUDGET_SECONDS", "25", "how long a tick may take, 1 to 900"),
    Variable("CRONTICK_MAX_BUDGET_SECONDS", "CRONTICK_BUDGET_SECONDS", "the most that a call may ask for"),
    Variable("CRONTICK_HOST_LIMIT_SECONDS", "", "when the host kills a request; leases outlive it"),
    Variable("CRONTICK_CONCURRENCY", "20", "seats: attempts at one time in a tick, 1 to 500"),
    Variable("CRONTICK_MAX_PARALLEL_TICKS", "4", "ticks at one time over all processes, 1 to 100"),
    Variable("CRONTICK_DB_CONNECTIONS", "2", "connections that functions of one tick may borrow, 0 to 100"),
    Variable("CRONTICK_KEEP_CONNECTION_SECONDS", "60", "keep the connection when the next tick comes within this"),
    Variable("CRONTICK_ALLOW_GET", "0", "1 lets GET tick, for Vercel's cron"),
    Variable("CRONTICK_ENVIRONMENT", "production", "must equal the name that the database was migrated with"),
    Variable("CRONTICK_PREFIX", "empty; wrapped /crontick", "path before every route but the tick's"),
    Variable("CRONTICK_LOG_FORMAT", "json", "`json` or `text`: the log lines of a process that is all ours"),
    Variable(
        "CRONTICK_METRICS",
        "",
        "what each tick did: `emf`, as CloudWatch's embedded metrics on stdout; `otlp`, to OpenTelemetry's collector",
    ),
    Variable(
        "CRONTICK_TRACES", "", "`otlp`: a span a tick and an attempt, to OpenTelemetry's collector (extra `otel`)"
    ),
    Variable("CRONTICK_PAUSED", "0", "1 stops every tick of this deployment from running jobs"),
)
SECRETS: Final = {"CRON_SECRET": 16, "CRONTICK_ADMIN_SECRET": 32, "CRONTICK_ENQUEUE_SECRET": 16}
_NEVER_SHOWN: Final = frozenset(
    {
        "database_url",
        "migrate_url",
        "listen_url",
        "cron_secrets",
        "admin_secrets",
        "enqueue_secrets",
        "signing_secrets",
        "encryption_keys",
        "alert_url",
    }
)
WITHOUT_ALARMS: Final = frozenset({"demo", "dev", "test"})
"""Environments in which no alarm is set: those of ``crontick demo`` and ``crontick dev``, and that of tests."""
LAMBDA_FUNCTION: Final = "AWS_LAMBDA_FUNCTION_NAME"
"""Lambda says by it which function a process is."""
DEFAULT_CONFIG: Final = Path("crontick.toml")


class SettingsError(Exception):
    """Every fault of the environment at once, one sentence each; no sentence holds a secret."""

    def __init__(self, sentences: list[str]) -> None:
        super().__init__("\n".join(sentences))
        self.sentences = tuple(sentences)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Section 8 of the design. A secret or a URL is never part of the ``repr``."""

    database_url: str | None = None
    migrate_url: str | None = None
    listen_url: str | None = None
    cron_secrets: tuple[str, ...] = ()
    admin_secrets: tuple[str, ...] = ()
    enqueue_secrets: tuple[str, ...] = ()
    signing_secrets: tuple[str, ...] = ()
    encryption_keys: tuple[str, ...] = ()
    public_url: str | None = None
    alert_url: str | None = None
    modules: tuple[str, ...] = ()
    around: str | None = None
    config_path: Path | None = None
    limit: int = 100
    budget_seconds: float = 25
    max_budget_seconds: float = 25
    host_limit_seconds: float | None = None
    concurrency: int = 20
    max_parallel_ticks: int = 4
    db_connections: int = 2
    keep_connection_seconds: float = 60
    allow_get: bool = False
    environment: str = "production"
    prefix: str | None = None
    paused: bool = False
    log_format: Literal["json", "text"] = "json"
    metrics: Literal["emf", "otlp"] | None = None
    traces: Literal["otlp"] | None = None

    def __repr__(self) -> str:
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in self.__rich_repr__())})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """What may be shown, for rich, which else would show all."""
        return [(name, getattr(self, name)) for name in self.__struct_fields__ if name not in _NEVER_SHOWN]

    @property
    def secrets(self) -> list[str]:
        """Every secret that the environment has, and the database's URLs, each with its password alone."""
        urls = [url for url in (self.database_url, self.migrate_url, self.listen_url) if url]
        passwords = [found for url in urls if (found := password(url))]
        keys = [key.rpartition(":")[2] for key in self.encryption_keys]
        tokens = [*self.cron_secrets, *self.admin_secrets, *self.enqueue_secrets, *self.signing_secrets]
        return [*tokens, *keys, *urls, *passwords, *([self.alert_url] if self.alert_url else [])]

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "Settings":
        """Read all of it, or raise ``SettingsError`` with everything that is wrong."""
        read = Environ(environ)
        secrets = {name: read.secrets(name, shortest) for name, shortest in SECRETS.items()}
        read.unshared(secrets)
        database_url = read.url("CRONTICK_DATABASE_URL") or read.url("DATABASE_URL")
        budget = read.number("CRONTICK_BUDGET_SECONDS", 25, 1, 900)
        settings = cls(
            database_url=database_url,
            migrate_url=read.url("CRONTICK_MIGRATE_URL") or database_url,
            listen_url=read.url("CRONTICK_LISTEN_URL") or database_url,
            cron_secrets=secrets["CRON_SECRET"],
            admin_secrets=secrets["CRONTICK_ADMIN_SECRET"],
            enqueue_secrets=secrets["CRONTICK_ENQUEUE_SECRET"],
            signing_secrets=read.signing("CRONTICK_SIGNING_SECRET"),
            encryption_keys=read.keys("CRONTICK_ENCRYPTION_KEYS"),
            public_url=read.public_url("CRONTICK_PUBLIC_URL"),
            alert_url=read.operator_url("CRONTICK_ALERT_URL"),
            modules=read.modules("CRONTICK_MODULES"),
            around=read.matching("CRONTICK_AROUND", r"[\w.]+:[\w.]+", "module:name") or None,
            config_path=read.file("CRONTICK_CONFIG", DEFAULT_CONFIG),
            limit=read.whole("CRONTICK_LIMIT", 100, 1, 1000),
            budget_seconds=budget,
            max_budget_seconds=read.number("CRONTICK_MAX_BUDGET_SECONDS", budget, 1, 900),
            host_limit_seconds=read.optional_number("CRONTICK_HOST_LIMIT_SECONDS", 2, 86_400),
            concurrency=read.whole("CRONTICK_CONCURRENCY", 20, 1, 500),
            max_parallel_ticks=read.whole("CRONTICK_MAX_PARALLEL_TICKS", 4, 1, 100),
            db_connections=read.whole("CRONTICK_DB_CONNECTIONS", 2, 0, 100),
            keep_connection_seconds=read.number("CRONTICK_KEEP_CONNECTION_SECONDS", 60, 0, 86_400),
            allow_get=read.flag("CRONTICK_ALLOW_GET"),
            environment=read.matching("CRONTICK_ENVIRONMENT", r"[a-z0-9][a-z0-9_.-]{0,63}", "a name such as staging")
            or "production",
            prefix=read.matching("CRONTICK_PREFIX", r"(/[\w.-]+)+", "a path such as /crontick") or None,
            paused=read.flag("CRONTICK_PAUSED"),
            metrics=_metrics(read.matching("CRONTICK_METRICS", "emf|otlp", "emf, otlp, or not set")),
            traces="otlp" if read.matching("CRONTICK_TRACES", "otlp", "otlp, or not set") == "otlp" else None,
            log_format="text"
            if read.matching("CRONTICK_LOG_FORMAT", "json|text", "json or text") == "text"
            else "json",
        )
        if sentences := read.sentences + _budgets(settings):
            raise SettingsError(sentences)
        return settings


def _metrics(told: str) -> Literal["emf", "otlp"] | None:
    match told:
        case "emf" | "otlp":
            return told
    return None


def _budgets(settings: Settings) -> list[str]:
    """What breaks the order of P4: budget, largest budget, host limit."""
    sentences = []
    if settings.max_budget_seconds < settings.budget_seconds:
        sentences.append("CRONTICK_MAX_BUDGET_SECONDS must not be less than CRONTICK_BUDGET_SECONDS")
    host = settings.host_limit_seconds
    if host is not None and host <= settings.max_budget_seconds:
        sentences.append(
            f"CRONTICK_HOST_LIMIT_SECONDS is {host:g}, and a tick may take {settings.max_budget_seconds:g} s:"
            " lower CRONTICK_BUDGET_SECONDS and CRONTICK_MAX_BUDGET_SECONDS, so that it ends before the host kills it"
        )
    return sentences
