"""Everything that can be found wrong before a tick comes."""

import asyncio
import os
import re
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Annotated, Final

import typer

from crontick.handler.cli.check_collector import uncollected
from crontick.handler.cli.check_endpoints import refused
from crontick.handler.cli.check_fan_out import unasked
from crontick.handler.cli.check_limits import idle_limits
from crontick.handler.cli.check_mail import unsendable
from crontick.handler.cli.check_needs import oversized
from crontick.handler.cli.check_payloads import misnamed
from crontick.handler.cli.check_telling import untold
from crontick.handler.cli.check_wake import unwoken
from crontick.handler.cli.database import naming
from crontick.handler.cli.findings import Finding, tell
from crontick.handler.cli.kinds import COLUMNS, rows
from crontick.handler.cli.options import Json
from crontick.handler.cli.screen import complain, table
from crontick.jobs.config import load_config
from crontick.jobs.config_error import ConfigError
from crontick.jobs.deployment import Deployment, DeploymentError, load_deployment
from crontick.jobs.environ import Environ
from crontick.jobs.fit import suggestion
from crontick.jobs.kinds.signature import SecretError, signing_key
from crontick.jobs.prepared import unprepared
from crontick.jobs.ready import check_ready
from crontick.jobs.sealing import KEYS, MAKE_ONE
from crontick.jobs.secrets import read_secret, tokens
from crontick.jobs.settings import DEFAULT_CONFIG, VARIABLES, Settings, SettingsError
from crontick.jobs.unavailable import Unavailable
from crontick.sql.extras import install

# What Kubernetes puts into the environment of every container beside a service called crontick.
_NOT_OURS: Final = re.compile(r"CRONTICK_(SERVICE|PORT)(_|$)")


def check(
    offline: Annotated[bool, typer.Option("--offline", help="Do not ask the database.")] = False,
    kinds: Annotated[bool, typer.Option("--kinds", help="Show every kind with its numbers, instead.")] = False,
    json: Json = False,
) -> None:
    """Check settings, configuration, kinds and database; exit 1 when something is wrong."""
    if kinds:
        _show_kinds(as_json=json)
        return
    tell(list(_findings(os.environ, offline=offline)), as_json=json)


def _show_kinds(*, as_json: bool) -> None:
    """No secret and no database is needed for it; a fault of modules or configuration is told, exit 1."""
    try:
        deployment = load_deployment(Settings.from_environ(os.environ))
    except (SettingsError, ConfigError, DeploymentError) as error:
        for sentence in str(error).splitlines():
            complain(sentence)
        raise typer.Exit(1) from None
    table(list(rows(deployment)), COLUMNS, as_json=as_json, nothing="no kinds")


def _findings(environ: Mapping[str, str], *, offline: bool) -> Iterator[Finding]:
    yield from (Finding(wrong=False, sentence=sentence) for sentence in _strangers(environ))
    try:
        settings = Settings.from_environ(environ)
        deployment = load_deployment(settings)
    except (SettingsError, ConfigError, DeploymentError) as error:
        yield from (Finding(wrong=True, sentence=sentence) for sentence in str(error).splitlines())
        if isinstance(error, SettingsError):
            yield from _file(environ)
        return
    yield from untold(deployment.config, environ)
    yield from unasked(settings, deployment.config, environ)
    yield from uncollected(settings, environ)
    yield from unwoken(settings, deployment.config.wake, environ)
    yield from _serving(settings)
    yield from _offering(settings, deployment)
    yield from _secrets(deployment, environ)
    yield from _secret_fields(deployment)
    yield from _outbound(deployment)
    yield from (Finding(wrong=True, sentence=sentence) for sentence in unsendable(deployment.config.email, environ))
    yield from (Finding(wrong=False, sentence=sentence) for sentence in idle_limits(deployment))
    yield from (Finding(wrong=True, sentence=sentence) for sentence in oversized(deployment))
    url = None if offline else settings.database_url
    if url is not None:
        try:
            with naming(url):
                asyncio.run(check_ready(deployment))
        except Unavailable as unavailable:
            yield Finding(wrong=True, sentence=unavailable.reason)
            url = None
    yield from (Finding(wrong=True, sentence=sentence) for sentence in misnamed(deployment, url))
    yield from (Finding(wrong=True, sentence=sentence) for sentence in refused(deployment, url))
    if url is not None:
        yield from _statements(url, deployment)


def _file(environ: Mapping[str, str]) -> Iterator[Finding]:
    """What the file gets wrong, where the environment keeps the deployment from being loaded."""
    try:
        load_config(Environ(environ).file("CRONTICK_CONFIG", DEFAULT_CONFIG))
    except ConfigError as error:
        yield from (Finding(wrong=True, sentence=sentence) for sentence in error.sentences)


def _strangers(environ: Mapping[str, str]) -> Iterator[str]:
    known = {variable.name for variable in VARIABLES} | {"CRONTICK_TEST_DATABASE_URL"}  # crontick_database's
    for name in environ:
        ours = name.startswith("CRONTICK_") and not _NOT_OURS.match(name)
        if ours and name.removesuffix("_FROM") not in known:
            yield f"{name} is no setting of crontick{suggestion(name, known)}"


def _serving(settings: Settings) -> Iterator[Finding]:
    if settings.database_url is None:
        yield Finding(wrong=True, sentence="CRONTICK_DATABASE_URL is not set, nor DATABASE_URL")
    if not settings.cron_secrets:
        yield Finding(wrong=True, sentence="CRON_SECRET is not set: make one with `openssl rand -hex 32`")
    if not settings.modules:
        yield Finding(wrong=False, sentence="CRONTICK_MODULES is not set: only the kinds that ship are known")
    if settings.paused:
        yield Finding(wrong=False, sentence="CRONTICK_PAUSED is set: no tick of this deployment runs a job")


def _offering(settings: Settings, deployment: Deployment) -> Iterator[Finding]:
    kinds = deployment.config.api.kinds
    if kinds and not settings.enqueue_secrets:
        yield Finding(
            wrong=False,
            sentence=f"[api] kinds offers {', '.join(kinds)}, and CRONTICK_ENQUEUE_SECRET is not set, without which"
            " POST /api/jobs is not there: make one with `openssl rand -hex 32`",
        )


def _secrets(deployment: Deployment, environ: Mapping[str, str]) -> Iterator[Finding]:
    """The variables that ``crontick.toml`` names: without them every attempt fails."""
    config = deployment.config
    named = [("[email]", config.email.secret_name)] if config.email is not None else []
    named += [(f"webhook_endpoint {e.name}", name) for e in config.webhook_endpoint for name in e.secret_names]
    at_urls = [name for name, said in config.kinds.items() if said.url is not None]
    named += [(f"[kinds.{name}]", "CRONTICK_SIGNING_SECRET") for name in at_urls[:1]]
    for where, name in named:
        try:
            value = read_secret(environ, name)
        except ValueError as error:
            yield Finding(wrong=True, sentence=f"{error}; {where} of crontick.toml needs it")
            continue
        if value is None:
            yield Finding(wrong=True, sentence=f"{name} is not set, and {where} of crontick.toml needs it")
        elif where.startswith("webhook_endpoint"):
            yield from _signing(name, value)


def _signing(name: str, value: str) -> Iterator[Finding]:
    for one in tokens(value):
        try:
            signing_key(one)
        except SecretError as error:
            yield Finding(wrong=True, sentence=f"a secret in {name} {error}")


def _outbound(deployment: Deployment) -> Iterator[Finding]:
    """Private targets are allowed on purpose, and are to be seen."""
    allow = deployment.config.http.allow
    if allow:
        yield Finding(
            wrong=False, sentence=f"URLs that came with data may reach private hosts: {', '.join(allow)} ([http] allow)"
        )


def _secret_fields(deployment: Deployment) -> Iterator[Finding]:
    """What would lie in clear, or could not be opened."""
    secret = [kind for kind in deployment.kinds.values() if kind.secret]
    if deployment.keyring is None:
        for kind in secret:
            fields = ", ".join(sorted(kind.secret))
            yield Finding(
                wrong=True, sentence=f"{kind.name} has secret fields ({fields}), and {KEYS} is not set: {MAKE_ONE}"
            )
    elif find_spec("cryptography") is None:
        yield Finding(wrong=True, sentence=f"{KEYS} is set, and cryptography is not here: {install('encryption')}")


def _statements(url: str, deployment: Deployment) -> Iterator[Finding]:
    """Each ``[[sql_job]]`` and ``[[report]]`` as the database reads it, and whether its time fits into an attempt."""
    jobs, cut = deployment.config.sql_job, deployment.kinds["run_sql"].timeout_seconds
    for job in jobs:
        if job.timeout is not None and job.timeout.total_seconds() > cut:
            yield Finding(
                wrong=True,
                sentence=f"sql_job {job.name} may take {job.timeout.total_seconds():g} s, and run_sql is cut after"
                f" {cut:g} s: raise timeout in [kinds.run_sql]",
            )
    if jobs or deployment.config.report:
        yield from (Finding(wrong=True, sentence=sentence) for sentence in unprepared(url, deployment))
