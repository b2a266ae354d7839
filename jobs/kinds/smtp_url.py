"""The URL of a mail server, and what it says of encryption and login."""

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

__all__ = ["MailServer", "SmtpUrlError", "mail_server"]

_PORTS: Final = {"smtp": 25, "smtps": 465}
_STARTTLS: Final = {"required": True, "optional": None, "never": False}


class SmtpUrlError(ValueError):
    """The URL of the mail server cannot be used; the message does not quote it."""


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mail is handed in."""

    host: str
    port: int
    tls: bool
    starttls: bool | None
    user: str | None = field(repr=False)
    password: str | None = field(repr=False)


def mail_server(url: str) -> MailServer:
    """What ``smtp://user:password@host:587`` or ``smtps://…:465`` says, the login URL-encoded. Raises ``SmtpUrlError``.

    ``?starttls=required``, ``optional`` or ``never``: with a password it is required unless this says otherwise, so
    that whoever sits in between cannot have it by cutting out the offer.
    """
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname
    except ValueError:
        raise SmtpUrlError("cannot be read as a URL: write smtp://user:password@host:587") from None
    if parts.scheme not in _PORTS or not host:
        raise SmtpUrlError("is no mail server's URL: write smtp://user:password@host:587 or smtps://…")
    password = None if parts.password is None else unquote(parts.password)
    [said] = parse_qs(parts.query).get("starttls", ["required" if password else "optional"])
    if said not in _STARTTLS:
        raise SmtpUrlError("has a starttls that is not required, optional or never")
    tls = parts.scheme == "smtps"
    return MailServer(
        host=host,
        port=port or (587 if password and not tls else _PORTS[parts.scheme]),
        tls=tls,
        starttls=False if tls else _STARTTLS[said],
        user=None if parts.username is None else unquote(parts.username),
        password=password,
    )
