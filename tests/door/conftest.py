"""One served application for all tests that need no settings of their own; the engine's stand-in is new for each."""

from collections.abc import Iterator

import pytest

from tests.door.serving import Ticks, app_of, served

SHARED = Ticks()


@pytest.fixture(scope="session")
def _served() -> Iterator[tuple[str, int]]:
    with served(app_of(SHARED)) as address:
        yield address


@pytest.fixture
def ticks() -> Ticks:
    SHARED.forget()
    return SHARED


@pytest.fixture
def address(_served: tuple[str, int], ticks: Ticks) -> tuple[str, int]:
    return _served
