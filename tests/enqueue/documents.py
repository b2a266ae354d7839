"""The pieces of docs/frameworks.md, and projects that are made of nothing else."""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

DOCUMENT = (Path(__file__).parents[2] / "docs" / "frameworks.md").read_text()
_PIECE = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
_NAMED = re.compile(r"(?:#|//) ([\w/]+\.\w+)\b")


def pieces(*languages: str, section: str | None = None) -> list[str]:
    """What stands in fences of these languages, in the whole document or under one heading."""
    text = DOCUMENT if section is None else DOCUMENT.split(f"# {section}\n", 1)[1].split("\n## ", 1)[0]
    return [textwrap.dedent(piece) for _, language, piece in _PIECE.findall(text) if language in languages]


def write(folder: Path, section: str) -> None:
    """Each piece of that section into the file that its first line names."""
    for name, piece in _files(section):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(piece)


def _files(section: str) -> Iterator[tuple[str, str]]:
    for piece in pieces("python", "js", section=section):
        named = _NAMED.match(piece)
        assert named is not None, f"a piece under {section} names no file: {piece[:80]}"
        yield named[1], piece
