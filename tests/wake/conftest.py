"""AWS as moto plays it, one server for the tests here."""

from collections.abc import Iterator

import pytest

from tests.worlds import aws_server


@pytest.fixture(scope="session")
def _aws() -> Iterator[str]:
    with aws_server.aws_server() as url:
        yield url


@pytest.fixture
def aws(_aws: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of the server that botocore calls in this test."""
    for name, value in aws_server.environ(_aws).items():
        monkeypatch.setenv(name, value)
    return _aws
