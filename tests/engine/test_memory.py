"""How much memory a process may use is read where its host says so."""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from crontick.jobs.memory import Limits, limits, nearly_full

PAGE = resource.getpagesize()
V1, V1_NONE = "memory.limit_in_bytes", "9223372036854771712"
MEMBER_V2, MEMBER_V1 = "0::{path}\n", "5:cpu,cpuacct:/x\n4:memory:{path}\n0::/\n"


@pytest.fixture(autouse=True)
def no_limit_of_its_own(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The soft limit of mapped memory can be taken away and given back by its own process."""
    monkeypatch.delenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", raising=False)
    before = resource.getrlimit(resource.RLIMIT_AS)
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)
    limits.cache_clear()


def machine(root: Path, membership: str, files: dict[str, str], *, mapped: int = 0, resident: int = 0) -> Path:
    """A folder with the files of ``proc`` and ``sys`` that say so; pages mapped and resident."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(membership)
    (root / "proc/self/statm").write_text(f"{mapped} {resident} 1 1 0 1 0\n")
    for name, text in files.items():
        file = root / "sys/fs/cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")
    return root


@pytest.mark.parametrize(
    ("membership", "files", "bytes_"),
    [
        (MEMBER_V2.format(path="/"), {"memory.max": "1000"}, 1000),
        (MEMBER_V2.format(path="/"), {"memory.max": "max"}, None),
        (MEMBER_V2.format(path="/"), {}, None),
        (MEMBER_V2.format(path="/a/b"), {"a/b/memory.max": "500", "a/memory.max": "900"}, 500),
        (MEMBER_V2.format(path="/a/b"), {"a/b/memory.max": "max", "a/memory.max": "900"}, 900),
        (MEMBER_V2.format(path="/docker/7f"), {"memory.max": "800"}, 800),
        (MEMBER_V2.format(path="/../../x"), {"memory.max": "800"}, 800),
        (MEMBER_V1.format(path="/"), {"memory/" + V1: "700"}, 700),
        (MEMBER_V1.format(path="/"), {"memory/" + V1: V1_NONE}, None),
        (MEMBER_V1.format(path="/docker/7f"), {"memory/" + V1: "700"}, 700),
        (MEMBER_V1.format(path="/a"), {"memory/a/" + V1: "600", "memory/" + V1: V1_NONE}, 600),
        (MEMBER_V1.format(path="/"), {"cpu/" + V1: "1", "memory/other/" + V1: "2"}, None),
    ],
)  # fmt: skip
def test_a_container_s_limit_is_that_of_its_group_or_of_one_around_it(
    tmp_path: Path, membership: str, files: dict[str, str], bytes_: int | None
) -> None:
    assert limits(machine(tmp_path, membership, files)) == Limits(bytes_, None)


def test_where_nothing_is_said_there_is_no_limit(tmp_path: Path) -> None:
    assert limits(tmp_path) == Limits(None, None)
    assert not nearly_full(tmp_path)


def test_the_smaller_of_lambda_s_size_and_the_group_s_limit_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512")
    root = machine(tmp_path, MEMBER_V2.format(path="/"), {"memory.max": str(2**30)})
    assert limits(root) == Limits(512 * 2**20, None)


@pytest.mark.parametrize(("resident", "full"), [(89, False), (91, True)])
def test_what_is_resident_counts_against_a_container_s_limit(tmp_path: Path, resident: int, full: bool) -> None:  # noqa: FBT001 (a table)
    files = {"memory.max": str(100 * PAGE)}
    root = machine(tmp_path, MEMBER_V2.format(path="/"), files, mapped=100_000, resident=resident)
    assert nearly_full(root) is full


@pytest.mark.parametrize(("mapped", "full"), [(2**26, False), (2**30, True)])
def test_what_is_mapped_counts_against_ulimit_v(tmp_path: Path, mapped: int, full: bool) -> None:  # noqa: FBT001 (a table)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (2**30 * PAGE, hard))
    root = machine(tmp_path, MEMBER_V2.format(path="/"), {}, mapped=mapped, resident=1)
    assert nearly_full(root) is full
