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


ALL_OF_IT = "import pytest\npytest.skip('all of it', allow_module_level=True)"


@pytest.mark.parametrize(
    ("no_skips", "expected"),
    [("1", ["1 failed", "1 xfailed", "2 errors"]), ("0", ["3 skipped", "1 xfailed"])],
)
def test_a_skip_fails_where_nothing_may_be_skipped(
    processes: Processes, tmp_path: Path, no_skips: str, expected: list[str]
) -> None:
    (tmp_path / "test_one.py").write_text(SKIPPING)
    (tmp_path / "test_whole.py").write_text(ALL_OF_IT)
    options = ("-p", "tests.conftest", "-p", "no:cacheprovider", "--continue-on-collection-errors")
    env = {"TESTS_NO_SKIPS": no_skips, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    child = processes.run("-m", "pytest", "-q", *options, "--rootdir", str(tmp_path), str(tmp_path), env=env)
    child.wait(seconds=120)
    assert child.rest()[-1].split(" in ")[0].split(", ") == expected
