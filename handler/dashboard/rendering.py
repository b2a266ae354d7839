"""Pages made of templates, in which every value is text: escaped, and without what hides or turns characters."""

import json
import unicodedata
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from crontick.handler.lengths import lasting, took

if TYPE_CHECKING:
    import jinja2

__all__ = ["FOLDER", "readable", "render"]

FOLDER: Final = Path(__file__).parent
_HIDING: Final = frozenset({"Cc", "Cf", "Cs"})
_INDENT: Final = 2


def render(template: str, values: dict[str, Any]) -> bytes:
    """The page in UTF-8."""
    return _environment().get_template(template).render(values).encode("utf-8", "replace")


def readable(text: str) -> str:
    """A JSON text with its lines indented; its values stay as they are written."""
    try:
        shown = msgspec.json.format(text, indent=_INDENT)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return text
    return "".join(json.dumps(one)[1:-1] if one != "\n" and _hides(one) else one for one in shown)


@cache
def _environment() -> "jinja2.Environment":
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    made.filters.update(
        lasting=lasting,
        took=took,
        utc=_utc,
        iso=_iso,
        near=_near,
        json=lambda raw: readable(bytes(raw).decode()),
        many=_many,
    )
    made.globals["stamp"] = _stamp()
    return made


def _stamp() -> str:
    """Another one when a static file changes, so that browsers may keep them."""
    files = sorted((FOLDER / "static").iterdir())
    return sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]


def _shown(value: Any) -> Any:
    """Nothing for None, and of a text what can be seen; markup that a template made stays."""
    if value is None:
        return ""
    if type(value) is str:
        return "".join(one for one in value if one in "\n\t" or not _hides(one))
    return value


def _hides(one: str) -> bool:
    return unicodedata.category(one) in _HIDING


def _utc(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _near(at: datetime, now: datetime) -> str:
    """How long ago that was, or how far off it is."""
    return f"{lasting(now - at)} ago" if at <= now else f"in {lasting(at - now)}"


def _many(count: int, one: str, more: str = "") -> str:
    """The count with its noun."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"
