"""Who called a tick, as its row in ``crontick.ticks`` remembers it."""

from typing import Final

import msgspec

FAN_OUT: Final = "fan-out"
"""The trigger of a tick that another one asked for."""
WAKE: Final = "wake"
"""Of one that an alarm called, which an earlier one had set."""
WATCH: Final = "watch"
"""Of those of `crontick watch`, which sees by itself what is due."""


class Caller(msgspec.Struct, frozen=True):
    """The trigger's name, the first 8 hex digits of its token's SHA-256 (P11), and the host's id of the request."""

    trigger: str
    token_fingerprint: str | None = None
    host_request_id: str | None = None
