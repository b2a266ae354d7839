"""The access token of the service account that Google runs this process under, from its metadata server."""

import os
import time
from typing import Final

import msgspec

from crontick.jobs.in_thread import in_thread
from crontick.jobs.tick_secrets import TickSecrets
from crontick.jobs.wake.alarm import NotArmed

__all__ = ["google_token"]

_HOST: Final = "metadata.google.internal"
_PATH: Final = "/computeMetadata/v1/instance/service-accounts/default/token"
_SECONDS: Final = 2.0
_BYTES: Final = 16384
_BEFORE_ITS_END_SECONDS: Final = 60.0


class _Token(msgspec.Struct):
    access_token: str
    expires_in: float


_KEPT: Final[dict[str, tuple[str, float]]] = {}


async def google_token(secrets: TickSecrets) -> str:
    """Kept until a minute before its end; the redactor knows it. Raises ``NotArmed``.

    ``GCE_METADATA_HOST`` names another server, as Google's own libraries have it. This is the one request to a
    metadata server, at the operator's word (``auth = "google"``): no URL of anybody's leads there.
    """
    host = os.environ.get("GCE_METADATA_HOST") or _HOST
    token, ends_at = _KEPT.get(host, ("", 0.0))
    if time.monotonic() >= ends_at:
        try:
            found = await in_thread(lambda: _fetched(host), "google token")
        except (OSError, msgspec.MsgspecError) as error:
            raise NotArmed(
                f'no token from {host} ({type(error).__name__}): auth = "google" works on Google\'s platform only'
            ) from None
        token, ends_at = found.access_token, time.monotonic() + found.expires_in - _BEFORE_ITS_END_SECONDS
        _KEPT[host] = token, ends_at
    secrets.learn(token)
    return token


def _fetched(host: str) -> _Token:
    from http.client import HTTPConnection, HTTPException

    name, _, port = host.partition(":")
    connection = HTTPConnection(name, int(port or 80), timeout=_SECONDS)
    try:
        connection.request("GET", _PATH, headers={"Metadata-Flavor": "Google"})
        with connection.getresponse() as response:
            return msgspec.json.decode(response.read(_BYTES), type=_Token)
    except HTTPException as error:
        raise OSError(type(error).__name__) from None
    finally:
        connection.close()
