"""docs/operating.md: its commands, one after another as they stand there, find and mend a dead webhook."""

import re
import shlex
from pathlib import Path

import psycopg
import pytest

from tests.cli.conftest import Answer, Command
from tests.worlds.http_receiver import Answer as Reply
from tests.worlds.http_receiver import HttpReceiver
from tests.worlds.waiting import until

PAGE = Path(__file__).parents[2] / "docs" / "operating.md"
BLOCKS = re.findall(r"```sh\n(.+?)```", PAGE.read_text(), re.DOTALL)
LINES = [line.strip() for block in BLOCKS for line in block.splitlines() if line.strip()]


@pytest.fixture
def hooked(cli: Command, http_receiver: HttpReceiver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """A deployment whose customer moved: three deliveries are dead."""
    (tmp_path / "crontick.toml").write_text('[http]\nallow = ["127.0.0.1"]\n')
    monkeypatch.chdir(tmp_path)
    cli("webhook", "set", "crm", f"{http_receiver.url}/old")
    for number in range(3):
        cli("enqueue", "deliver_webhook", f'{{"endpoint": "crm", "body": {{"order": {number}}}}}')
    http_receiver.answers.extend([Reply(404)] * 3)
    assert cli("tick", "--json").json["dead"] == 3
    return cli


def all_due(database: str) -> bool:
    """Copies of many come due one after another, a tenth of a second apart."""
    with psycopg.connect(database) as conn:
        [count] = conn.execute(b"select count(*) from crontick.jobs where run_at > crontick.now()").fetchone() or (0,)
    return not count


def test_the_commands_of_the_page_mend_it(hooked: Command, http_receiver: HttpReceiver, database: str) -> None:
    said: list[Answer] = []
    for line in LINES:
        until(lambda: all_due(database))
        program, *words = shlex.split(line.replace("$NEW_URL", f"{http_receiver.url}/new"))
        assert program == "crontick"
        said.append(hooked(*words))
    before, errors, moved, requeued, ticked, after = said
    assert (before.status, after.status) == (1, 0)
    assert "! dead jobs that wait for a decision: 3: `crontick dead list`" in before.out
    [[jobs, kind, *_, code, error]] = errors.lines
    assert (jobs, kind, code) == ("3", "deliver_webhook", "404")
    assert "404" in error
    assert (moved.status, ticked.status) == (0, 0)
    assert requeued.out == "dead jobs that match: 3; requeued: 3\n"
    assert [request.target for request in http_receiver.requests[3:]] == ["/new"] * 3
