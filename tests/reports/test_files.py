"""What a cell, a line and a part look like."""

import csv
import io

import pytest

from crontick.jobs.kinds.report_rows import PART_BYTES
from tests.reports.conftest import SALES, Reports


def reporting(columns: str) -> str:
    """A report of these columns of one row."""
    return SALES.replace("select id, buyer, amount from sales", f"select 1 as id, {columns}")


async def cells(reports: Reports, columns: str) -> list[str]:
    """What stands in the file for them, as any reader of CSV has it."""
    reports.say(reporting(columns.replace("\\", "\\\\").replace('"', '\\"')))
    run = await reports.start()
    await reports.tick()
    assert (await reports.job(run))[1] == ""
    text = await reports.text(run)
    assert text.count("\r\n") >= 2
    [_, row] = csv.reader(io.StringIO(text, newline=""))
    return row[1:]


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("'=1+1'", "'=1+1"),
        ("'+1'", "'+1"),
        ("'-1'", "'-1"),
        ("'@x'", "'@x"),
        ("E'\\t=1'", "'\t=1"),
        ("E'\\r=1'", "'\r=1"),
        ("E'\\n=1'", "'\n=1"),
        ("'a=1'", "a=1"),
        ("-1", "-1"),
        ("-1.50::numeric", "-1.50"),
        ("'-Infinity'::float8", "-Infinity"),
        ("interval '-1 day'", "P-1D"),
        ("to_jsonb(-1)", "'-1"),
    ],
)
async def test_no_cell_is_a_formula(reports: Reports, column: str, cell: str) -> None:
    assert await cells(reports, f"{column} as c") == [cell]


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("null", ""),
        ("''", ""),
        ("true", "true"),
        ("null::boolean", ""),
        ("'a,b'", "a,b"),
        ("'say \"hi\"'", 'say "hi"'),
        ("E'two\\r\\nlines'", "two\r\nlines"),
        ("'Zoë 🎉'", "Zoë 🎉"),
        ("timestamptz '2026-11-30 10:00+01'", "2026-11-30 09:00:00+00"),
        ("date '0044-03-15 BC'", "0044-03-15 BC"),
        ("date 'infinity'", "infinity"),
        ("repeat('9', 2000)::numeric", "9" * 2000),
        ("'\\xff00'::bytea", "\\xff00"),
        ("array[1, null]", "{1,NULL}"),
        ("(1, 'a')", "(1,a)"),
    ],
)
async def test_a_cell_is_what_postgresql_says(reports: Reports, column: str, cell: str) -> None:
    assert await cells(reports, f"{column} as c") == [cell]


async def test_a_header_is_no_formula_either(reports: Reports) -> None:
    reports.say(reporting('1 as \\"=1+1\\", 2 as \\"a,b\\"'))
    run = await reports.start()
    await reports.tick()
    assert (await reports.text(run)).splitlines()[0] == 'id,\'=1+1,"a,b"'


async def test_a_key_may_be_a_text_with_any_name(reports: Reports) -> None:
    reports.say(
        SALES.replace('key = "id"', """key = '''the "key'''""").replace("buyer,", 'buyer as \\"the \\"\\"key\\",')
    )
    await reports.sell(*range(1, 36))
    run = await reports.start()
    await reports.tick()
    lines = (await reports.text(run)).splitlines()[1:]
    assert len({line.split(",")[1] for line in lines}) == len(lines) == 35


async def test_wide_rows_end_a_part_before_they_are_many(reports: Reports) -> None:
    reports.say(SALES.replace("buyer,", "repeat('x', 1000000) as buyer,").replace("= 10", "= 1000"))
    await reports.sell(*range(1, 13))
    run = await reports.start({"report": "sales", "format": "jsonl"})
    await reports.tick()
    sizes = [size for (size,) in await reports.rows("select octet_length(content) from crontick.report_parts")]
    assert (await reports.run(run))["row_count"] == 12
    assert len(sizes) > 1
    assert max(sizes) < 4 * PART_BYTES
