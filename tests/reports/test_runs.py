"""A run makes one file of many parts, and tells what became of it."""

import json

import pytest

from tests.reports.conftest import SALES, Reports

HEADER = "id,buyer,amount\r\n"


async def ids(reports: Reports, run: int) -> list[int]:
    """The first column of the file's lines, in their order."""
    text = await reports.text(run)
    assert text.startswith(HEADER)
    return [int(line.split(",")[0]) for line in text.removeprefix(HEADER).splitlines()]


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 95, 100])
async def test_every_row_is_in_the_file_once_and_in_order(reports: Reports, count: int) -> None:
    await reports.sell(*range(1, count + 1))
    run = await reports.start()
    summary = await reports.tick()
    assert await ids(reports, run) == list(range(1, count + 1))
    told = await reports.run(run)
    assert (told["status"], told["row_count"]) == ("succeeded", count)
    assert told["byte_count"] == len(await reports.content(run))
    assert told["parts"] == max(-(-count // 10), 1) == summary.succeeded


async def test_a_gzip_file_is_members_one_after_another(reports: Reports) -> None:
    await reports.sell(*range(1, 36))
    plain, packed = await reports.start(), await reports.start({"report": "sales", "gzip": True})
    await reports.tick()
    assert (await reports.content(packed)).count(b"\x1f\x8b\x08\x00") == 4
    assert await reports.text(packed) == await reports.text(plain)


async def test_json_lines_have_the_columns_in_their_order(reports: Reports) -> None:
    await reports.sell(1, 2)
    run = await reports.start({"report": "sales", "format": "jsonl"})
    await reports.tick()
    lines = (await reports.text(run)).splitlines()
    assert [list(json.loads(line)) for line in lines] == [["id", "buyer", "amount"]] * 2
    assert json.loads(lines[1]) == {"id": 2, "buyer": "buyer 2", "amount": 0.5}


async def test_an_empty_report_in_json_lines_is_an_empty_file(reports: Reports) -> None:
    run = await reports.start({"report": "sales", "format": "jsonl"})
    await reports.tick()
    assert (await reports.run(run))["status"] == "succeeded"
    assert await reports.content(run) == b""


async def test_parameters_are_typed_and_sent_beside_the_query(reports: Reports) -> None:
    reports.say(
        SALES.replace("from sales", "from sales where buyer = :buyer or id > :least or (':x' = '' and :day is null)")
        + 'parameters = { buyer = "text", least = "integer", day = "date" }\n'
    )
    await reports.sell(1, 2, 3)
    await reports.rows("insert into sales values (9, %s, 0)", "'; drop table sales; --")
    parameters = {"buyer": "'; drop table sales; --", "least": 9, "day": "2026-11-30"}
    run = await reports.start({"report": "sales", "parameters": parameters})
    await reports.tick()
    assert (await reports.job(run))[1] == ""
    assert await ids(reports, run) == [9]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({}, "parameter least is missing: it takes least (integer)"),
        ({"least": 1, "most": 2}, "there is no parameter 'most': it takes least (integer)"),
        ({"least": "1"}, "parameter least is not of type integer"),
        ({"least": True}, "parameter least is not of type integer"),
        ({"least": 2**63}, "parameter least is not of type integer"),
    ],
)
async def test_parameters_that_do_not_fit_make_it_dead(reports: Reports, given: dict[str, object], error: str) -> None:
    reports.say(SALES.replace("from sales", "from sales where id > :least") + 'parameters = { least = "integer" }')
    run = await reports.start({"report": "sales", "parameters": given})
    await reports.tick()
    status, said = await reports.job(run)
    assert (status, error in said) == ("dead", True), said


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("select id from nothing", "the query of report sales fails (42P01)"),
        ("select id, 1 / (id - 15) as amount from sales", "the query of report sales fails (22012)"),
        ("select id, nextval('counter') from sales", "the query of report sales fails (25006)"),
        ("select id from sales) as q; drop table sales; --", "the query of report sales fails (42601)"),
        ("select id % 7 as id from sales", "two rows have the key 0"),
        ("select nullif(id, 3) as id from sales", "it is null in a row"),
        ("select buyer from sales", "the query of report sales fails (42703)"),
    ],
)
async def test_a_broken_query_makes_the_job_dead_and_the_run_failed(reports: Reports, query: str, error: str) -> None:
    await reports.rows("create sequence counter")
    reports.say(SALES.replace("select id, buyer, amount from sales", query))
    await reports.sell(*range(1, 31))
    run = await reports.start()
    assert (await reports.tick()).dead == 1
    told = await reports.run(run)
    assert (told["status"], (await reports.job(told["job"]))[0]) == ("failed", "dead")
    assert error in told["last_error"]
    assert (await reports.rows("select count(*) from sales")) == [(30,)]


async def test_a_slow_query_is_stopped_and_tried_again(reports: Reports) -> None:
    reports.say(SALES.replace("from sales", "from sales, pg_sleep(60)") + '[kinds.generate_report]\ntimeout = "3s"\n')
    await reports.sell(1)
    run = await reports.start()
    assert (await reports.tick()).failed == 1
    assert (await reports.run(run))["status"] == "running"
    assert "takes longer than an attempt may (3 s)" in (await reports.job(run))[1]


async def test_rows_that_come_and_go_between_two_parts_double_and_lose_no_other(reports: Reports) -> None:
    await reports.sell(*range(10, 300, 10))
    run = await reports.start()
    await reports.tick(limit=1)
    await reports.rows("delete from sales where id in (20, 150)")
    await reports.sell(15, 155, 1000)
    await reports.tick()
    assert await ids(reports, run) == [*range(10, 150, 10), 155, *range(160, 300, 10), 1000]


async def test_every_part_sees_the_moment_at_which_the_run_began(reports: Reports) -> None:
    reports.say(SALES.replace("amount from", ":started_at as amount from"))
    await reports.sell(*range(1, 21))
    run = await reports.start()
    await reports.tick(limit=1)
    await reports.later("10 minutes")
    await reports.tick()
    moments = {line.split(",")[2] for line in (await reports.text(run)).splitlines()[1:]}
    assert moments == {(await reports.rows("select started_at::text from crontick.report_runs"))[0][0]}


async def test_a_report_that_was_changed_does_not_go_on(reports: Reports) -> None:
    await reports.sell(*range(1, 31))
    run = await reports.start()
    await reports.tick(limit=1)
    reports.say(SALES.replace("id, buyer, amount", "id, amount"))
    await reports.tick()
    told = await reports.run(run)
    assert (told["status"], told["parts"]) == ("failed", 1)
    assert "was changed while run" in told["last_error"]


async def test_a_run_that_failed_goes_on_where_it_stood_when_its_job_is_requeued(reports: Reports) -> None:
    reports.say(SALES.replace("amount from", "1 / (select d from divisor) as amount from"))
    await reports.rows("create table divisor as select 1 as d")
    await reports.sell(*range(1, 31))
    run = await reports.start()
    await reports.tick(limit=1)
    await reports.rows("update divisor set d = 0")
    assert (await reports.tick()).dead == 1
    await reports.rows("update divisor set d = 1")
    await reports.rows("select crontick.requeue(%s, 'ann', 'mended')", (await reports.run(run))["job"])
    assert (await reports.run(run))["status"] == "running"
    await reports.tick()
    assert (await reports.run(run))["status"] == "succeeded"
    assert await ids(reports, run) == list(range(1, 31))


async def test_a_first_part_requeued_with_a_mended_query_makes_the_same_run(reports: Reports) -> None:
    await reports.sell(1, 2)
    reports.say(SALES.replace("from sales", "from sale"))
    run = await reports.start()
    await reports.tick()
    reports.say(SALES)
    await reports.rows("select crontick.requeue(%s, 'ann', 'mended')", run)
    await reports.tick()
    assert await ids(reports, run) == [1, 2]


async def test_a_part_that_is_there_is_not_made_again(reports: Reports) -> None:
    await reports.sell(*range(1, 31))
    run = await reports.start()
    await reports.tick(limit=1)
    await reports.start({"report": "sales", "run": run, "part": 2})
    reports.settings = {"concurrency": 1}
    summary = await reports.tick()
    assert (summary.succeeded, summary.cancelled) == (2, 1)
    assert await ids(reports, run) == list(range(1, 31))


async def test_a_run_expires_after_half_an_hour_without_progress(reports: Reports) -> None:
    await reports.sell(*range(1, 31))
    run = await reports.start()
    await reports.tick(limit=1)
    await reports.later("29 minutes")
    await reports.tick(limit=1)
    assert (await reports.run(run))["status"] == "running"
    await reports.later("31 minutes")
    await reports.tick()
    assert (await reports.run(run))["status"] == "expired"
    assert (await reports.run(run))["row_count"] == 20


async def test_a_run_whose_job_is_cancelled_is_cancelled(reports: Reports) -> None:
    await reports.sell(*range(1, 31))
    run = await reports.start()
    await reports.tick(limit=1)
    await reports.rows("select crontick.cancel(%s, 'ann', 'wrong one')", (await reports.run(run))["job"])
    await reports.tick()
    assert (await reports.run(run))["status"] == "cancelled"


async def test_parts_keep_the_queue_priority_and_group_of_the_first(reports: Reports) -> None:
    await reports.sell(*range(1, 31))
    await reports.start(queue="night", priority=3, group_key="reports")
    await reports.tick()
    assert await reports.rows("select distinct queue, priority, group_key from crontick.jobs") == [
        ("night", 3, "reports")
    ]


async def test_the_planners_estimate_is_the_total_until_the_run_ends(reports: Reports) -> None:
    await reports.sell(*range(1, 2001))
    await reports.rows("analyze sales")
    run = await reports.start()
    await reports.tick(limit=1)
    told = await reports.run(run)
    assert (told["row_count"], told["rows_expected"]) == (10, 2000)
