"""``crontick init NAME`` writes the folders of ``deploy/``, filled in, and over nothing without being told to."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from crontick.handler.init import Answers, found, names, template_set, write
from tests.dev.developing import COMMAND
from tests.init.test_init import crontick
from tests.worlds.process import ROOT

FOLDERS = sorted(path.name for path in (ROOT / "deploy").iterdir() if path.is_dir() and path.name != "examples")
NEEDED = "CRONTICK_DATABASE_URL=… CRON_SECRET=… CRONTICK_ADMIN_SECRET=…"
ACME = Answers("acme-background", "https://jobs.acme.example", "acme.background,acme.more")


def source(target: str, name: str) -> str:
    """The file of ``deploy/`` that a written one was made of."""
    path = ROOT / target
    return (path if path.is_file() else ROOT / "deploy" / name / target).read_text()


def test_all_folders_can_be_written() -> None:
    assert set(names()) == {"project", "github", *FOLDERS}
    assert {"image", "cloudrun", "fly", "render", "vercel", "crontab", "compose"} <= set(FOLDERS)


@pytest.mark.parametrize("name", FOLDERS)
def test_what_is_written_is_the_folder_filled_in(tmp_path: Path, name: str) -> None:
    plain = write(template_set(name), tmp_path / "plain")
    assert plain.written
    assert (plain.kept, [target for target in plain.written if target.endswith("init.toml")]) == ((), [])
    for target in plain.written:
        assert (tmp_path / "plain" / target).read_text() == source(target, name)
    done = write(template_set(name), tmp_path / "filled", answers=ACME)
    assert done.written == plain.written
    for target in done.written:
        before, text = source(target, name), (tmp_path / "filled" / target).read_text()
        assert "acme-jobs" not in text
        assert text.count(ACME.app) == before.count("acme-jobs") - before.count("https://acme-jobs.")
        settings = re.findall(r'CRONTICK_MODULES\W+(?:value: )?"([^"]*)"', text)
        assert settings == [ACME.modules] * len(re.findall(r'CRONTICK_MODULES\W+(?:value: )?""', before))
        assert text.count(str(ACME.url)) == before.count(str(template_set(name).url))
    assert not any("acme-jobs" in command for command in done.then)


def test_each_folder_that_runs_kinds_is_told_which() -> None:
    for path in ("cloudrun/service.yaml", "fly/fly.toml", "render/render.yaml", "compose/compose.yaml"):
        assert "CRONTICK_MODULES" in (ROOT / "deploy" / path).read_text()


def test_three_steps_come_next_and_the_answers_are_found_in_the_project(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "Acme_Shop"\n')
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "background.py").touch()
    done = crontick(tmp_path, "init", "fly")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "wrote deploy/fly/fly.toml"
    assert done.stdout.partition("next:\n")[2].splitlines() == [
        "    fly apps create acme-shop",
        f"    fly secrets import --app acme-shop    # reads from the terminal: {NEEDED}",
        "    fly deploy --config deploy/fly/fly.toml",
    ]
    text = (tmp_path / "deploy" / "fly" / "fly.toml").read_text()
    assert '\napp = "acme-shop"\n' in text
    assert '\nCRONTICK_MODULES = "acme.background"\n' in text
    assert '\nCRONTICK_PUBLIC_URL = "https://acme-shop.fly.dev"\n' in text


@pytest.mark.parametrize(
    ("files", "app", "modules"),
    [
        ({"package.json": '{"name": "@acme/Web App"}'}, "acme-web-app", ""),
        ({"pyproject.toml": "not toml", "package.json": "[]", "background.py": ""}, "folder-1", "background"),
        ({"pyproject.toml": '[project]\nname = "12-3"'}, "folder-1", ""),
        ({"pyproject.toml": f'[project]\nname = "{"long-" * 9}"'}, "long-long-long-long-long-long", ""),
        ({"a/background.py": "", "b/background.py": ""}, "folder-1", ""),
        ({"not a package/background.py": ""}, "folder-1", ""),
    ],
)
def test_what_a_project_tells_of_itself(tmp_path: Path, files: dict[str, str], app: str, modules: str) -> None:
    project = tmp_path / "7 Folder_1"
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    guessed = found(project)
    assert (guessed.app, guessed.modules, guessed.faults()) == (app, modules, [])


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("--app", value) for value in ("Acme", "acme jobs", "-acme", "acme-", 'a"b', "a" * 31, "a\nb")),
        *(("--url", value) for value in ("app.example", "https://", "https://a b", 'https://a"b', "file:///etc")),
        *(("--modules", value) for value in ("acme background", 'acme"', "acme,", "1acme", "acme\n")),
    ],
)
def test_what_would_break_a_file_is_refused(option: str, value: str) -> None:
    given = {"--app": Answers(app=value), "--url": Answers(url=value), "--modules": Answers(modules=value)}
    (said,) = given[option].faults()
    assert repr(value) in said


def test_a_file_that_is_there_is_kept_and_written_over_with_yes(tmp_path: Path) -> None:
    (tmp_path / "vercel.json").write_text("theirs")
    kept = crontick(tmp_path, "init", "vercel")
    assert (kept.returncode, "kept vercel.json" in kept.stdout) == (0, True)
    assert (tmp_path / "vercel.json").read_text() == "theirs"
    over = crontick(tmp_path, "init", "vercel", "--yes", "--json")
    assert '"written": ["vercel.json"]' in over.stdout
    assert (tmp_path / "vercel.json").read_text() == (ROOT / "deploy/vercel/vercel.json").read_text()


@pytest.mark.parametrize(("answer", "left"), [("n", "theirs"), ("y", "crons")])
def test_on_a_terminal_it_asks(tmp_path: Path, answer: str, left: str) -> None:
    (tmp_path / "vercel.json").write_text("theirs")
    ours, its = pty.openpty()
    command = [sys.executable, "-c", COMMAND, str(tmp_path), "init", "vercel"]
    with subprocess.Popen(command, stdin=its, stdout=subprocess.PIPE, text=True) as process:
        os.write(ours, f"{answer}\n".encode())
        said, _ = process.communicate(timeout=60)
    os.close(ours)
    os.close(its)
    assert "write over vercel.json?" in said
    assert left in (tmp_path / "vercel.json").read_text()


def test_a_wrong_answer_is_named_and_nothing_written(tmp_path: Path) -> None:
    done = crontick(tmp_path, "init", "fly", "--app", "Acme Jobs")
    assert (done.returncode, "Acme Jobs" in done.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_the_variables_that_the_configuration_names_are_filled_in_or_asked_for(tmp_path: Path) -> None:
    (tmp_path / "crontick.toml").write_text(
        '[email]\nurl_env = "SMTP_URL"\n[[webhook_endpoint]]\nsecret_env = ["CRM_SECRET", "no name"]\n'
    )
    answers = found(tmp_path)
    assert answers.variables == ("SMTP_URL", "CRM_SECRET")
    asked = {}
    for name in FOLDERS:
        then = write(template_set(name), tmp_path / name, answers=answers).then
        asked[name] = all(any(variable in command for command in then) for variable in answers.variables)
    assert {name for name, is_asked in asked.items() if not is_asked} == {"cloudrun", "crontab"}
    compose = yaml.safe_load((tmp_path / "compose/deploy/compose/compose.yaml").read_text())["services"]["app"]
    assert compose["environment"]["SMTP_URL"] == "${SMTP_URL:?crontick.toml names it}"
    cron, web = yaml.safe_load((tmp_path / "render/render.yaml").read_text())["services"]
    assert {"key": "CRM_SECRET", "sync": False} in web["envVars"]
    assert [one["fromService"]["envVarKey"] for one in cron["envVars"] if one.get("key") == "CRM_SECRET"] == [
        "CRM_SECRET"
    ]
    service = yaml.safe_load((tmp_path / "cloudrun/deploy/cloudrun/service.yaml").read_text())
    (container,) = service["spec"]["template"]["spec"]["containers"]
    (crm,) = (one for one in container["env"] if one["name"] == "CRM_SECRET")
    secret = f"{answers.app}-crm-secret"
    assert crm["valueFrom"] == {"secretKeyRef": {"name": secret, "key": "latest"}}
    assert f"gcloud secrets create {secret} " in (tmp_path / "cloudrun/deploy/cloudrun/deploy.sh").read_text()


def test_a_crontab_calls_the_address_that_it_is_told_and_once_however_often_it_is_added(tmp_path: Path) -> None:
    refused = crontick(tmp_path, "init", "crontab")
    assert (refused.returncode, "--url" in refused.stderr, list(tmp_path.iterdir())) == (2, True, [])
    done = crontick(tmp_path, "init", "crontab", "--url", "https://jobs.acme.example")
    header, add, _ = done.stdout.partition("next:\n")[2].splitlines()
    (tmp_path / "crontab").write_text('#!/bin/sh\ncase "$1" in -l) cat there;; *) cat >new; mv new there;; esac\n')
    (tmp_path / "crontab").chmod(0o755)
    (tmp_path / "there").write_text("0 4 * * * backup\n")
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)}
    for _ in range(2):
        subprocess.run(["/bin/sh", "-c", add], cwd=tmp_path, env=env, check=True)
    there = (tmp_path / "there").read_text()
    assert there == "0 4 * * * backup\n" + (tmp_path / "deploy/crontab/crontab").read_text()
    assert "CRONTICK_URL=https://jobs.acme.example\n" in there
    assert subprocess.run(["/bin/sh", "-c", header], env=env, check=False, capture_output=True).returncode != 0
    command = there.splitlines()[-1].split(None, 5)[5].replace(r"\%", "%")
    called = subprocess.run(["/bin/sh", "-c", command], env=env, check=False, capture_output=True, text=True)
    assert f"{tmp_path}/.crontick-header is missing" in called.stdout


def test_the_unit_and_the_build_are_those_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "background.py").touch()
    done = crontick(tmp_path, "init", "watch")
    unit = (tmp_path / "deploy/watch/crontick-watch.service").read_text()
    assert f"\nWorkingDirectory={tmp_path}\n" in unit
    assert f"\nExecStart={tmp_path}/.venv/bin/crontick watch " in unit
    assert ("useradd" in done.stdout, 'CRONTICK_MODULES="background"' in done.stdout) == (True, True)
    assert "build.py background.py crontick.toml" in crontick(tmp_path, "init", "lambda").stdout
