"""That all mail must wait, for no fault of this one."""

from typing import Final

__all__ = ["BUSY_SECONDS", "WAITING_SHARE", "Held"]

BUSY_SECONDS: Final = 5.0
WAITING_SHARE: Final = 0.5
"""Of a mail's time, for its turn: whoever gets none by then has enough of it left at another time."""


class Held(Exception):
    """The sender as a whole must slow down: this mail was not tried."""

    nothing_sent = True

    def __init__(self, after_seconds: float) -> None:
        super().__init__("the provider wants less at a time")
        self.after_seconds = after_seconds
