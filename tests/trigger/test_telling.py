"""What a run tells: counts, warnings for a person, outputs and a table; never more."""

import json
from pathlib import Path

import pytest

from tests.trigger.calling import Runner, summary
from tests.worlds.http_receiver import Answer, HttpReceiver

QUIET = {"GITHUB_OUTPUT": "", "GITHUB_STEP_SUMMARY": ""}


def test_it_ticks_again_while_more_is_due_and_adds_up(runner: Runner, http_receiver: HttpReceiver) -> None:
    http_receiver.answers.extend([summary(claimed=5, succeeded=4, failed=1, more=True)] * 2)
    http_receiver.otherwise = summary(claimed=1, succeeded=1)
    told = runner.run(http_receiver.url)
    assert [line.partition(":")[0] for line in told.lines] == ["tick 1", "tick 2", "tick 3"]
    assert {name: told.outputs[name] for name in ("claimed", "succeeded", "failed", "more")} == {
        "claimed": "11",
        "succeeded": "9",
        "failed": "2",
        "more": "false",
    }


@pytest.mark.parametrize(("repeats", "ticks"), [("0", 1), ("2", 3), ("", 11)])
def test_it_ticks_again_so_often_at_most(runner: Runner, http_receiver: HttpReceiver, repeats: str, ticks: int) -> None:
    http_receiver.otherwise = summary(claimed=1, succeeded=1, more=True)
    told = runner.run(http_receiver.url, TICK_MAX_REPEATS=repeats)
    assert (told.status, len(http_receiver.requests), told.outputs["more"]) == (0, ticks, "true")
    assert told.commands("notice") == ["more is due: the next run goes on"]


def test_no_tick_begins_that_could_end_too_late(runner: Runner, http_receiver: HttpReceiver) -> None:
    """A budget of 60 s is a call of 120 s, for which two minutes leave no second one."""
    http_receiver.otherwise = summary(more=True)
    runner.run(http_receiver.url, TICK_BUDGET_SECONDS="60", TICK_MAX_MINUTES="2")
    assert len(http_receiver.requests) == 1


def test_a_busy_server_ends_the_repeats_and_keeps_what_was_done(runner: Runner, http_receiver: HttpReceiver) -> None:
    http_receiver.answers.append(summary(claimed=5, succeeded=5, more=True))
    http_receiver.otherwise = Answer(200, b'{"ran": false, "reason": "busy"}')
    told = runner.run(http_receiver.url)
    assert (told.status, len(http_receiver.requests)) == (0, 2)
    assert (told.outputs["ran"], told.outputs["succeeded"]) == ("true", "5")


def test_a_failure_later_on_keeps_what_was_done_too(runner: Runner, http_receiver: HttpReceiver) -> None:
    http_receiver.answers.append(summary(claimed=5, succeeded=5, more=True))
    http_receiver.otherwise = Answer(401)
    told = runner.run(http_receiver.url)
    assert (told.status, told.outputs["succeeded"]) == (1, "5")
    assert "| 1 | 5 | 5 |" in told.page


@pytest.mark.parametrize(
    ("answer", "warning"),
    [
        (summary(claimed=3, dead=2), "jobs that died and wait for a person: 2 (`crontick dead list`)"),
        (summary(lost=1), "outcomes lost, for their leases ran out first: 1"),
        (summary(warnings=["private", "private"]), "warnings: 2 (crontick's log has them)"),
        (summary(late_seconds=901), "this tick came 901 s late"),
        (
            summary(errors=[{"reminder": "private", "error": "private"}, {"job": 7, "error": "private"}]),
            "reminders or schedules that failed: 1 (crontick's log says which)",
        ),
    ],
)
def test_what_a_person_should_see_is_a_warning(
    runner: Runner, http_receiver: HttpReceiver, answer: Answer, warning: str
) -> None:
    http_receiver.otherwise = answer
    told = runner.run(http_receiver.url)
    assert (told.status, told.commands("warning")) == (0, [warning])
    assert "private" not in told.log + told.page


def test_an_ordinary_tick_warns_of_nothing(runner: Runner, http_receiver: HttpReceiver) -> None:
    http_receiver.otherwise = summary(claimed=2, failed=2, late_seconds=300, errors=[{"job": 7, "error": "private"}])
    told = runner.run(http_receiver.url)
    assert not [line for line in told.lines if line.startswith("::")]


def test_the_dead_fail_the_run_where_that_is_wanted(runner: Runner, http_receiver: HttpReceiver) -> None:
    http_receiver.otherwise = summary(dead=1)
    told = runner.run(http_receiver.url, TICK_FAIL_ON_DEAD="true")
    assert (told.status, told.commands("warning")) == (1, [])
    assert told.commands("error") == ["jobs that died and wait for a person: 1 (`crontick dead list`)"]
    assert told.outputs["dead"] == "1"


def test_the_page_has_a_table_of_counts(runner: Runner, http_receiver: HttpReceiver) -> None:
    http_receiver.otherwise = summary(claimed=3, succeeded=2, dead=1)
    title, empty, names, rule, counts = runner.run(http_receiver.url).page.splitlines()
    assert (title, empty, rule) == ("### crontick", "", "|" + " --- |" * 11)
    assert names.split(" | ")[:5] == ["| ticks", "claimed", "succeeded", "failed", "dead"]
    assert counts == "| 1 | 3 | 2 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | no |"


def test_what_others_wrote_to_the_runner_s_files_stays(
    runner: Runner, http_receiver: HttpReceiver, tmp_path: Path
) -> None:
    (tmp_path / "output").write_text("theirs=1\n")
    http_receiver.otherwise = summary()
    assert runner.run(http_receiver.url).outputs["theirs"] == "1"


def test_it_runs_where_there_is_no_runner(runner: Runner, http_receiver: HttpReceiver) -> None:
    http_receiver.otherwise = summary()
    assert runner.run(http_receiver.url, **QUIET).status == 0


def test_a_dry_run_counts_all_that_would_run_once(runner: Runner, http_receiver: HttpReceiver) -> None:
    http_receiver.otherwise = summary(more=True, would_run=[{"job": 1, "kind": "private"}] * 40)
    told = runner.run(http_receiver.url, TICK_DRY_RUN="true")
    (request,) = http_receiver.requests
    assert json.loads(request.body) == {"trigger": "github-actions", "dry_run": True, "verbose": True}
    assert told.lines[1] == "dry run: 40 jobs would run"
    assert "private" not in told.log


def test_only_the_first_of_several_ticks_can_be_late(runner: Runner, http_receiver: HttpReceiver) -> None:
    http_receiver.answers.append(summary(more=True))
    http_receiver.otherwise = summary()
    runner.run(http_receiver.url, TICK_SCHEDULED_FOR="2026-11-30T09:15:00Z")
    first, second = (json.loads(request.body) for request in http_receiver.requests)
    assert first == {"trigger": "github-actions", "scheduled_for": "2026-11-30T09:15:00Z"}
    assert second == {"trigger": "github-actions"}
