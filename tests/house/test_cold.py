"""What a cold idle tick imports: every module of ours is time that each call to a sleeping app pays."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.bench.cold import BARE, IDLE_TICK, environ

OURS: Final = {
    "crontick.handler": """
        app asgi auth body front health lazily logs paths problem shutdown starting tick_door trigger watchdog wrap
    """,
    "crontick.jobs": """
        ask_again backoff batch bounds caller claiming clock config_error connect context count database_url deployment
        deployment_hash durations ending enqueue environ exchange findings foreign_urls interrupts job keep kind kinds
        lend link memory once opening outcomes outward_sections payload process redact remind reminders request
        resolve run seats secrets sections settings settling shared signals stop summary supplies texts threads
        tick tick_secrets together unavailable
    """,
    "crontick.jobs.kinds": """
        addresses attachment deliver_webhook generate_report mail run_sql send_email settings sql_job
    """,
    "crontick.sql": "wire",
}
"""A new one belongs here only if an idle tick cannot do without it: else import it where it is used."""
CONFIGURED: Final = {f"crontick.jobs.{name}" for name in ("config", "fit", "toml_lines")}
"""What reading a ``crontick.toml`` adds, whatever is in it."""
TABLES: Final = """
[http]
allow = ["localhost"]

[retention]
succeeded = "3d"

[fan_out]
max_per_hour = 10

[kinds.send_email]
needs = 5
"""
SCHEDULES: Final = """
[[schedule]]
name = "yearly"
cron = "0 0 1 1 *"
tz = "Europe/Berlin"
kind = "run_sql"
"""


def told(script: str, url: str, folder: Path) -> str:
    """What it prints in a fresh process."""
    ran = subprocess.run([sys.executable, "-c", script], env=environ(url), cwd=folder, capture_output=True, check=True)
    return ran.stdout.decode().strip()


def imported(script: str, url: str, folder: Path) -> set[str]:
    return set(told(script + "\nimport sys; print(*sys.modules)", url, folder).split())


def ours(modules: set[str]) -> set[str]:
    return {name for name in modules if name.startswith("crontick")}


@pytest.fixture
def known() -> set[str]:
    named = {f"{package}.{name}" for package, names in OURS.items() for name in names.split()}
    return named | {"crontick"} | OURS.keys()


def test_an_idle_tick_imports_these_modules_of_ours_and_no_other(
    database: str, tmp_path: Path, known: set[str]
) -> None:
    assert ours(imported(IDLE_TICK, database, tmp_path)) == known


def test_a_configuration_adds_what_reads_it(database: str, tmp_path: Path, known: set[str]) -> None:
    (tmp_path / "crontick.toml").write_text(TABLES)
    assert ours(imported(IDLE_TICK, database, tmp_path)) == known | CONFIGURED | {"crontick.jobs.overriding"}


def test_of_schedules_an_idle_tick_imports_the_declarations_and_neither_expressions_nor_zones(
    database: str, tmp_path: Path, known: set[str]
) -> None:
    (tmp_path / "crontick.toml").write_text(SCHEDULES)
    imported(IDLE_TICK, database, tmp_path)  # the first one puts them in force
    loaded = imported(IDLE_TICK, database, tmp_path)
    assert ours(loaded) == known | CONFIGURED | {"crontick.jobs.schedules"}
    assert loaded & {"cronsim", "tzdata"} == set()  # psycopg has imported zoneinfo


def test_what_operators_see_costs_an_idle_tick_nothing(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRONTICK_ADMIN_SECRET", "a81c5e0f7d2b43968e1f0c7a5d3b2914")
    loaded = imported(IDLE_TICK, database, tmp_path)
    assert [name for name in loaded if name.startswith(("crontick.handler.dashboard", "jinja2", "markupsafe"))] == []


def test_of_others_an_idle_tick_imports_little_that_a_bare_function_does_not(database: str, tmp_path: Path) -> None:
    more = imported(IDLE_TICK, database, tmp_path) - imported(BARE, database, tmp_path)
    assert {name.partition(".")[0] for name in more} == {"crontick", "faulthandler", "gc", "msgspec", "resource"}


def test_a_process_of_ours_leaves_what_it_imported_out_of_every_later_collection(database: str, tmp_path: Path) -> None:
    asked = "import gc; print(gc.isenabled(), gc.get_freeze_count() > 1000)"
    assert told(f"import crontick.handler.asgi; {asked}", database, tmp_path) == "True True"
    assert told(f"import crontick.handler.aws; {asked}", database, tmp_path) == "True True"
    assert told(f"import gc; gc.disable(); import crontick.handler.asgi; {asked}", database, tmp_path) == "False True"
    refused = f"import os; del os.environ['CRON_SECRET']\ntry: import crontick.handler.asgi\nexcept SystemExit: {asked}"
    assert told(refused, database, tmp_path) == "True True"


def test_the_collector_of_somebody_elses_process_is_left_alone(database: str, tmp_path: Path) -> None:
    wrapped = "import gc; from crontick.handler import wrap; wrap(print); print(gc.isenabled(), gc.get_freeze_count())"
    assert told(wrapped, database, tmp_path) == "True 0"


ENGINE_IMPORTED: Final = """
import asyncio, select, socket, sys
from crontick.handler.front import run_tick
from crontick.jobs.deployment import load_deployment
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings

server = socket.create_server(("127.0.0.1", 0))

class Watch:
    def find_spec(self, name, path, target=None):
        if name == "crontick.jobs.tick":
            print(bool(select.select([server], [], [], 30)[0]))
            sys.exit()

sys.meta_path.insert(0, Watch())
environ = {"CRONTICK_DATABASE_URL": f"postgresql://127.0.0.1:{server.getsockname()[1]}/x"}
asyncio.run(run_tick(load_deployment(Settings.from_environ(environ)), TickRequest()))
"""


def test_a_cold_tick_connects_while_it_imports_its_engine(database: str, tmp_path: Path) -> None:
    assert told(ENGINE_IMPORTED, database, tmp_path) == "True"
