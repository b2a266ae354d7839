"""What waits for code or for a slot, and how a finding is told."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crontick.handler.doctor.work import zone_data
from crontick.handler.doctor.zones import differing, used_zones
from crontick.jobs.deployment import load_deployment
from crontick.jobs.settings import Settings
from crontick.jobs.zones import offset_at
from tests.cli.conftest import Command
from tests.doctor.conftest import Conn, said, wrong

PARKED = "update crontick.unfinished_jobs set held_by = 'kind', due_at = 'infinity'"


def test_jobs_of_kinds_that_nobody_knows(doctor: Command, owner: Conn) -> None:
    for kind in ("deliver_webhok", "deliver_webhok", "mail"):
        owner.execute("select crontick.enqueue(%s)", (kind,))
    assert wrong(doctor) == [], "no tick has met them yet"
    owner.execute(PARKED)
    misspelt, other = wrong(doctor)
    assert misspelt.startswith(
        "jobs of kind deliver_webhok that no deployment knew: 2 (did you mean deliver_webhook?): deploy"
    )
    assert other.startswith("jobs of kind mail that no deployment knew: 1: deploy")


def test_jobs_of_a_kind_that_this_deployment_brings_are_no_fault(doctor: Command, owner: Conn) -> None:
    owner.execute("select crontick.enqueue('send_email')")
    owner.execute(PARKED)
    assert wrong(doctor) == []


def test_a_schedule_that_something_keeps(doctor: Command, owner: Conn) -> None:
    owner.execute(
        "insert into crontick.declared_schedules (name, cron, tz, kind, payload, catch_up, at_most, late_seconds,"
        " overlap, spread_seconds, starts_at, look_at, deployment, synced_at)"
        " values ('nightly', '0 3 * * *', 'UTC', 'gone', '{}', 'latest', 1, 0, 'skip', 0, now(), now(), '', now())"
    )
    [sentence] = wrong(doctor)
    assert sentence.startswith("schedule nightly: no deployment of the last day knows its kind gone")


def test_a_schedule_that_cannot_be(doctor: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "crontick.toml"
    file.write_text('[[schedule]]\nname = "nightly"\ncron = "61 3 * * *"\nkind = "run_sql"\npayload = {name = "any"}\n')
    monkeypatch.setenv("CRONTICK_CONFIG", str(file))
    assert [sentence for sentence in wrong(doctor) if sentence.startswith("crontick.toml:3: schedule.cron")]


@pytest.mark.parametrize(("version", "old"), [("2026b", False), ("2025a", False), ("2024b", True)])
def test_zone_data_of_the_year_before_last(version: str, *, old: bool) -> None:
    [finding] = zone_data(version, datetime(2026, 11, 30, tzinfo=UTC))
    assert (finding.wrong, finding.mend is not None) == (old, old)


ZONES = """
[[schedule]]
name = "daily"
cron = "0 9 * * *"
tz = "America/Vancouver"
kind = "run_sql"
payload = { job = "any" }
[[sql_job]]
name = "any"
statement = "delete from carts where at at time zone 'Asia/Kathmandu' < now() and 'nowhere' <> 'UTC'"
"""


def test_the_databases_zone_data_are_compared_with_those_of_schedules(
    doctor: Command, owner: Conn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "crontick.toml"
    file.write_text(ZONES)
    monkeypatch.setenv("CRONTICK_CONFIG", str(file))
    deployment = load_deployment(Settings.from_environ(os.environ))
    assert used_zones(deployment) == ["America/Vancouver", "Asia/Kathmandu", "UTC"]
    # Whether this server's are of the same release is not ours to say: it and doctor are to agree.
    moment = datetime(2027, 1, 15, tzinfo=UTC)
    asked = "select extract(epoch from (%s at time zone 'America/Vancouver') - (%s at time zone 'UTC'))::int"
    [(theirs,)] = owner.execute(asked, (moment, moment)).fetchall()
    same = offset_at("America/Vancouver", moment).total_seconds() == theirs
    assert ("zone data differ for America/Vancouver" in said(doctor)) is not same


def test_zone_data_that_differ_or_lack_a_zone_are_told_once_a_zone() -> None:
    at = datetime(2027, 1, 15, 9, 30, tzinfo=UTC)
    rows = [("Asia/Kathmandu", 20700), ("Europe/Berlin", 7200), ("Europe/Berlin", 0), ("Asia/Tokyo", None)]
    found = list(differing([{"name": name, "at": at, "offset_seconds": seconds} for name, seconds in rows]))
    assert [finding.wrong for finding in found] == [False, False]
    berlin, tokyo = (finding.what for finding in found)
    assert "differ for Europe/Berlin: at 2027-01-15 09:30 UTC it says UTC+02:00, and zone data" in berlin
    assert "by which schedules fire, say UTC+01:00: `at time zone` in a query" in berlin
    assert "for Asia/Tokyo: at 2027-01-15 09:30 UTC it does not know it" in tokyo


def test_each_finding_has_what_why_mend_and_the_runbooks_section(doctor: Command, owner: Conn) -> None:
    owner.execute(f"alter database {owner.info.dbname} set synchronous_commit = off".encode())
    [finding] = [one for one in doctor("--json").json["findings"] if one["wrong"]]
    assert finding == {
        "name": "unsafe-commits",
        "wrong": True,
        "what": "synchronous_commit is off: a crash takes back the last commits",
        "why": "what is promised holds for commits that survive: what a lost one sent is sent again",
        "mend": f"`alter database {owner.info.dbname} set synchronous_commit = on`, or for the role that ticks",
        "link": "https://github.com/crontick/crontick/blob/main/docs/runbook.md#unsafe-commits",
    }
    lines = doctor().out.splitlines()
    at = lines.index(f"! {finding['what']}")
    assert lines[at + 1 : at + 4] == [
        f"    why   {finding['why']}",
        f"    mend  {finding['mend']}",
        f"    more  {finding['link']}",
    ]
