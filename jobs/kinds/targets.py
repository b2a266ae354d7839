"""What a webhook's URL has to be before the outbound filter looks at it: https (P35)."""

from urllib.parse import urlsplit

from crontick.jobs.kinds.settings import HttpSettings
from crontick.jobs.signals import Permanent

__all__ = ["check_scheme"]


def check_scheme(url: str, http: HttpSettings) -> None:
    """Raises ``Permanent`` for plain http, unless ``[http] allow`` names the host."""
    if url.lower().startswith("https://"):
        return
    try:
        parts = urlsplit(url)
        named = parts.scheme == "http" and http.names(parts.hostname or "", parts.port or 80)
    except ValueError:
        named = False
    if not named:
        raise Permanent("the URL is refused: a webhook goes over https, and http only to hosts in [http] allow")
