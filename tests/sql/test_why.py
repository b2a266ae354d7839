"""crontick.why: one true sentence for every reason to wait and every way to end, with the mend."""

import re

import pytest

from tests.sql.conftest import Sql


def why(sql: Sql, job: int) -> str:
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \w+", "T", sql.one("select crontick.why(%s)", job))


def test_a_job_that_is_not_there(sql: Sql) -> None:
    assert why(sql, 4711) == "there is no job 4711: there never was one, or it has ended and its time is over"


def test_succeeded(sql: Sql) -> None:
    job = sql.enqueue()
    sql.claim()
    sql.settle(job, "succeeded")
    assert why(sql, job) == "succeeded at T, in attempt 1"


def test_cancelled(sql: Sql) -> None:
    job = sql.enqueue()
    sql.one("select crontick.cancel(%s, 'ann', 'typo')", job)
    assert why(sql, job) == "cancelled at T: cancelled by ann: typo"


def test_dead(sql: Sql) -> None:
    job = sql.dead("503 from crm")
    assert (
        why(sql, job)
        == f"dead since T after 1 of 3 attempts: 503 from crm: `crontick dead requeue {job}` once the cause is mended"
    )


def test_a_payload_that_does_not_fit_is_not_mended_by_hurrying_it(sql: Sql) -> None:
    job = sql.enqueue()
    sql.claim()
    sql.settle(job, "failed", error="it does not fit", delay_seconds=300, fingerprint="crontick:payload")
    assert why(sql, job) == (
        "attempt 1 failed at T (it does not fit): once code is deployed that takes this payload it runs by itself,"
        f" at T; else enqueue it again with a payload that fits, and `crontick cancel {job}`"
    )
    sql.later("301 s")
    sql.claim(claim=12)
    sql.settle(job, "dead", claim=12, error="it does not fit", fingerprint="crontick:payload")
    assert why(sql, job) == (
        f"dead since T after 2 of 3 attempts: it does not fit: `crontick dead requeue {job} --payload JSON` with one"
        " that fits, or without it once code is deployed that takes this one"
    )


def test_dead_and_requeued(sql: Sql) -> None:
    job = sql.dead()
    copy = sql.one("select crontick.requeue(%s, 'ann', 'mended')", job)
    assert why(sql, job) == f"dead, and requeued as job {copy} by ann at T"


def test_dead_and_ignored(sql: Sql) -> None:
    job = sql.dead()
    sql.rows("select crontick.ignore(%s, 'ann', 'known')", job)
    assert why(sql, job) == "dead, and ignored by ann at T: known"


def test_dead_in_doubt(sql: Sql) -> None:
    job = sql.doubtful("order:7")
    said = why(sql, job)
    assert said.startswith('dead in doubt since T: nobody knows whether "order:7" was sent')
    assert "`crontick doubts sent mail order:7`" in said


def test_running_and_asked_to_stop(sql: Sql) -> None:
    job = sql.enqueue()
    sql.claim()
    assert why(sql, job) == f"runs since T in tick {sql.one('select id from crontick.ticks')}, attempt 1, lease until T"
    sql.one("select crontick.cancel(%s, 'ann')", job)
    assert why(sql, job).endswith("lease until T; ann asked it to stop")


def test_running_under_a_lease_that_ran_out(sql: Sql) -> None:
    job = sql.enqueue()
    sql.claim()
    sql.later("1 minute")
    assert why(sql, job) == "its process died or froze: the lease ran out at T, and the next tick takes it back"


@pytest.mark.parametrize(
    ("what", "name", "said"),
    [
        ("all", "", "everything is paused since T by ann (deploy): `crontick resume all`"),
        ("queue", "post", "queue post is paused since T by ann (deploy): `crontick resume queue post`"),
        ("kind", "mail", "kind mail is paused since T by ann (deploy): `crontick resume kind mail`"),
        ("group", "g", "group g is paused since T by ann (deploy): `crontick resume group g`"),
    ],
)
def test_paused(sql: Sql, what: str, name: str, said: str) -> None:
    job = sql.enqueue(group_key="g")
    sql.rows("select crontick.pause(%s, %s, 'ann', 'deploy')", what, name)
    assert why(sql, job) == said


def test_first_in_line_of_a_group(sql: Sql) -> None:
    assert why(sql, sql.enqueue(group_key="g")) == "is next in line of group g: the next tick lets it go"


def test_behind_the_head_of_a_group(sql: Sql) -> None:
    head, job = sql.enqueue(group_key="g"), sql.enqueue(group_key="g")
    sql.claim()
    assert why(sql, job) == f"waits for job {head}, first of group g, which runs: `crontick why {head}`"
    sql.settle(head, "failed", error="no", delay_seconds=600)
    assert why(sql, job) == f"waits for job {head}, first of group g, which tries again at T: `crontick run-now {head}`"


def test_behind_a_head_that_waits_itself(sql: Sql) -> None:
    head, job = sql.enqueue("mial", group_key="g"), sql.enqueue(group_key="g")
    sql.claim()
    assert why(sql, job) == f"waits for job {head}, first of group g, which waits itself: `crontick why {head}`"


def test_of_a_kind_that_the_tick_did_not_know(sql: Sql) -> None:
    job = sql.enqueue("mial")
    assert "no tick has come yet" in why(sql, job)
    sql.claim()
    assert why(sql, job) == (
        "no tick since it was enqueued knew the kind mial: deploy code that has it (CRONTICK_MODULES), or cancel"
        f" the job: `crontick cancel {job}`"
    )


def test_suspect(sql: Sql) -> None:
    job = sql.enqueue()
    sql.claim()
    sql.later("1 minute")
    sql.claim(claim=12, kinds=("other",))
    assert why(sql, job).startswith("a process died under it (the process died or froze under it: its lease ran out)")


def test_failed_and_waiting(sql: Sql) -> None:
    job = sql.enqueue()
    sql.claim()
    sql.settle(job, "failed", error="503 from crm", delay_seconds=60)
    assert why(sql, job) == f"attempt 1 failed at T (503 from crm): tries again at T: `crontick run-now {job}`"


def test_not_due_yet(sql: Sql) -> None:
    job = sql.enqueue(run_at="2027-01-01T00:00Z")
    assert why(sql, job) == f"is not due before T: `crontick run-now {job}`"


def test_due_and_no_tick_ever_came(sql: Sql) -> None:
    assert why(sql, sql.enqueue()) == "due since T, but no tick has come yet: call POST /cron/tick"


def test_due_and_no_tick_came_since(sql: Sql) -> None:
    sql.claim()
    sql.later("1 hour")
    assert (
        why(sql, sql.enqueue())
        == "due since T, but no tick has come since T (curl): call POST /cron/tick, or look at its trigger"
    )


def test_due_while_the_last_tick_runs(sql: Sql) -> None:
    sql.enqueue()
    job = sql.enqueue()
    sql.claim()
    tick = sql.one("select id from crontick.ticks")
    assert why(sql, job) == (
        f"due since T; tick {tick} runs since T and has yet to take it: it does while seats and time are left,"
        " else the next one does"
    )
    sql.rows("update crontick.deployments set queue_seats = '{\"post\": 1}'")
    assert why(sql, job) == (
        f"due since T; [queues.post] seats = 1: so many jobs of its queue run in tick {tick}, which takes the next when"
        " one has ended; to let more run at once, raise it in crontick.toml"
    )
    sql.later("1 minute")
    assert why(sql, job) == "due since T; the last tick, at T, died or froze: the next one goes on"


def test_due_and_the_last_tick_had_no_room(sql: Sql) -> None:
    job = sql.enqueue()
    sql.claim(seats=0)
    sql.rows("update crontick.ticks set ended_at = crontick.now(), stop_reason = 'budget'")
    said = "due since T; the last tick, at T, had no room for it (it ended with budget{}): the next one goes on"
    assert why(sql, job) == said.format("")
    sql.rows("update crontick.deployments set queue_seats = '{\"post\": 1}'")
    assert why(sql, job) == said.format("; [queues.post] seats = 1 lets so many of its queue run at once")


def test_hurrying_does_not_help_while_its_target_fails_or_its_limit_is_full(sql: Sql) -> None:
    sql.rows("update crontick.kinds set breaker = true")
    job = sql.enqueue()
    sql.claim()
    sql.settle(job, "failed", error="503", delay_seconds=600)
    limits = '[{"name": "slow", "kinds": ["mail"], "concurrency": 0, "said": "0 at once"}]'
    sql.rows("update crontick.deployments set limits = %s", limits)
    sql.rows(
        "insert into crontick.limit_lines (hold, limit_name, key, said)"
        " select hold, name, key, '0 at once' from crontick.lines_of(%s, 'mail', 'post', '{}')",
        limits,
    )
    full = (
        "waits for limit slow (0 at once): there is no room now: it goes by itself; to let more go,"
        " change [limits.slow] in crontick.toml"
    )
    assert why(sql, job) == f"attempt 1 failed at T (503): tries again at T; it {full}"
    sql.rows("select crontick.open_breaker('kind:mail', 'ann', 'down')")
    broken = "waits for kind:mail, whose breaker ann opened at T (down): `crontick breakers close kind:mail`"
    assert why(sql, job) == f"attempt 1 failed at T (503): tries again at T; it {broken}"
    sql.rows("select crontick.run_now(%s, 'ann')", job)
    assert why(sql, job) == broken


def test_what_a_target_that_failed_holds_of_a_kind_that_nobody_knows_is_not_tried(sql: Sql) -> None:
    sql.rows("update crontick.kinds set breaker = true")
    job = sql.enqueue()
    sql.rows("select crontick.open_breaker('kind:mail', 'ann', 'down')")
    sql.rows("update crontick.breakers set retry_at = crontick.now(), by = 'crontick'")
    sql.rows("update crontick.unfinished_jobs set held_by = (select hold from crontick.breakers), due_at = 'infinity'")
    sql.later("25 hours")
    assert "no deployment of the last day knows the kind mail" in why(sql, job)
