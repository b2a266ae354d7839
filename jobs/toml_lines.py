"""The line of each table and key in a TOML file, which ``tomllib`` does not tell."""

import re
from collections.abc import Iterator
from typing import Final

Path = tuple[str | int, ...]

# A newline inside a string or between brackets does not end a statement.
_PIECE: Final = r'(?s)"""(?:\\.|[^\\])*?"""+|\'\'\'.*?\'\'\'+|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|\#[^\n]*|[\[{]|[\]}]|\n'
_KEY: Final = r'\s*(?:"((?:\\.|[^"\\])*)"|\'([^\']*)\'|([A-Za-z0-9_-]+))\s*(\.?)'


def lines(text: str) -> dict[Path, int]:
    """Line numbers from 1 by path, such as ``("reminder", 0, "lead")``, of a text that ``tomllib`` could read."""
    found: dict[Path, int] = {(): 1}
    table: Path = ()
    lengths: dict[Path, int] = {}
    for line, statement in _statements(text):
        if statement.startswith("[["):
            parent = _within(_keys(statement[2:]), lengths)
            table = (*parent, lengths.get(parent, 0))
            lengths[parent] = lengths.get(parent, 0) + 1
            found[table] = line
            found.setdefault(parent, line)
        elif statement.startswith("["):
            table = _within(_keys(statement[1:]), lengths)
            found[table] = line
        else:
            found[(*table, *_keys(statement))] = line
    return found


def line_of(path: Path, found: dict[Path, int]) -> int:
    """The line of the path, or of the nearest thing around it that has one."""
    while path not in found:
        path = path[:-1]
    return found[path]


def _statements(text: str) -> Iterator[tuple[int, str]]:
    start = depth = 0
    for token in re.finditer(_PIECE, text + "\n"):
        if token[0] == "\n" and depth == 0:
            statement = text[start : token.start()].strip()
            if statement and not statement.startswith("#"):
                yield text.count("\n", 0, start) + 1, statement
            start = token.end()
        depth += (token[0] in "[{") - (token[0] in "]}")


def _keys(statement: str) -> list[str]:
    keys, at = [], 0
    while key := re.compile(_KEY).match(statement, at):
        keys.append(key[1] or key[2] or key[3] or "")
        at = key.end()
        if not key[4]:
            break
    return keys


def _within(keys: list[str], lengths: dict[Path, int]) -> Path:
    """The path of a header: below an array of tables, its latest element is meant."""
    path: Path = ()
    for nth, key in enumerate(keys):
        path = (*path, key)
        if nth < len(keys) - 1 and path in lengths:
            path = (*path, lengths[path] - 1)
    return path
