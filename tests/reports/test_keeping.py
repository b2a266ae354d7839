"""Old runs go with their files, a bounded share at a time; one that goes on never does."""

from tests.reports.conftest import SALES, Reports


async def left(reports: Reports) -> tuple[int, int]:
    """Runs and parts that are still there."""
    asked = "select (select count(*) from crontick.report_files), (select count(*) from crontick.report_parts)"
    [(runs, parts)] = await reports.rows(asked)
    return runs, parts


async def test_a_file_goes_a_week_after_its_end(reports: Reports) -> None:
    await reports.sell(*range(1, 36))
    await reports.start()
    await reports.tick()
    await reports.later("6 days 23 hours")
    await reports.tick()
    assert await left(reports) == (1, 4)
    await reports.later("2 hours")
    await reports.tick()
    assert await left(reports) == (0, 0)


async def test_how_long_is_the_configurations_word(reports: Reports) -> None:
    reports.say(SALES + '[retention]\nreports = "1h"\n')
    await reports.start()
    await reports.tick()
    await reports.later("2 hours")
    await reports.tick()
    assert await left(reports) == (0, 0)


async def test_a_run_that_goes_on_stays_however_old_it_is(reports: Reports) -> None:
    await reports.sell(*range(1, 36))
    run = await reports.start()
    await reports.tick(limit=1)
    await reports.rows("update crontick.unfinished_jobs set expires_at = null")
    await reports.rows("select crontick.pause('kind', 'generate_report', 'ann', 'night')")
    await reports.later("30 days")
    await reports.tick()
    assert await left(reports) == (1, 1)
    await reports.rows("select crontick.resume('kind', 'generate_report', 'ann', 'day')")
    await reports.tick()
    assert (await reports.run(run))["row_count"] == 35


async def test_what_expired_goes_too_and_its_requeued_part_says_so(reports: Reports) -> None:
    await reports.sell(*range(1, 36))
    run = await reports.start()
    await reports.tick(limit=1)
    await reports.later("8 days")
    await reports.tick()
    await reports.later("1 hour")
    await reports.tick()
    assert await left(reports) == (0, 0)
    late = await reports.start({"report": "sales", "run": run, "part": 2})
    await reports.tick()
    assert "is not there any more" in (await reports.job(late))[1]


async def test_a_prune_removes_twenty_parts_and_the_run_with_its_last(reports: Reports) -> None:
    await reports.sell(*range(1, 501))
    await reports.start()
    await reports.tick()
    seen = [await left(reports)]
    await reports.later("8 days")
    for _ in range(3):
        await reports.rows("select crontick.prune('{1e9,1e9,1e9,604800}', crontick.now(), 1000)")
        seen.append(await left(reports))
    assert seen == [(1, 50), (1, 30), (1, 10), (0, 0)]
