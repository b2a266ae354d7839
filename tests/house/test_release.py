"""A release is refused before it is built: a wrong tag, a version that differs, a changelog without its section."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from crontick.sql import VERSION

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".ci" / "check_release.py"
READ = (
    "pyproject.toml",
    "CHANGELOG.md",
    "sql/__init__.py",
    ".github/actions/tick/tick.py",
    "deploy/image/Dockerfile",
)
DATED = f"## {VERSION} (2026-12-01)"
SECTION = f"# Changes\n\n{DATED}\n\n- The tick.\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What the script reads of this repository, with a changelog that may be released."""
    for name in READ:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    (tmp_path / "CHANGELOG.md").write_text(SECTION)
    return tmp_path


def said(checkout: Path, *tag: str) -> tuple[int, str]:
    done = subprocess.run([sys.executable, SCRIPT, *tag], cwd=checkout, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_a_tag_that_says_what_everything_says_is_released(checkout: Path) -> None:
    assert said(checkout, f"v{VERSION}") == (0, "")
    older = "\n\n## 0.0.9 (2026-01-01)\n\nWas unreleased for long.\n"
    (checkout / "CHANGELOG.md").write_text(SECTION + older)
    assert said(checkout, f"v{VERSION}") == (0, "")


def test_any_other_tag_is_told_the_right_one(checkout: Path) -> None:
    for tag in (VERSION, "v9.9.9", f"v{VERSION}-rc1", f"v{VERSION}\n", "", "refs/tags/v1"):
        status, told = said(checkout, tag)
        assert (status, told.count("\n")) == (1, 1), told
        assert f"whose tag is v{VERSION}" in told
    assert said(checkout)[0] == 2


def test_a_changelog_that_does_not_tell_this_release_is_refused_with_the_mend(checkout: Path) -> None:
    wrong = {
        "# Changes\n": "begins with nothing",
        SECTION.replace(VERSION, "9.9.9"): "begins with `## 9.9.9 (2026-12-01)`",
        SECTION.replace(DATED, f"## Unreleased\n\n- More.\n\n{DATED}"): "begins with `## Unreleased`",
        SECTION.replace("(2026-12-01)", "(unreleased)"): "name the day of the release",
        SECTION.replace("(2026-12-01)", "(2026-13-01)"): "name the day of the release",
        SECTION.replace(" (2026-12-01)", ""): "name the day of the release",
        SECTION.replace("- The tick.\n", ""): "says nothing below",
        SECTION.replace("- The tick.\n", "\n## 0.0.9 (2026-01-01)\n\n- Older.\n"): "says nothing below",
        SECTION + "- Still unreleased: the page.\n": "still says unreleased",
    }
    for text, mend in wrong.items():
        (checkout / "CHANGELOG.md").write_text(text)
        status, told = said(checkout, f"v{VERSION}")
        assert (status, told.count("\n")) == (1, 1), (text, told)
        assert mend in told


def test_a_version_that_somebody_forgot_is_named_with_its_file(checkout: Path) -> None:
    for name in READ[2:]:
        text = (checkout / name).read_text()
        (checkout / name).write_text(text.replace(VERSION, "0.0.9"))
        assert said(checkout, f"v{VERSION}") == (
            1,
            f"{name} says 0.0.9, pyproject.toml {VERSION}: make them one\n",
        )
        (checkout / name).write_text(text)


def test_this_checkout_is_held_back_by_its_date_alone() -> None:
    if "(unreleased)" in (ROOT / "CHANGELOG.md").read_text():
        status, told = said(ROOT, f"v{VERSION}")
        assert status == 1
        assert re.fullmatch(r"CHANGELOG\.md has `## .* \(unreleased\)`: .*\n", told)


def test_nothing_is_pushed_before_the_check_and_nothing_lasting_before_all_else_is_built() -> None:
    release: dict[Any, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    assert release[True] == {"push": {"tags": ["v*"]}}
    build, image, pypi = (release["jobs"][name] for name in ("build", "image", "pypi"))
    runs = [step["run"] for step in build["steps"] if "run" in step]
    assert runs[0] == 'python .ci/check_release.py "$GITHUB_REF_NAME"'
    assert runs[2:] == ["make dist", "tests/package/check .venv/bin/python dist/*.whl"]
    assert (image["needs"], pypi["needs"]) == ("build", ["build", "image"])
    assert build["permissions"] == {"contents": "read"}
    assert image["permissions"] == {"contents": "read", "packages": "write"}
    assert pypi["permissions"] == {"id-token": "write"}
    assert not any("run" in step or "checkout" in step["uses"] for step in pypi["steps"]), "our code has no part in it"
    pushed = image["steps"][-1]["with"]
    assert (pushed["platforms"], pushed["sbom"], pushed["push"]) == ("linux/amd64,linux/arm64", True, True)
    assert pushed["provenance"] == "mode=max"
    assert re.search(r"^FROM .* AS crontick$", (ROOT / pushed["file"]).read_text(), re.MULTILINE)
