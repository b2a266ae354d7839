"""What all commands have in common, and what a shell completes of them."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from crontick.handler.cli.app import app
from crontick.handler.cli.tree import leaves
from tests.cli.conftest import Command

TREE = list(leaves(typer.main.get_command(app)))
TELLS_A_STORY = ("demo",)


def test_every_command_but_the_demo_answers_in_json() -> None:
    without = [leaf.path for leaf in TREE if not leaf.below and "--json" not in leaf.options]
    assert without == [TELLS_A_STORY]


def test_every_command_has_a_sentence() -> None:
    assert [leaf.path for leaf in TREE if leaf.path and not leaf.help] == []


@pytest.fixture
def completed(bare: Command, tmp_path: Path) -> Callable[..., list[str]]:
    """What bash offers for the last of the words."""
    script = tmp_path / "completion.bash"
    script.write_text(bare("completion", "bash").out)

    def offered(*words: str) -> list[str]:
        line = " ".join(f"'{word}'" for word in ("crontick", *words))
        asked = (
            f'. "{script}"; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _crontick; printf "%s\\n" "${{COMPREPLY[@]}}"'
        )
        run = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
        return run.stdout.split()

    return offered


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("doc",), ["doctor"]),
        (("dead", "re"), ["requeue"]),
        (("dead", "requeue", "--fing"), ["--fingerprint"]),
        (("dead", "requeue", "12", "--y"), ["--yes"]),
        (("webhook", "list", "--ur"), ["--urls"]),
        (("no-such", "li"), ["limits"]),
    ],
)
def test_bash_completes_commands_and_options(
    completed: Callable[..., list[str]], words: tuple[str, ...], offered: list[str]
) -> None:
    assert completed(*words) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_names_every_command(bare: Command, shell: str) -> None:
    answer = bare("completion", shell, "--json")
    assert answer.json["shell"] == shell
    assert [leaf.path for leaf in TREE if " ".join(leaf.path) not in answer.json["script"]] == []
