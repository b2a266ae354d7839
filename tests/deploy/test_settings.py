"""What the files of ``deploy/`` set is right for their platform, agrees with the release, and holds no secret."""

import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from crontick.handler.init import template_set
from crontick.jobs.settings import SECRETS, Settings
from crontick.sql import VERSION
from tests.deploy.folder import DEPLOY, commands, compose, read
from tests.worlds.process import ROOT

SETTLING_SECONDS = 5
WAKING_SECONDS = 20
FIRST = {
    "image": "image/Dockerfile",
    "cloudrun": "cloudrun/service.yaml",
    "fly": "fly/fly.toml",
    "render": "render/render.yaml",
    "vercel": "vercel/api/cron/tick.py",
    "crontab": "crontab/crontab",
    "compose": "compose/compose.yaml",
}
"""The file of each folder that says at its top how it is used."""


def cloudrun() -> tuple[dict[str, str], dict[str, Any]]:
    spec = read("cloudrun/service.yaml")["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    return {one["name"]: one["value"] for one in container["env"] if "value" in one}, spec


def vercel() -> dict[str, str]:
    text = (DEPLOY / "vercel/api/cron/tick.py").read_text()
    return dict(re.findall(r'setdefault\("(\w+)", "(.*)"\)', text))


def render() -> dict[str, str]:
    (group,) = read("render/render.yaml")["envVarGroups"]
    return {one["key"]: one["value"] for one in group["envVars"]}


def set_by_each() -> Iterator[tuple[str, dict[str, str]]]:
    yield "cloudrun", cloudrun()[0]
    yield "vercel", vercel()
    yield "render", render()
    yield "fly", read("fly/fly.toml")["env"]
    yield "compose", {name: text for name, text in compose("app")["environment"].items() if "$" not in text}


def seconds(text: str) -> int:
    return int(text.removesuffix("s"))


def test_the_settings_are_settings_and_within_p4() -> None:
    for name, environ in set_by_each():
        settings = Settings.from_environ(environ)
        assert (settings.budget_seconds, settings.modules) == (25, ()), name
        assert "CRONTICK_BUDGET_SECONDS" in environ, name


def test_where_the_host_kills_a_request_it_is_told_and_elsewhere_it_is_not() -> None:
    environ, spec = cloudrun()
    assert int(environ["CRONTICK_HOST_LIMIT_SECONDS"]) == spec["timeoutSeconds"]
    (function,) = read("vercel/vercel.json")["functions"].values()
    assert int(vercel()["CRONTICK_HOST_LIMIT_SECONDS"]) == function["maxDuration"]
    told = [name for name, environ in set_by_each() if "CRONTICK_HOST_LIMIT_SECONDS" in environ]
    assert told == ["cloudrun", "vercel"]


def test_a_stop_leaves_a_running_tick_the_time_to_end() -> None:
    enough = Settings().budget_seconds + SETTLING_SECONDS
    assert read("fly/fly.toml")["kill_timeout"] >= enough
    assert seconds(compose("app")["stop_grace_period"]) >= enough
    (seconds_said,) = re.findall(r"--stop-timeout (\d+)", (DEPLOY / "image/Dockerfile").read_text())
    assert int(seconds_said) >= enough


def test_no_caller_gives_up_while_a_tick_may_still_run() -> None:
    texts = [(DEPLOY / FIRST[name]).read_text() for name in ("crontab", "compose")]
    texts.append((DEPLOY / "cloudrun/deploy.sh").read_text())
    patience = [int(found) for text in texts for found in re.findall(r"--max-time (\d+)", text)]
    assert len(patience) == 3
    assert min(patience) > Settings().budget_seconds + WAKING_SECONDS
    (deadline,) = re.findall(r"--attempt-deadline=(\d+)s", texts[-1])
    assert int(deadline) > cloudrun()[1]["timeoutSeconds"]


def test_the_image_is_installed_from_what_is_locked() -> None:
    entry = re.compile(r"^([a-z0-9-]+==\S+).*\\\n((?:    --hash=sha256:[0-9a-f]{64}.*\n)+)", re.MULTILINE)
    locked = {
        found[1]: set(re.findall(r"[0-9a-f]{64}", found[2])) for found in entry.finditer(text("requirements.lock"))
    }
    image = text("deploy/image/requirements.txt")
    found = {one[1]: set(re.findall(r"[0-9a-f]{64}", one[2])) for one in entry.finditer(image)}
    assert len(found) == len(re.findall(r"^\S", image, re.MULTILINE)) > 20
    assert {name: locked.get(name) for name in found} == found
    assert {"uvicorn", "typer", "psycopg-binary", "aiosmtplib", "cryptography"} <= {one.split("==")[0] for one in found}


def test_what_is_installed_is_this_release() -> None:
    assert f"ARG CRONTICK={VERSION}\n" in text("deploy/image/Dockerfile")
    assert text("deploy/vercel/requirements.txt") == f"crontick[email]=={VERSION}\n"


def test_no_file_has_a_secret() -> None:
    """A value behind the name of a secret, or of a URL with a password, is a variable's, or none."""
    names = "|".join([*SECRETS, "CRONTICK_DATABASE_URL", "POSTGRES_PASSWORD", "CRONTICK_MIGRATE_URL"])
    given = re.compile(rf"\b(?:{names})\b[\"']?\s*[:=]\s*[\"']?([^\s\"'#]+)")
    paths = [path for path in DEPLOY.rglob("*") if path.is_file() and "examples" not in path.parts]
    values = {value for path in paths for value in given.findall(path.read_text())}
    allowed = re.compile(r"\$|.*…|postgresql://acme:\$\{POSTGRES_PASSWORD\}@|postgresql://[^@]+$")
    assert [value for value in values if not allowed.match(value)] == []


@pytest.mark.parametrize("name", FIRST)
def test_each_says_at_its_top_how_it_is_run_what_it_costs_and_how_precise_and_limited_it_is(name: str) -> None:
    top = text(f"deploy/{FIRST[name]}").lower()
    assert [word for word in ("run it", "costs", "limits", "november 2026") if word not in top] == []
    then = template_set(name).then
    assert len(then) == 3
    assert [command for command in then if command not in commands(FIRST[name])] == []


def test_the_image_and_compose_start_and_ask_the_same_server() -> None:
    dockerfile = text("deploy/image/Dockerfile")
    (command,) = re.findall(r"^CMD (\[.*\])$", dockerfile, re.MULTILINE)
    (check,) = re.findall(r"^HEALTHCHECK .*CMD (\[.*\])$", dockerfile, re.MULTILINE)
    assert compose("app")["command"] == json.loads(command)
    assert compose("app")["healthcheck"]["test"] == ["CMD", *json.loads(check)]


def text(path: str | Path) -> str:
    return (ROOT / path).read_text()


def test_nothing_runs_as_root_or_writes() -> None:
    assert "\nUSER 65532:65532\n" in text("deploy/image/Dockerfile")
    for name in ("app", "migrate", "ticker"):
        service = compose(name)
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
        assert service["security_opt"] == ["no-new-privileges:true"]
    published = chain.from_iterable(one.get("ports", []) for one in read("compose/compose.yaml")["services"].values())
    assert all(port.startswith("127.0.0.1:") for port in published)
