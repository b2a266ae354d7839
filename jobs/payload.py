"""A payload's way from a typed object to JSON and back, checked both ways."""

import json
import re
from collections.abc import Callable
from typing import Any, Final, get_type_hints

import msgspec

__all__ = ["PAYLOAD_BYTES", "PayloadError", "PayloadType", "encode_json", "payload_type", "stored_bytes"]

PAYLOAD_BYTES: Final = 65536
_DEEPEST: Final = 500
_STRING: Final = r'"(?:[^"\\]|\\.)*"'
_BRACKET: Final = r"[\[\]{}]"
_WRITTEN_OUT: Final = r"-0\.0\b|-?[0-9.]+e[+-]?[0-9]+"
"""What jsonb writes otherwise than Python: it has neither exponents nor a negative zero."""
_NUL: Final = r"(?<!\\)(?:\\\\)*\\u0000"


class PayloadError(ValueError):
    """A payload that does not fit its kind, or that PostgreSQL cannot store."""


class PayloadType:
    """The type of a kind's payload.

    A dataclass, TypedDict, msgspec Struct or attrs class, a class with ``model_validate`` and ``model_dump``
    (Pydantic's, which is never imported here), or any of these in another.
    """

    __slots__ = ("_decoder", "annotation")

    def __init__(self, annotation: Any) -> None:
        self.annotation = annotation
        self._decoder = msgspec.json.Decoder(annotation, dec_hook=_validated)

    def decode(self, text: str) -> Any:
        """The typed payload. Raises ``PayloadError`` when it does not fit; whatever the text holds, nothing else."""
        try:
            return self._decoder.decode(text)
        except RecursionError:
            raise PayloadError("the payload is nested too deeply to be read") from None
        except (msgspec.MsgspecError, ValueError, TypeError, OverflowError) as error:
            raise PayloadError(f"the payload does not fit: {error}") from None

    def encode(self, payload: object) -> str:
        """JSON that fits the type and that jsonb can store. Raises ``PayloadError``."""
        text = encode_json(payload)
        if (size := stored_bytes(text)) > PAYLOAD_BYTES:
            raise PayloadError(
                f"the payload has {size} bytes, {PAYLOAD_BYTES} are allowed: store the data and put a reference in"
            )
        self.decode(text)
        return text


def encode_json(value: object) -> str:
    """Strict JSON in ASCII: no NaN, no NUL, no lone surrogate. Raises ``PayloadError``."""
    try:
        text = json.dumps(msgspec.to_builtins(value, enc_hook=_dumped), allow_nan=False, separators=(",", ":"))
    except RecursionError:
        raise PayloadError("it is nested too deeply to be stored as JSON") from None
    except (ValueError, TypeError, msgspec.MsgspecError, OverflowError) as error:
        raise PayloadError(f"it cannot be stored as JSON: {error}") from None
    if text.count("[") + text.count("{") > _DEEPEST and _depth(text) > _DEEPEST:
        raise PayloadError(f"it is nested more than {_DEEPEST} levels deep: few readers of JSON take that")
    if "\\ud" in text:
        _refuse_lone_surrogates(text)
    if "\\u0000" in text and re.search(_NUL, text):
        raise PayloadError("it holds a NUL character, which PostgreSQL cannot store: take it out")
    return text


def stored_bytes(text: str) -> int:
    """The bytes of jsonb's own text of what ``encode_json`` made: what a limit is compared with, here and in SQL.

    Of a short text only an upper bound that is within every limit, which costs nothing.
    """
    if len(text) <= PAYLOAD_BYTES // 2 and not re.search(_WRITTEN_OUT, text):
        return len(text) * 2
    spaced = json.dumps(json.loads(text), ensure_ascii=False)
    return len(spaced.encode()) + sum(
        len(_written_out(number)) - len(number) for number in re.findall(_WRITTEN_OUT, re.sub(_STRING, "", text))
    )


def _written_out(number: str) -> str:
    from decimal import Decimal

    return format(Decimal(number) + 0, "f")


def _validated(annotation: Any, value: object) -> Any:
    """What msgspec does not know itself, made by the type's own rules."""
    if hasattr(annotation, "model_validate"):
        return annotation.model_validate(value)
    raise TypeError(f"nothing is known of {annotation} in a payload: use a dataclass, or another type that is checked")


def _dumped(value: Any) -> Any:
    """JSON that ``model_validate`` takes back: by alias, without what is computed."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, round_trip=True, warnings=False)
    raise TypeError(f"{type(value).__module__}.{type(value).__qualname__} has no form in JSON")


def _depth(text: str) -> int:
    """How deep arrays and objects stand in each other; Python's own bound differs from version to version."""
    depth = deepest = 0
    for bracket in re.findall(_BRACKET, re.sub(_STRING, "", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _refuse_lone_surrogates(text: str) -> None:
    try:
        json.dumps(json.loads(text), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise PayloadError("it holds half of a surrogate pair, which no encoding can store: take it out") from None


def payload_type(function: Callable[..., Any]) -> PayloadType:
    """The type that the function's first parameter is annotated with; any JSON when it is not."""
    code_names = function.__code__.co_varnames[: function.__code__.co_argcount]
    if not code_names:
        raise TypeError(f"{function.__qualname__} takes no payload: its signature is (payload) or (payload, ctx)")
    return PayloadType(get_type_hints(function).get(code_names[0], Any))
