"""A log line is one JSON object, without a secret and without what a database quotes."""

import io
import json
import logging
from collections.abc import Iterator

import psycopg
import pytest

from crontick.handler import logs
from crontick.jobs.redact import Redactor


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What crontick's logger writes, once it is configured."""
    logger = logging.getLogger("crontick")
    before = (logger.handlers[:], logger.level, logger.propagate)
    logs.configure(Redactor(["hunter2-hunter2"]))
    [handler] = logger.handlers
    assert isinstance(handler, logging.StreamHandler)
    stream = io.StringIO()
    handler.setStream(stream)
    yield stream
    logger.handlers[:], logger.level, logger.propagate = before
    logging.getLogger("uvicorn.access").filters.clear()


def only(lines: io.StringIO) -> dict[str, object]:
    [line] = lines.getvalue().splitlines()
    read = json.loads(line)
    assert isinstance(read, dict)
    return read


def test_secrets_are_taken_out_of_messages_and_fields(lines: io.StringIO) -> None:
    fields = {"nested": [{"secret": "hunter2-hunter2"}], "count": 3}
    logs.log.info("it is %s\nreally", "hunter2-hunter2", extra={"fields": fields})
    line = only(lines)
    assert (line["message"], line["nested"], line["count"]) == (
        "it is [redacted]\nreally",
        [{"secret": "[redacted]"}],
        3,
    )


def test_the_error_of_a_database_does_not_quote_the_row(
    lines: io.StringIO, sync_conn: psycopg.Connection[object]
) -> None:
    sync_conn.execute("create table people (email text primary key)")
    who = ["ada@example.org"]
    sync_conn.execute("insert into people values (%s)", who)
    try:
        sync_conn.execute("insert into people values (%s)", who)
    except psycopg.errors.UniqueViolation:
        logs.log.exception("it failed")
    line = only(lines)
    assert "23505" in str(line["error"])
    assert "ada@example.org" not in str(line)
    assert "test_logs.py" in str(line["traceback"])


@pytest.mark.usefixtures("lines")
def test_the_access_log_loses_its_query() -> None:
    record = logging.LogRecord(
        "uvicorn.access",
        logging.INFO,
        "",
        0,
        '%s - "%s %s HTTP/%s" %d',
        ("ip", "POST", "/cron/tick?token=x", "1.1", 200),
        None,
    )
    assert logging.getLogger("uvicorn.access").filter(record)
    assert record.getMessage() == 'ip - "POST /cron/tick HTTP/1.1" 200'


@pytest.mark.usefixtures("lines")
def test_libraries_that_log_whole_urls_are_quiet() -> None:
    assert logging.getLogger("httpx").getEffectiveLevel() >= logging.WARNING
    assert logging.getLogger("httpcore").getEffectiveLevel() >= logging.WARNING


def test_lines_for_people_have_the_fields_behind_the_message_and_tracebacks_below(lines: io.StringIO) -> None:
    logs.configure(Redactor(["hunter2-hunter2"]), log_format="text")
    [handler] = logs.log.handlers
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(lines)
    logs.log.warning(
        "it broke\nhere", extra={"fields": {"event": "x", "count": 3, "why": "hunter2-hunter2", "no": None}}
    )
    first, second = lines.getvalue().splitlines()
    assert first.endswith('WARNING it broke event="x" count=3 why="[redacted]"')
    assert second == "here"
