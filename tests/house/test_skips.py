"""Where everything is installed, a skip is a failure: CI cannot lose a test quietly."""

from pathlib import Path

import pytest

from tests.worlds.process import Processes

SKIPPING = """
import pytest

def test_that_skips():
    pytest.skip("something is not here")

@pytest.mark.skipif(True, reason="never")
def test_that_is_marked():
    pass

@pytest.mark.xfail(reason="known", strict=True)
def test_that_is_known_to_fail():
    assert False
"""


def outcome(processes: Processes, folder: Path, text: str, *, no_skips: str) -> list[str]:
    (folder / "test_one.py").write_text(text)
    options = ("-p", "tests.conftest", "-p", "no:cacheprovider", "--rootdir", str(folder))
    child = processes.run("-m", "pytest", "-q", *options, str(folder), env={"TESTS_NO_SKIPS": no_skips})
    child.wait()
    return child.rest()[-1].split(" in ")[0].split(", ")


@pytest.mark.parametrize(
    ("no_skips", "expected"), [("1", ["1 failed", "1 xfailed", "1 error"]), ("0", ["2 skipped", "1 xfailed"])]
)
def test_a_skip_fails_where_nothing_may_be_skipped(
    processes: Processes, tmp_path: Path, no_skips: str, expected: list[str]
) -> None:
    assert outcome(processes, tmp_path, SKIPPING, no_skips=no_skips) == expected


def test_a_whole_file_that_skips_fails_too(processes: Processes, tmp_path: Path) -> None:
    whole = "import pytest\npytest.skip('all of it', allow_module_level=True)"
    assert outcome(processes, tmp_path, whole, no_skips="1") == ["1 error"]
