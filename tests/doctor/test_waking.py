"""Alarms that ticks set, and what calls when one is lost."""

from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.doctor.conftest import Conn, said, wrong

WAKE = '[wake]\nprovider = "url"\nurl = "https://alarms.example/v1"\n'
TICK = (
    b"insert into crontick.ticks (opening, started_at, deadline, lease_expires_at, ended_at, trigger, wake_at)"
    b" select floor(random() * 1e15), now() - n * interval '1 h', now(), now(), now(), %s, now() - n * interval '1 h'"
    b" from generate_series(1, 9) as n"
)


def test_wakes_alone_are_too_few_and_wakes_that_do_not_come_are_wrong(
    doctor: Command, owner: Conn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "crontick.toml"
    config.write_text(WAKE)
    monkeypatch.setenv("CRONTICK_CONFIG", str(config))
    owner.execute(TICK, ("eventbridge",))
    assert [sentence for sentence in wrong(doctor) if "no tick with the trigger wake came" in sentence]
    assert "nothing but wakes" not in said(doctor)
    owner.execute(b"update crontick.ticks set trigger = 'wake', started_at = started_at - interval '1 day'")
    assert "nothing but wakes has called a tick for two days" in said(doctor)
    assert [sentence for sentence in wrong(doctor) if "wake" in sentence] == [], (
        "wakes keep no beat, and none is missed"
    )
