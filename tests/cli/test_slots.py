"""When expressions fire, on the command line, without a database; and what docs/schedules.md shows of it."""

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Command

ROOT = Path(__file__).parents[2]
SHOWN = re.compile(r"^    \$ crontick (schedules (?:next|preview) .*)\n((?:    .*\n)+)", re.MULTILINE)
EXAMPLES = SHOWN.findall((ROOT / "docs" / "schedules.md").read_text())
BERLIN = ("--tz", "Europe/Berlin")


@pytest.mark.parametrize(("command", "shown"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_the_page_shows_what_the_command_says(bare: Command, command: str, shown: str) -> None:
    answer = bare(*shlex.split(command))
    cells = [[cell for cell in line.split("\t") if cell] for line in answer.out.splitlines()]
    assert cells == [re.split(r"  +", line.strip()) for line in shown.splitlines()]


def test_the_page_has_both_nights() -> None:
    assert len(EXAMPLES) == 4
    assert [command.split()[1] for command, _ in EXAMPLES] == ["next", "preview", "preview", "next"]


def test_the_next_slots_are_in_utc_one_a_line(bare: Command) -> None:
    answer = bare("schedules", "next", "30 2 * * *", *BERLIN, "--after", "2027-03-27T13:00:00+01:00", "--count", "2")
    assert (answer.status, answer.out) == (0, "2027-03-28T01:00:00Z\n2027-03-29T00:30:00Z\n")


def test_json_has_the_local_time_too(bare: Command) -> None:
    answer = bare(
        "schedules", "next", "30 2 * * *", *BERLIN, "--after", "2027-03-27T12:00:00Z", "--count", "1", "--json"
    )
    assert answer.json == [
        {"at": "2027-03-28T01:00:00Z", "local": "2027-03-28T03:00:00+02:00", "named": "2027-03-28T02:30:00", "fold": 0}
    ]


def test_a_date_is_its_midnight_in_the_expressions_zone(bare: Command) -> None:
    answer = bare("schedules", "next", "0 * * * *", *BERLIN, "--after", "2027-07-01", "--count", "1")
    assert (answer.status, answer.out) == (0, "2027-06-30T23:00:00Z\n")


def test_five_from_now_on_in_utc_unless_told_otherwise(bare: Command) -> None:
    assert [line[11:] for line in bare("schedules", "next", "@daily").out.splitlines()] == ["00:00:00Z"] * 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["30 25 * * *"], "field 2 of 5"),
        (["0 0 30 2 *"], "never fires"),
        (["@daily", "--tz", "Europe/Berln"], "did you mean"),
        (["@daily", "--after", "2027-01-01T00:00:00"], "is not a moment with its zone"),
        (["@daily", "--after", "2027-13-01"], "is not a moment with its zone"),
        (["@daily", "--after", "9999-12-31T00:00:00Z"], "between 1970 and 2200"),
        (["@daily", "--after", "0001-01-01T00:00:00Z"], "between 1970 and 2200"),
    ],
)
@pytest.mark.parametrize("command", ["next", "preview"])
def test_what_is_no_expression_zone_or_moment_is_refused(
    bare: Command, command: str, arguments: list[str], said: str
) -> None:
    answer = bare("schedules", command, *arguments)
    assert answer.status == 2
    assert said in re.sub(r"[│\s]+", " ", answer.err)


def test_a_preview_says_which_changes_it_is_about(bare: Command) -> None:
    answer = bare("schedules", "preview", "0,30 2,3 * * *", *BERLIN, "--after", "2027-01-01T00:00:00Z")
    assert answer.err.splitlines() == [
        "Europe/Berlin, 2027-03-28 01:00Z: the clock goes from 02:00 to 03:00",
        "Europe/Berlin, 2027-10-31 01:00Z: the clock goes from 03:00 to 02:00",
    ]
    assert [line[2:] for line in answer.lines if line[2].startswith("2027-03-28")] == [
        ["2027-03-28 02:00", "does not exist: fires once with the next"],
        ["2027-03-28 02:30", "does not exist: fires once with the next"],
        ["2027-03-28 03:00", "fires"],
        ["2027-03-28 03:30", "fires"],
    ]


def test_a_preview_is_about_what_is_still_to_come(bare: Command) -> None:
    answer = bare("schedules", "preview", "@daily", *BERLIN, "--after", "2027-06-01T00:00:00Z", "--json")
    assert sorted({row["change_at"] for row in answer.json}) == ["2027-10-31T01:00:00Z", "2028-03-26T01:00:00Z"]


@pytest.fixture
def declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deployment with one schedule, and no database."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "crontick.toml").write_text(
        '[[schedule]]\nname = "nightly"\ncron = "30 2 * * *"\ntz = "Europe/Berlin"\nkind = "send_email"\n'
        'payload = {to = "ada@users.example", subject = "Good night", text = "Sleep well."}\n'
    )


def test_a_schedule_is_asked_for_by_its_name(bare: Command, declared: None) -> None:
    after = ("--after", "2027-03-27T12:00:00Z")
    by_name = bare("schedules", "next", "nightly", *after)
    assert by_name.out == bare("schedules", "next", "30 2 * * *", *BERLIN, *after).out
    assert "fires at the end of the gap" in bare("schedules", "preview", "nightly", *after).out


@pytest.mark.parametrize(
    ("arguments", "said"), [(["weekly"], "there are: nightly"), (["nightly", *BERLIN], "leave out --tz")]
)
def test_a_name_that_nobody_has_is_refused(bare: Command, declared: None, arguments: list[str], said: str) -> None:
    answer = bare("schedules", "next", *arguments)
    assert answer.status == 2
    assert said in re.sub(r"[│\s]+", " ", answer.err)


def test_a_zone_whose_clock_stays_as_it_is_has_nothing_to_preview(bare: Command) -> None:
    answer = bare("schedules", "preview", "30 2 * * *", "--tz", "Asia/Kolkata")
    assert (answer.status, answer.out) == (0, "")
    assert "no change of the clock is known in Asia/Kolkata" in answer.err


def test_a_preview_of_every_minute_is_bounded(bare: Command) -> None:
    answer = bare(
        "schedules", "preview", "* * * * *", "--tz", "Pacific/Apia", "--after", "2011-12-01T00:00:00Z", "--json"
    )
    assert "does not exist: is left out" in {row["what"] for row in answer.json}
    assert len(answer.json) < 1000
