"""What the command line says of limits."""

from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.cli.conftest import Command


@pytest.fixture
def says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that the next commands read."""
    path = tmp_path / "crontick.toml"
    path.write_text("")
    monkeypatch.setenv("CRONTICK_CONFIG", str(path))
    return path


def test_lines_in_which_jobs_wait_are_listed_and_counted(
    cli: Command, says: Path, sync_conn: psycopg.Connection[Any]
) -> None:
    assert cli("limits").err == "nothing waits for a limit\n"
    says.write_text(
        '[limits.names]\nkind = "greet"\nkey = "payload.name"\nrate = "1/hour"\n[queues.default]\nseats = 3\n'
    )
    for name in ("ada", "ada", "ada", "bob"):
        cli("enqueue", "greet", f'{{"name": "{name}"}}')
    assert cli("tick", "--dry-run", "--json").json["would_run"] is not None
    assert len(cli("tick", "--dry-run").lines) == 2
    assert cli("tick", "--json").json["succeeded"] == 2
    [line] = cli("limits", "--json").json
    assert (line["name"], line["key"], line["says"], line["waiting"]) == ("names", "ada", "1 an hour", 2)
    assert {row["held_by"] for row in cli("status", "--json").json["work"]} == {"limit:names"}
    held = [row["held_by"] for row in cli("jobs", "--status", "queued", "--json").json]
    assert held == ["limit:names:ada"] * 2, "as a person knows it, and not by a hash"
    later = "select crontick.enqueue('greet', '{\"name\": \"ada\"}', run_at => crontick.now() + interval '1 day')"
    [(job,)] = sync_conn.execute(later.encode()).fetchall()
    assert "; it waits for limit names (1 an hour), key ada: next room at " in cli("why", str(job)).out
    assert "and is held: waits for limit names (1 an hour), key ada" in cli("run-now", str(job)).out
    assert sync_conn.execute("select queue_seats from crontick.deployments").fetchall() == [({"default": 3},)]
    assert cli("tick", "--limit", "none", "--json").status == 0, "a drain ends though jobs wait"


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("[limits.x]\nkind = 'greet'\nrate = '1/month'", 1, "crontick.toml:3: limits.x.rate: '1/month' is no rate"),
        (
            "[limits.x]\nkind = 'greeet'\nrate = '1/day'",
            1,
            "crontick.toml:2: limits.x.kind: this deployment has no kind",
        ),
        ("[queues.defualt]\nseats = 2", 0, "[queues.defualt]: no kind has the queue defualt (did you mean default?)"),
        ("[limits.x]\nqueue = 'slow'\nrate = '1/day'", 0, None),
        (
            "[limits.x]\nqueue = 'slwo'\nrate = '1/day'",
            0,
            "[limits.x]: no kind has the queue slwo (did you mean slow?)",
        ),
    ],
)
def test_check_tells_of_limits(cli: Command, says: Path, text: str, status: int, said: str | None) -> None:
    says.write_text(text)
    answer = cli("check", "--offline")
    assert answer.status == status
    assert said is None or said in answer.out
    assert said is not None or "limits" not in answer.out
