"""``crontick dev``, as it is used: a terminal that tells, another one that asks, and an editor."""

import json
import os
import signal
from pathlib import Path

import httpx
import psycopg
import pytest

from tests.dev.developing import MAIN, descendants, develop, given, runs
from tests.worlds.process import Processes
from tests.worlds.waiting import until


def test_a_job_is_run_by_a_tick_and_its_mail_is_told_shortly(processes: Processes, project: Path) -> None:
    dev = develop(processes, project)
    dev.told("dev", "in another terminal")
    summary = json.loads(dev.curl("/cron/tick", "-X", "POST", "-H", "@.crontick/token"))
    assert (summary["ran"], summary["trigger"]) == (True, "curl")
    dev.command("enqueue", "hello", '{"name": "Ada"}')
    mail = dev.told("mail")
    assert (mail["to"], mail["subject"], mail["text"]) == ("ada@users.example", "Hello Ada", "One\nTwo\nThree\n…")
    told = dev.told("tick", "succeeded")
    assert (told["trigger"], told["warnings"]) == ("crontick dev", [])
    assert "test clock" not in "".join(one["message"] for one in dev.seen)
    assert json.loads(dev.command("status", "--json"))["environment"] == "dev"
    assert dev.shell('echo "$DATABASE_URL"').strip() == dev.database_url
    assert dev.end() == 0


def test_the_code_is_followed_and_a_syntax_error_is_survived(
    processes: Processes, project: Path, database: str
) -> None:
    dev = develop(processes, project, "main:app", env=given(database))
    dev.told("dev", "in another terminal")
    main = project / "main.py"
    assert dev.curl("/") == '"first"'
    main.write_text(main.read_text().replace("first", "second version"))
    assert dev.told("dev", "reloaded")["files"] == ["main.py"]
    assert dev.curl("/") == '"second version"'
    good = main.read_text()
    main.write_text(good + "x = (\n")
    fault = dev.told("error", "main:app cannot be imported: SyntaxError")
    assert "'(' was never closed" in fault["text"]
    assert "importlib" not in fault["text"]
    dev.told("dev", "did not start")
    answer = dev.curl("/orders", "-i", "--json", '{"id": 1}')
    assert answer.startswith("HTTP/1.1 503")
    assert "text/plain" in answer
    assert "main:app cannot be imported: SyntaxError" in answer
    assert "'(' was never closed" in answer
    main.write_text(good.replace("second", "third"))
    dev.told("dev", "reloaded")
    assert dev.curl("/") == '"third version"'
    dev.command("enqueue", "hello", '{"name": "Ada"}')
    dev.told("mail", "Hello Ada")
    assert dev.end(signal.SIGINT) == 0


def test_what_a_function_raises_is_shown_with_its_traceback(processes: Processes, project: Path, database: str) -> None:
    secret = "5f0d3a91c2" * 4
    env = given(database, CRONTICK_ADMIN_SECRET=secret, CRONTICK_AROUND="background:around")
    dev = develop(processes, project, env=env)
    dev.told("dev", "in another terminal")
    dev.command("enqueue", "wait", '{"name": "Ada"}')
    dev.told("tick", "snoozed 1")
    dev.command("enqueue", "stumble", '{"name": "Ada"}')
    error = dev.told("error", "stumble 2 raised ValueError in attempt 1")
    first, *_, last = error["text"].splitlines()
    assert first.startswith("Traceback")
    assert "crontick" not in error["text"].replace(str(project), "")
    assert last == "ValueError: \x1b[31mAda \x07fell over [redacted]"
    assert dev.told("tick", "failed 1")["errors"] == [{"job": 2, "kind": "stumble", "error": "ValueError"}]
    assert dev.printed == ["around wait", "around stumble"]
    dev.command("enqueue", "run_sql", '{"job": "purge"}')
    expected = dev.told("error", "run_sql 3 failed in attempt 1: crontick.toml has no such [[sql_job]]: purge")
    assert "text" not in expected
    assert [one["message"] for one in dev.seen if one["event"] == "error"] == [error["message"], expected["message"]]
    assert dev.end() == 0


def test_a_process_that_dies_under_a_job_is_started_again(processes: Processes, project: Path, database: str) -> None:
    dev = develop(processes, project, env=given(database))
    dev.told("dev", "in another terminal")
    dev.command("enqueue", "die", '{"name": "Ada"}')
    dev.told("dev", "the app ended by itself (status 3): started again")
    dev.command("enqueue", "hello", '{"name": "Ada"}')
    dev.told("mail", "Hello Ada")
    assert dev.end() == 0


@pytest.mark.parametrize("app", [(), ("main:app",)], ids=["own", "wrapped"])
def test_a_job_that_a_reload_cut_off_runs_again(
    processes: Processes, project: Path, database: str, app: tuple[str, ...]
) -> None:
    dev = develop(processes, project, *app, env=given(database))
    dev.told("dev", "in another terminal")
    page = next(one["page"] for one in dev.seen if "page" in one)
    asked = f'curl -sS -H "Authorization: Bearer $(cat .crontick/admin)" {page.removesuffix("/dashboard")}/api/pauses'
    assert dev.shell(asked) == '{"paused":[]}'
    assert "Admin secret" in dev.shell(f"curl -sS {page}/login")
    dev.command("enqueue", "linger", '{"name": "Ada"}')
    assert dev.printing() == "linger"
    (project / "second").touch()
    (project / "main.py").write_text(MAIN + "# changed\n")
    dev.told("dev", "reloaded")
    with psycopg.connect(dev.database_url) as conn:
        conn.execute("update crontick.test_clock set ahead = ahead + interval '10 minutes'")
    dev.told("tick", "succeeded 1")
    assert dev.printed == ["linger", "linger"]
    assert dev.end() == 0


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise ValueError(os.environ['CRONTICK_ADMIN_SECRET'] + '\\x1b[31m')", "ValueError: [redacted][31m"),
        ("sys.exit('no licence')", "SystemExit: no licence"),
        ("os._exit(3)", "the app did not start: the terminal of crontick dev has what it said"),
        ("app = FastAPI(lifespan=failing)", "RuntimeError: no connection"),
    ],
    ids=["raises", "exits", "dies", "fails in its startup"],
)
def test_whoever_calls_an_app_that_did_not_start_is_told_why_at_once(
    processes: Processes, project: Path, database: str, code: str, said: str
) -> None:
    failing = "async def failing(app):\n    raise RuntimeError('no connection')\n    yield\n"
    (project / "main.py").write_text(f"import os, sys\n{MAIN}\n{failing}\n{code}\n")
    dev = develop(processes, project, "main:app", env=given(database, CRONTICK_ADMIN_SECRET="5f0d3a91c2" * 4))
    dev.told("dev", "did not start")
    answer = dev.curl("/", "-i")
    assert answer.startswith("HTTP/1.1 503")
    assert said in answer
    dev.child.terminate()
    assert dev.child.wait() == 0


def test_an_app_that_is_slow_to_start_is_waited_for_only_so_long(
    processes: Processes, project: Path, database: str
) -> None:
    gate = project / "gate"
    os.mkfifo(gate)
    (project / "main.py").write_text(f"open({str(gate)!r}).read()\n{MAIN}")
    dev = develop(processes, project, "main:app", env=given(database))
    dev.told("dev", "in another terminal")
    assert "does not serve yet: call again" in dev.curl("/")
    gate.write_text("open")
    until(lambda: dev.curl("/") == '"first"', seconds=60)
    assert dev.end() == 0


def test_a_tick_is_told_whoever_called_it(processes: Processes, project: Path, database: str) -> None:
    dev = develop(processes, project, "main:app", options=("--every", "1h"), env=given(database))
    dev.told("dev", "in another terminal")
    until(lambda: json.loads(dev.command("ticks", "--json")), seconds=60)
    dev.command("enqueue", "hello", '{"name": "Ada"}')
    dev.curl("/cron/tick", "-X", "POST", "-H", "@.crontick/token")
    assert dev.told("tick", "called by curl")["succeeded"] >= 1
    assert dev.end() == 0


def test_requests_are_told_without_their_query_and_ticks_not_at_all(
    processes: Processes, project: Path, database: str
) -> None:
    dev = develop(processes, project, "main:app", env=given(database))
    dev.told("dev", "in another terminal")
    dev.curl("/cron/tick", "-X", "POST", "-H", "@.crontick/token")
    dev.curl("/?token=abc")
    dev.told("http")
    assert [one["message"] for one in dev.seen if one["event"] == "http"] == ["GET / 200"]
    assert dev.end() == 0


def test_control_c_reaches_all_and_nobody_complains(processes: Processes, project: Path) -> None:
    dev = develop(processes, project, "main:app")
    dev.told("dev", "in another terminal")
    dev.curl("/")
    group = descendants(dev.child.pid)
    served = next(pid for pid in group if "crontick.handler.dev.served" in Path(f"/proc/{pid}/cmdline").read_text())
    os.kill(served, signal.SIGINT)
    until(lambda: not runs(served))
    assert dev.end(signal.SIGINT) == 0
    assert dev.child.errors == ""
    last = json.loads(dev.child.rest()[-1])
    assert last["message"].startswith("ended; the data are kept in ")


def test_the_data_are_kept_and_what_only_this_run_may_use_is_not(processes: Processes, project: Path) -> None:
    first = develop(processes, project)
    first.told("dev", "in another terminal")
    assert {path.stat().st_mode & 0o777 for path in map((project / ".crontick").joinpath, ("token", "env"))} == {0o600}
    first.command("enqueue", "hello", '{"name": "Ada"}', "--in", "1h")
    assert first.end(signal.SIGHUP) == 0
    left = {path.name for path in (project / ".crontick").iterdir()}
    assert left == {".gitignore", "crontick.toml", "lock", "postgres"}
    second = develop(processes, project)
    second.told("dev", "in another terminal")
    assert "hello" in second.command("jobs")
    assert second.end() == 0


def test_a_second_one_in_the_same_folder_says_who_is_there(processes: Processes, project: Path) -> None:
    first = develop(processes, project)
    first.told("dev", "in another terminal")
    second = develop(processes, project)
    assert second.child.wait() == 1
    assert f"crontick dev runs in this folder already (process {first.child.pid})" in second.child.errors
    assert (project / ".crontick" / "token").exists()
    assert first.end() == 0


def test_a_killed_one_leaves_nothing_running_either(processes: Processes, project: Path) -> None:
    dev = develop(processes, project, "main:app")
    dev.told("dev", "in another terminal")
    dev.curl("/")
    assert dev.end(signal.SIGKILL) == -9
    with pytest.raises(httpx.ConnectError):
        httpx.get(dev.url, trust_env=False)
