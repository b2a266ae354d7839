"""The command line in this process, on a migrated database of the test's own."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from crontick.handler.cli.run import run


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[list[str]]:
        """The cells of each line below the header, as a pipe gets them."""
        return [line.split("\t") for line in self.out.splitlines()[1:]]


Command = Callable[..., Answer]


@pytest.fixture
def bare(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs a command in an environment that says nothing of crontick."""
    for name in ("DATABASE_URL", "CRON_SECRET", "CRONTICK_DATABASE_URL", "CRONTICK_MODULES", "CRONTICK_ENVIRONMENT"):
        monkeypatch.delenv(name, raising=False)

    def command(*arguments: str) -> Answer:
        status = run(list(arguments))
        said = capsys.readouterr()
        return Answer(status, said.out, said.err)

    return command


@pytest.fixture
def cli(bare: Command, database: str, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs a command of a deployment with the kinds of ``tests.cli.acme``."""
    monkeypatch.setenv("CRONTICK_DATABASE_URL", database)
    monkeypatch.setenv("CRONTICK_ENVIRONMENT", "test")
    monkeypatch.setenv("CRONTICK_MODULES", "tests.cli.acme")
    monkeypatch.setenv("CRON_SECRET", "3f9b1c0de7a24586b1f0")
    return bare
