"""Completion of commands and options in a shell, as a script that is generated from them."""

from collections.abc import Iterator
from enum import StrEnum
from shlex import quote
from typing import Annotated, Any, Final

import typer

from crontick.handler.cli.options import Json
from crontick.handler.cli.screen import clean, say_json
from crontick.handler.cli.tree import Leaf, leaves


class Shell(StrEnum):
    """Shells that a script is made for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


_BASH: Final = """\
{zsh}_crontick() {{
    local at="" words="" nth
    for ((nth = 1; nth < COMP_CWORD; nth++)); do
        case "$at ${{COMP_WORDS[nth]}}" in
            {paths}) at="$at ${{COMP_WORDS[nth]}}" ;;
        esac
    done
    case "$at" in
{cases}
    esac
    COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _crontick crontick
"""
_ZSH: Final = "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n"
_FISH: Final = """\
function __crontick_at
    set -l at
    for word in (commandline -opc)[2..-1]
        if contains -- (string join ' ' -- $at $word) {paths}
            set at $at $word
        end
    end
    test "$at" = "$argv[1]"
end
complete -c crontick -f
{lines}
"""


def completion(context: typer.Context, shell: Annotated[Shell, typer.Argument()], json: Json = False) -> None:
    """Print the script that completes commands and options there: `eval "$(crontick completion bash)"`."""
    made = script(shell, list(leaves(context.find_root().command)))
    if json:
        say_json({"shell": shell.value, "script": made})
    else:
        typer.echo(made, nl=False)


def script(shell: Shell, tree: list[Leaf]) -> str:
    """A whole script: no Python starts at a key, which would take a third of a second each time."""
    if shell is Shell.FISH:
        paths = " ".join(quote(" ".join(leaf.path)) for leaf in tree if leaf.path)
        return _FISH.format(paths=paths, lines="\n".join(_fish(tree)))
    paths = " | ".join(f'" {" ".join(leaf.path)}"' for leaf in tree if leaf.path)
    cases = "\n".join(_case(leaf) for leaf in tree)
    return _BASH.format(zsh=_ZSH if shell is Shell.ZSH else "", paths=paths, cases=cases)


def _case(leaf: Leaf) -> str:
    at = "".join(f" {word}" for word in leaf.path)
    return f'        "{at}") words="{" ".join((*leaf.below, *leaf.options))}" ;;'


def _fish(tree: list[Leaf]) -> Iterator[str]:
    told: dict[Any, str] = {leaf.path: leaf.help for leaf in tree}
    for leaf in tree:
        at = quote(f"__crontick_at {quote(' '.join(leaf.path))}")
        for word in (*leaf.below, *leaf.options):
            about = clean(told.get((*leaf.path, word), ""))
            yield f"complete -c crontick -n {at} -a {quote(word)} -d {quote(about)}"
