"""Django's connections stay open while a test's thread runs functions, as during requests of its test client."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["kept_open"]


@contextmanager
def kept_open() -> Iterator[None]:
    """``close_old_connections()``, with which functions begin and end, closes nothing: the test's transaction is there.

    Django is not imported, but found where the test has it.
    """
    django = sys.modules.get("django.db")
    if django is None or not sys.modules["django.conf"].settings.configured:
        yield
        return
    opened = django.connections.all(initialized_only=True)
    for connection in opened:
        connection.close_if_unusable_or_obsolete = _stay
    try:
        yield
    finally:
        for connection in opened:
            del connection.close_if_unusable_or_obsolete


def _stay() -> None:
    """In place of a method of Django's connection."""
