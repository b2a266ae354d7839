"""A backlog that a hundred ticks could not take one after another in time is taken by eight at once, each job once."""

from pathlib import Path
from typing import Any

import psycopg

from tests.worlds import aws_server
from tests.worlds import runtime_api as apis
from tests.worlds.http_receiver import HttpReceiver
from tests.worlds.lambda_service import LambdaService
from tests.worlds.process import Processes

JOBS = 100_000
LIMIT = 1000
ENQUEUED = """
insert into crontick.unfinished_jobs (kind, queue, priority, run_at, due_at, created_at, updated_at, payload)
select 'count', 'default', 0, now(), now(), now(), now(), '{}'
from generate_series(1, %s)
"""
"""What so many calls of `crontick.enqueue` leave; to call it takes longer than to run them."""


def test_a_hundred_thousand_jobs_are_each_run_once_by_eight_ticks_at_once(
    database: str,
    sync_conn: psycopg.Connection[Any],
    processes: Processes,
    http_receiver: HttpReceiver,
    tmp_path: Path,
) -> None:
    def one(text: str) -> Any:
        row = sync_conn.execute(text.encode()).fetchone()
        assert row is not None
        return row[0]

    config = tmp_path / "crontick.toml"
    config.write_text("[fan_out]\nmax_per_hour = 1000\n")
    sync_conn.execute("create table effects (job bigint not null)")
    sync_conn.execute(ENQUEUED, (JOBS,))
    sync_conn.execute("vacuum (analyze) crontick.unfinished_jobs")
    with apis.runtime_api() as api:
        service = LambdaService(http_receiver, api)
        environ = {
            **aws_server.environ(http_receiver.url),
            "AWS_LAMBDA_RUNTIME_API": api.address,
            "AWS_LAMBDA_FUNCTION_NAME": "crontick",
            "CRONTICK_DATABASE_URL": database,
            "CRONTICK_ENVIRONMENT": "test",
            "CRONTICK_CONFIG": str(config),
            "CRONTICK_CONCURRENCY": "200",
            "CRONTICK_LIMIT": str(LIMIT),
            "CRONTICK_MAX_PARALLEL_TICKS": "8",
            "CRONTICK_MODULES": "tests.fan_out.effects",
        }
        for _ in range(8):
            processes.run("-m", "awslambdaric", "crontick.handler.aws.handler", env=environ)
        answers = service.run({}, done=lambda: one("select count(*) from crontick.unfinished_jobs") == 0)

    assert one("select count(*) from effects") == JOBS
    assert one("select count(distinct job) from effects") == JOBS
    assert one("select count(*) from crontick.jobs where status = 'succeeded' and attempt = 1") == JOBS
    assert one("select count(*) from crontick.attempts") == 0
    assert service.taken == one("select sum(asked) from crontick.ticks") > JOBS / LIMIT / 2
    asking = [answer for answer in answers if answer["ran"]]
    print(len(answers), "ticks,", len(answers) - len(asking), "found no room,", service.taken, "were asked for")
    at_once = """
        select max(n) from (
            select count(*) as n
            from crontick.ticks as t
            join crontick.ticks as o on o.started_at <= t.started_at and o.ended_at > t.started_at
            where t.claimed > 0 and o.claimed > 0
            group by t.id
        ) as overlapping
    """
    assert one(at_once) in range(5, 9)
