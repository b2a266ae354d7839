"""Rests the garbage collector while a process of ours starts: what is made then stays for good.

Walking over the objects of all imported modules again and again is a good part of a cold start. Imported before all
else by the entries whose process is ours; never by ``wrap``, for somebody else's collector is theirs.
"""

import gc
from typing import Final

__all__ = ["started"]

_WAS_ENABLED: Final = gc.isenabled()
gc.disable()


def started() -> None:
    """Leave what exists out of every later collection, and let them begin again, unless somebody had stopped them."""
    gc.freeze()
    if _WAS_ENABLED:
        gc.enable()
