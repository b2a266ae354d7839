"""Alarms of a service that is asked over HTTP: Cloud Tasks, QStash, or one of the operator's own."""

from typing import Final
from urllib.parse import urlsplit

from crontick.jobs.kinds.settings import HttpSettings
from crontick.jobs.outbound import NotConnected, Refused, Unanswered, client, send
from crontick.jobs.outward_sections import WAKE_BODY_BYTES, WakeSettings
from crontick.jobs.secrets import tokens
from crontick.jobs.tick_secrets import TickSecrets
from crontick.jobs.wake.alarm import Alarm, NotArmed
from crontick.jobs.wake.template import FILLED, filled

__all__ = ["arm"]

_EXISTS: Final = 409
"""As Cloud Tasks answers for a name that it has, or had a while ago."""


async def arm(wake: WakeSettings, alarm: Alarm, secrets: TickSecrets, *, seconds: float) -> None:
    """POST what asks for the alarm. Raises ``NotArmed``."""
    assert wake.url is not None
    values = {name: tokens(secrets.read(variable))[0] for name, variable in wake.secrets_env.items()}
    whenever = values | dict.fromkeys(FILLED, "")
    call = (wake.url, *(filled(text, whenever) for text in (wake.body, *wake.headers.values())))
    values |= {"name": alarm.name(*call), "wake_at": alarm.rfc3339, "wake_at_seconds": f"{alarm.at.timestamp():.0f}"}
    headers = {"content-type": "application/json"}
    headers |= {name.lower(): filled(value, values) for name, value in wake.headers.items()}
    if wake.auth == "google":
        # Imported here: only Google's platform has that token.
        from crontick.jobs.wake.google_token import google_token

        headers["authorization"] = f"Bearer {await google_token(secrets)}"
    in_json = headers["content-type"].partition(";")[0].strip() == "application/json"
    content = filled(wake.body, values, in_json=in_json).encode()
    if len(content) > WAKE_BODY_BYTES:
        raise NotArmed(f"body of [wake] is longer than {WAKE_BODY_BYTES} bytes once it is filled in")
    door = client(HttpSettings(), operator=True)
    try:
        answer = await send(door, wake.url, content=content, headers=headers, seconds=seconds)
    except (NotConnected, Refused, Unanswered) as error:
        raise NotArmed(str(error)) from None
    finally:
        await door.aclose()
    if not (200 <= answer.status < 300 or answer.status == _EXISTS):
        raise NotArmed(f"{answer.status} from {urlsplit(wake.url).hostname}")
