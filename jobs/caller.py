"""Who called a tick, as its row in ``crontick.ticks`` remembers it."""

import msgspec


class Caller(msgspec.Struct, frozen=True):
    """The trigger's name, the first 8 hex digits of its token's SHA-256 (P11), and the host's id of the request."""

    trigger: str
    token_fingerprint: str | None = None
    host_request_id: str | None = None
