"""What `crontick check` and `crontick doctor` say of ``[fan_out]``."""

from datetime import timedelta
from typing import Any

import pytest
from psycopg.rows import dict_row

from crontick.handler.cli.check_fan_out import unasked
from crontick.handler.cli.database import ask
from crontick.handler.doctor.fan_out import fan_out
from crontick.jobs.config import read_config
from crontick.jobs.config_error import ConfigError
from crontick.jobs.outward_sections import FanOutSettings
from crontick.jobs.settings import Settings
from tests.fan_out.conftest import TOKEN

ON_LAMBDA = {"AWS_LAMBDA_FUNCTION_NAME": "crontick"}


@pytest.mark.parametrize(
    ("section", "settings", "environ", "said"),
    [
        ("", {"cron_secrets": (TOKEN,)}, {}, "CRONTICK_PUBLIC_URL is not set"),
        ("", {"public_url": "https://app.example"}, {}, "CRON_SECRET is not set"),
        ("", {"cron_secrets": (TOKEN,), "public_url": "http://8.8.8.8"}, {}, "write https://"),
        ("", {"cron_secrets": (TOKEN,), "public_url": "https://app.example"}, {}, "POST https://app.example/cron/tick"),
        ("", {"cron_secrets": (TOKEN,), "public_url": "https://a.example/crontick"}, {}, "https://a.example/cron/tick"),
        (
            "",
            {"cron_secrets": (TOKEN,), "public_url": "https://a.example/b", "prefix": "/b"},
            {},
            "https://a.example/cron/tick",
        ),
        ("", {}, ON_LAMBDA, "its own function for others; a call can so become 63 ticks at most, and 6,300 jobs"),
        ('url = "http://10.0.0.1/t"', {"cron_secrets": (TOKEN,)}, ON_LAMBDA, "POST http://10.0.0.1/t"),
        ("max_per_hour = 7", {"max_parallel_ticks": 1}, ON_LAMBDA, "7 an hour (max_per_hour)"),
        ("", {"max_parallel_ticks": 1}, ON_LAMBDA, "ticks follow one another"),
    ],
)
def test_check_names_whom_a_tick_asks_or_what_is_missing(
    section: str, settings: dict[str, Any], environ: dict[str, str], said: str
) -> None:
    found = list(unasked(Settings(**settings), read_config(f"[fan_out]\n{section}"), environ))
    assert any(said in finding.sentence for finding in found), found
    assert found[0].wrong == ("not set" in said or said.startswith("write"))


def test_a_deployment_without_it_is_told_nothing() -> None:
    assert list(unasked(Settings(), read_config(""), {})) == []


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("max_per_hour = 0", "crontick.toml:2: fan_out.max_per_hour"),
        ("per_hour = 5", "crontick.toml:2: fan_out.per_hour: there is no per_hour (did you mean max_per_hour?)"),
        ('url = "http://8.8.8.8/cron/tick"', "write https://"),
        ('url = "http://169.254.169.254/"', "metadata"),
    ],
)
def test_what_the_table_gets_wrong_is_refused_with_its_line(section: str, said: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_config(f"[fan_out]\n{section}")
    assert said in str(raised.value)


def test_ticks_that_were_asked_for_keep_nobodys_beat(sync_conn: Any) -> None:
    sync_conn.execute(
        """
        insert into crontick.ticks (opening, started_at, deadline, lease_expires_at, trigger)
        select n * 2 + t, now() - n * interval '15 minutes', now(), now(), case t when 0 then 'fan-out' else 'curl' end
        from generate_series(1, 31) as n, generate_series(0, 1) as t
        """
    )
    gaps = sync_conn.execute("select trigger, every from crontick.trigger_gaps(now())").fetchall()
    assert [trigger for trigger, _ in gaps] == ["curl"]
    sync_conn.execute(
        "insert into crontick.deployments (hash, version, kinds, first_seen_at, last_seen_at, expected_every)"
        " values ('d', '1', '{}', now(), now(), '15 minutes')"
    )
    sync_conn.execute("update crontick.ticks set deployment = 'd'")
    [(told,)] = sync_conn.execute("select gaps from crontick.trigger_gaps(now())").fetchall()
    assert told == [timedelta(minutes=15)] * 3
    sync_conn.row_factory = dict_row
    named = [row["trigger"] for query in ("read_triggers", "list_triggers") for row in ask(sync_conn, query)]
    assert named == ["curl", "curl"]


def test_doctor_tells_of_ticks_that_did_not_come_and_of_an_hour_that_is_used_up(sync_conn: Any) -> None:
    sync_conn.execute(
        """
        insert into crontick.ticks (
            opening, started_at, deadline, lease_expires_at, trigger, asked, asked_at, stop_reason
        )
        select n, now() - interval '2 minutes', now(), now(), case when n < 3 then 'fan-out' else 'curl' end,
            case when n = 3 then 4 else 0 end, case when n = 3 then now() - interval '2 minutes' end,
            case when n = 1 then 'busy' end
        from generate_series(1, 3) as n
        """
    )
    sync_conn.row_factory = dict_row
    [told] = ask(sync_conn, "read_fan_out")
    settings = Settings(cron_secrets=(TOKEN,), public_url="https://app.example")
    found = [finding.what for finding in fan_out(settings, FanOutSettings(max_per_hour=4), told)]
    assert found == [
        "of 4 ticks that were asked for in the last day 2 came",
        "of 2 ticks that were asked for in the last day 1 found no room",
        "the 4 ticks that may be asked for in an hour are used up",
    ]
    nobody = {"asked": 0, "came": 0, "busy": 0, "asked_in_an_hour": 0}
    [finding] = fan_out(Settings(), FanOutSettings(), nobody)
    assert "CRON_SECRET is not set" in finding.what
    assert list(fan_out(Settings(), None, nobody)) == []
