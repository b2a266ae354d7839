"""What a job knows of the slot that it was enqueued for."""

from datetime import datetime

import msgspec

__all__ = ["Scheduled", "slot_of"]


class Scheduled(msgspec.Struct, frozen=True, kw_only=True):
    """The schedule and slot of a job: ``ctx.schedule``. ``slot_at`` is None for one that a person ran, ``by`` who did.

    ``missed`` counts the slots before this one that no tick came for and that fire no more; ``late_seconds`` is from
    when it was due until it was enqueued.
    """

    name: str
    slot_at: datetime | None = None
    local: str | None = None
    missed: int = 0
    late_seconds: float = 0.0
    by: str | None = None


def slot_of(payload_text: str) -> tuple[str, Scheduled | None]:
    """The payload without ``$schedule``, and what that said; as it was where it holds something else of that name."""
    try:
        fields = msgspec.json.decode(payload_text, type=dict[str, msgspec.Raw])
        told = fields.pop("$schedule", None)
        if told is None:
            return payload_text, None
        return msgspec.json.encode(fields).decode(), msgspec.json.decode(told, type=Scheduled)
    except (msgspec.MsgspecError, RecursionError):
        return payload_text, None
