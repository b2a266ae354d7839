"""What a type, or TOML itself, says against a file, in words for whoever writes the file."""

import re
from typing import Any, Final

from msgspec import inspect

from crontick.jobs.fit import suggestion
from crontick.jobs.request import NAME_PATTERN
from crontick.jobs.toml_lines import Path

__all__ = ["misfit", "unreadable"]

_WORDS: Final = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text in quotes",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "duration": "a length of time such as 45s",
}
_QUOTE: Final = "a text in quotes does not end"
_BY_TOML: Final = (
    (r"Illegal character '\\n'", f"{_QUOTE} on its line: close it, or begin and end it with three quotes"),
    (r"Unterminated string|Expected \"'\"", f"{_QUOTE}: close it"),
    (r"Expected \"'''\"", f"{_QUOTE}: close it with three"),
    (r"Cannot overwrite a value", "this name stands twice in its table: take one out"),
    (r"Invalid value", "Invalid value: a text stands in quotes, and it is true or false in small letters"),
)


def misfit(said: str, wanted: Any, path: Path, given: object) -> str:
    """``Expected `int` >= 1`` is "must be a whole number, 1 at least"; a word that is not allowed tells those that are.

    ``said`` is msgspec's message, ``path`` where in the value of the type ``wanted`` it arose, ``given`` what is there.
    """
    if said.startswith("Invalid enum value"):
        allowed = _allowed(inspect.type_info(wanted), path)
        return f"{given!r} is none of {', '.join(allowed)}{suggestion(str(given), allowed)}"
    if missing := re.fullmatch(r"Object missing required field `(.+)`", said):
        return f"{missing[1]} is missing"
    if "matching regex" in said:
        if repr(NAME_PATTERN)[1:-1] in said:
            return "is no name: lower-case letters, digits, _ . -, at most 64"
        return "is not the name of a variable, such as CRM_SECRET: the secret itself stays out of this file"
    if length := re.fullmatch(r"Expected `(str|array)` of length (>=|<=) (\d+)", said):
        of = "characters" if length[1] == "str" else "values"
        if (length[2], length[3]) == (">=", "1"):
            return "must not be empty"
        return f"must have {_bound(length[2], length[3])} {of}"
    if bounded := re.fullmatch(r"Expected `(\w+)` (>=|<=) (\S+)", said):
        return f"must be {_WORDS[bounded[1]]}, {_bound(bounded[2], bounded[3])}"
    if mixed := re.fullmatch(r"Expected `(.+)`, got `(.+)`", said):
        return f"must be {_either(mixed[1])}, not {_either(mixed[2])}"
    return said[:1].lower() + said[1:]


def unreadable(said: str) -> str:
    """``tomllib``'s sentence, without its place."""
    for pattern, sentence in _BY_TOML:
        if re.match(pattern, said):
            return sentence
    if twice := re.fullmatch(r"Cannot declare \((.+)\) twice", said):
        table = ".".join(re.findall(r"'([^']*)'", twice[1]))
        return f"[{table}] stands twice: put both into one, or write [[{table}]] for each where several are meant"
    return said


def _bound(sign: str, number: str) -> str:
    return f"{number} at {'least' if sign == '>=' else 'most'}"


def _either(types: str) -> str:
    return " or ".join(_WORDS.get(name, name) for name in types.split(" | ") if name != "null")


def _allowed(wanted: inspect.Type, path: Path) -> list[str]:
    """The words that the type at that path takes."""
    match wanted:
        case inspect.Metadata():
            return _allowed(wanted.type, path)
        case inspect.UnionType():
            return [word for arm in wanted.types for word in _allowed(arm, path)]
        case inspect.LiteralType():
            return [str(value) for value in wanted.values]
        case inspect.ListType() | inspect.VarTupleType():
            return _allowed(wanted.item_type, path[1:])
    return []
