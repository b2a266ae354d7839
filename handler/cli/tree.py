"""All commands as a tree: what stands below each name, and which options it takes."""

from collections.abc import Iterator
from dataclasses import dataclass

from typer.core import TyperGroup


@dataclass(frozen=True, slots=True)
class Leaf:
    """A name that can be typed, with what may follow it; ``below`` is empty for a command that runs."""

    path: tuple[str, ...]
    help: str
    below: tuple[str, ...]
    options: tuple[str, ...]


def leaves(root: object) -> Iterator[Leaf]:
    """Every group and command below a typer's command, the root first, in the order in which help shows them."""
    yield from _below(root, ())


def _below(found: object, path: tuple[str, ...]) -> Iterator[Leaf]:
    below = found.commands if isinstance(found, TyperGroup) else {}
    options = [name for parameter in getattr(found, "params", ()) for name in parameter.opts if name.startswith("-")]
    told = (getattr(found, "help", None) or "").partition("\n")[0]
    yield Leaf(path, told, tuple(below), (*options, "--help"))
    for name, command in below.items():
        yield from _below(command, (*path, name))
