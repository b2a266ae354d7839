"""What a function returned, as its job keeps it."""

from collections.abc import Callable

from crontick.jobs.payload import PAYLOAD_BYTES, PayloadError, encode_json, stored_bytes

__all__ = ["stored"]


def stored(result: object, hides: Callable[[str], str] | None) -> str:
    """JSON, without what ``hides`` takes out. Raises ``PayloadError`` for what is too long, or cannot be stored."""
    try:
        text = encode_json(result)
    except PayloadError as error:
        raise PayloadError(f"the result is refused: {error}") from None
    if hides is not None:
        from crontick.jobs.hiding import hidden

        text = hidden(text, hides)
    if (size := stored_bytes(text)) > PAYLOAD_BYTES:
        raise PayloadError(f"the result has {size} bytes, {PAYLOAD_BYTES} are allowed: store it and return a reference")
    return text
