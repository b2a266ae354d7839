"""The tables of ``crontick.toml`` that belong to kinds that ship."""

import re
from datetime import timedelta
from ipaddress import ip_address
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from crontick.jobs.request import Name

Text = Annotated[str, Meta(min_length=1)]
VariableName = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\Z")]


class EmailSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename={"sender": "from"}):
    """``[email]``: how mail leaves, and from whom."""

    provider: Literal["smtp", "resend"] = "smtp"
    url_env: VariableName | None = None
    api_key_env: VariableName | None = None
    base_url: Text = "https://api.resend.com"
    sender: Text | tuple[Text, ...]
    templates: str | None = None
    attachments: str | None = None
    headers: tuple[Text, ...] = ()
    connections: Annotated[int, Meta(ge=1, le=100)] = 20
    in_doubt: Literal["park", "resend", "skip"] = "park"

    def __post_init__(self) -> None:
        # Imported here: a tick whose deployment has no [email] does not pay for it.
        from crontick.jobs.kinds.addresses import AddressError, parse

        if self.provider == "smtp" and self.url_env is None:
            raise ValueError("url_env is missing: it names the variable with the mail server's URL")
        if self.provider == "resend" and self.api_key_env is None:
            raise ValueError("api_key_env is missing: it names the variable with Resend's API key")
        if not (self.base_url.startswith("https://") or _private(self.base_url)):
            raise ValueError("base_url begins with https://, for the API key goes there; http:// only to private hosts")
        if not all(map(is_extra_header, self.headers)):
            raise ValueError("headers are names that begin with X-, such as X-PM-Message-Stream")
        if not self.senders:
            raise ValueError("from names nobody: write one address or a list of them")
        for sender in self.senders:
            try:
                parse(sender)
            except AddressError as error:
                raise ValueError(f"from {error}") from None

    @property
    def secret_name(self) -> str:
        """The variable with the secret by which mail leaves."""
        return (self.api_key_env if self.provider == "resend" else self.url_env) or ""

    @property
    def window_seconds(self) -> float:
        """How long the provider knows an idempotency key."""
        return 86400.0 if self.provider == "resend" else 0.0

    @property
    def senders(self) -> tuple[str, ...]:
        """Whom mail may be from; the first unless a payload says otherwise."""
        return (self.sender,) if isinstance(self.sender, str) else self.sender


def is_extra_header(name: str) -> bool:
    """Whether only its provider reads a header of that name; all others that are allowed are known by name."""
    return re.fullmatch(r"X-[A-Za-z0-9-]{1,60}", name) is not None


def _private(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        return parts.scheme == "http" and (host == "localhost" or ip_address(host).is_private)
    except ValueError:
        return False


class WebhookEndpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``[[webhook_endpoint]]``: a receiver by name, and the variable that has its signing secret."""

    name: Annotated[str, Meta(min_length=1, max_length=128)]
    url: Text
    secret_env: VariableName | tuple[VariableName, ...]

    @property
    def secret_names(self) -> tuple[str, ...]:
        """The variables with its secrets; several while they rotate."""
        return (self.secret_env,) if isinstance(self.secret_env, str) else self.secret_env


class HttpSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``[http]``: private targets that requests may reach though their URL came with data (P35)."""

    allow: tuple[Text, ...] = ()

    def names(self, host: str, port: int) -> bool:
        """Whether ``allow`` has this host, or this host and port."""
        name = host.lower().rstrip(".")
        return any(said.lower().rstrip(".") in (name, f"{name}:{port}") for said in self.allow)


ParameterType = Literal["text", "integer", "number", "boolean", "date", "timestamp", "interval", "uuid", "json"]
STARTED_AT: Final = "started_at"
"""The parameter that every report has: when its run began, the same in all its parts."""


class ReportSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``[[report]]``: a query whose rows become a file, in the order of its column ``key``."""

    name: Name
    query: Text
    key: Text
    parameters: dict[str, ParameterType] = {}
    chunk_rows: Annotated[int, Meta(ge=1, le=100_000)] = 10_000
    format: Literal["csv", "jsonl"] = "csv"
    expires: timedelta = timedelta(minutes=30)

    def __post_init__(self) -> None:
        from crontick.jobs.kinds.parameters import placeholders

        if self.expires < timedelta(minutes=1):
            raise ValueError("expires is a minute at least: a tick must come meanwhile")
        if STARTED_AT in self.parameters:
            raise ValueError(f"{STARTED_AT} is when the run began, in every report: name the parameter otherwise")
        named = placeholders(self.query) - {STARTED_AT}
        for name in sorted(named - self.parameters.keys()):
            raise ValueError(f"query has :{name}, and parameters has no {name}")
        for name in sorted(self.parameters.keys() - named):
            raise ValueError(f"parameters has {name}, and query has no :{name}")
