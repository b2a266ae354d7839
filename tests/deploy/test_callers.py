"""Every caller of ``deploy/`` ticks, takes nothing but a tick's answer for one, and shows its token to nobody."""

from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from cronsim import CronSim

from tests.deploy.callers import CALLERS, Caller, by_cloudrun, calling, noted
from tests.deploy.folder import crontab, read
from tests.door.deployed import environ, uvicorn
from tests.door.serving import TOKEN
from tests.worlds.http_receiver import Answer, HttpReceiver, http_receiver
from tests.worlds.waiting import until

SOON = {"retry-after": "1"}
TICKED = Answer(200, b'{"tick":1,"ran":true}', {"content-type": "application/json"})
REFUSED = {
    "a redirect": Answer(302, b"<html>Log in</html>", {"location": "/login"}),
    "a login page": Answer(200, b"<html>Log in</html>"),
    "another route": Answer(200, b'{"status":"ok"}'),
    "a tick's answer that is none": Answer(202, b'{"tick":1,"ran":true}'),
    "a wrong token": Answer(401, b'{"detail":"the token is missing or wrong"}'),
}


def has_failed(name: str, caller: Caller) -> bool:
    """As its host sees it: cron mails what is said, Compose and whoever deploys look at the status."""
    status, said, complained = caller.ended()
    return "no tick at" in said + complained and (name == "crontab" or status == 1)


def has_ticked(name: str, caller: Caller) -> bool:
    if name == "compose":  # goes on to wait for its next time
        assert caller.process.stdout is not None
        return '"ran":true' in caller.process.stdout.readline()
    status, said, complained = caller.ended()
    return (status, complained) == (0, "") and (name != "crontab" or said == "")


def test_each_ticks(database: str, sync_conn: psycopg.Connection[Any], tmp_path: Path) -> None:
    with uvicorn(environ(database)) as (host, port), ExitStack() as stack:
        url = f"http://{host}:{port}"
        callers = {name: stack.enter_context(calling(name, tmp_path / name, url)) for name in CALLERS}
        assert [name for name, caller in callers.items() if not has_ticked(name, caller)] == []
    assert sync_conn.execute("select trigger from crontick.ticks").fetchall() == [("curl",)] * len(CALLERS)


@pytest.mark.parametrize("name", CALLERS)
def test_what_is_no_tick_s_answer_is_a_failure_at_once_and_what_may_pass_is_tried_again(
    name: str, tmp_path: Path
) -> None:
    with ExitStack() as stack:

        def begin(case: str, *answers: Answer) -> tuple[HttpReceiver, Caller]:
            receiver = stack.enter_context(http_receiver())
            receiver.answers.extend(answers)
            receiver.otherwise = answers[-1]
            return receiver, stack.enter_context(calling(name, tmp_path / case, receiver.url))

        refused = {case: begin(case, answer) for case, answer in REFUSED.items()}
        waking = begin("waking", Answer(503, b"{}", SOON), TICKED)
        down = begin("down", Answer(503, b"{}", SOON))
        for case, (receiver, caller) in refused.items():
            assert has_failed(name, caller), case
            assert len(receiver.requests) == 1, case
        assert has_ticked(name, waking[1])
        assert has_failed(name, down[1])
        assert (len(waking[0].requests), len(down[0].requests)) == (2, 4)
        for receiver, _ in (*refused.values(), waking, down):
            sent = {(one.method, one.target, one.headers["authorization"]) for one in receiver.requests}
            assert sent == {("POST", "/cron/tick", f"Bearer {TOKEN}")}


def test_no_command_line_has_the_token(tmp_path: Path) -> None:
    with ExitStack() as stack:
        receiver = stack.enter_context(http_receiver())
        receiver.otherwise = Answer(hang=True)
        for name in CALLERS:
            stack.enter_context(calling(name, tmp_path / name, receiver.url))
        until(lambda: len(receiver.requests) == len(CALLERS))
        seen = command_lines()
    assert sum(b"curl" in one and receiver.url.encode() in one for one in seen) == len(CALLERS)
    assert not any(TOKEN.encode() in one for one in seen)


def command_lines() -> list[bytes]:
    """Of every process on this machine."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended
            found.append(path.read_bytes())
    return found


def test_only_the_owner_reads_the_crontab_s_token(tmp_path: Path, http_receiver: HttpReceiver) -> None:
    with calling("crontab", tmp_path / "home", http_receiver.url):
        assert (tmp_path / "home" / ".crontick-header").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(("no_job_yet", "verb", "headers"), [(1, "create", "headers"), (0, "update", "update-headers")])
def test_cloud_scheduler_gets_the_token_in_a_file_once_a_tick_has_succeeded(
    tmp_path: Path, http_receiver: HttpReceiver, no_job_yet: int, verb: str, headers: str
) -> None:
    http_receiver.otherwise = TICKED
    assert has_ticked("cloudrun", by_cloudrun(tmp_path, http_receiver.url, no_job_yet=no_job_yet))
    lines = noted(tmp_path)
    (at,) = (at for at, line in enumerate(lines) if line.startswith(f"gcloud scheduler jobs {verb} http acme-jobs "))
    assert f"--uri={http_receiver.url}/cron/tick" in lines[at]
    assert lines[at + 1 :] == [f"--{headers}:", f' Authorization: "Bearer {TOKEN}"']
    asked = [line.split(" --")[0] for line in lines[: at + 1]]
    assert asked.index("docker push europe-west1-docker.pkg.dev/acme-project/acme-jobs/acme-jobs") < at
    assert not any(TOKEN in line for line in lines if line.startswith(("gcloud ", "docker ")))


def test_nothing_calls_a_service_that_did_not_tick(tmp_path: Path, http_receiver: HttpReceiver) -> None:
    http_receiver.otherwise = REFUSED["a redirect"]
    with calling("cloudrun", tmp_path / "home", http_receiver.url) as caller:
        assert has_failed("cloudrun", caller)
    assert not any("scheduler" in line for line in noted(tmp_path / "home"))


def test_the_times_are_off_the_hour_where_the_hour_is_crowded_and_cron_s_own_language() -> None:
    (render, _) = read("render/render.yaml")["services"]
    for expression in (crontab()[0], render["schedule"]):
        assert expression == "7,22,37,52 * * * *"
    (vercel,) = read("vercel/vercel.json")["crons"]
    for expression in (crontab()[0], vercel["schedule"]):
        slots = CronSim(expression, datetime(2026, 11, 30, tzinfo=UTC))
        first, second = next(slots), next(slots)
        assert (second - first).total_seconds() == 900
