"""URLs that the operator writes into ``crontick.toml``: they may be private, and plain http must be (P35)."""

import re
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from crontick.jobs.networks import is_private, is_public

__all__ = ["check_url"]

_FORBIDDEN: Final = re.compile(r"[\\\s\x00-\x1f\x7f]")


def check_url(url: str) -> None:
    """Raises ``ValueError`` for what no request will go to; a name's addresses are judged when it is connected to."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts = urlsplit("")
        host = None
    if _FORBIDDEN.search(url) or not host or parts.scheme not in ("http", "https"):
        raise ValueError("url must be a whole one, such as https://app.example/jobs/resize")
    if parts.username is not None or parts.password is not None:
        raise ValueError("url holds a user or password: requests are signed, and no secret stands in this file")
    try:
        ip_address(host)
    except ValueError:
        return
    if is_public(host):
        if parts.scheme == "http":
            raise ValueError("url goes to a public address in plain http: write https://")
    elif not is_private(host):
        raise ValueError("url goes to an address that is neither public nor private; a cloud's metadata is never asked")
