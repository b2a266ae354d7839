"""Something made when it is first needed, once for all threads."""

import threading
from collections.abc import Callable
from typing import TypeVar

Made = TypeVar("Made")


def lazily(make: Callable[[], Made]) -> Callable[[], Made]:
    """A function whose answer is what ``make`` made when it was first called.

    What ``make`` raises goes to the caller, and the next call tries again.
    """
    making = threading.Lock()
    made: list[Made] = []

    def made_once() -> Made:
        with making:  # the loops of several threads may call at once
            if not made:
                made.append(make())
            return made[0]

    return made_once
