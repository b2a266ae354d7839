"""A nightly report: the slot comes, and the file is there."""

from tests.reports.conftest import SALES, Reports

NIGHTLY = """
[[schedule]]
name = "nightly_report"
cron = "30 2 * * *"
tz = "Europe/Berlin"
kind = "generate_report"
payload = { report = "sales", gzip = true }
"""


async def test_a_report_is_made_by_the_tick_after_its_slot_and_every_night_is_a_run(reports: Reports) -> None:
    reports.say(SALES + NIGHTLY)
    await reports.sell(*range(1, 26))
    await reports.rows("update crontick.test_clock set ahead = timestamptz '2026-11-30 23:00Z' - statement_timestamp()")
    await reports.tick()
    for night in (1, 2):
        await reports.later("3 hours")
        summary = await reports.tick()
        assert (summary.scheduled, summary.succeeded, summary.failed) == (1, 3, 0)
        await reports.later("21 hours")
        assert (await reports.tick()).claimed == 0
        assert await reports.rows("select count(*) from crontick.report_runs where status = 'succeeded'") == [(night,)]
    [(first,), _] = await reports.rows("select id from crontick.report_runs order by id")
    assert (await reports.text(first)).count("\r\n") == 26
    slots = "select payload -> '$schedule' ->> 'slot_at' from crontick.jobs where payload ? '$schedule' order by id"
    assert await reports.rows(slots) == [("2026-12-01T01:30:00Z",), ("2026-12-02T01:30:00Z",)]
