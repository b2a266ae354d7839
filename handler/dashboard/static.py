"""The files that pages ask for; nothing in them is secret."""

from typing import Final

from crontick.handler.dashboard.rendering import FOLDER

_TYPES: Final = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
STATIC: Final = {
    f"static/{path.name}": (path.read_bytes(), _TYPES[path.suffix[1:]]) for path in (FOLDER / "static").iterdir()
}
