"""What stands around every page: where it is, what time it is there, and what waits for a person."""

from datetime import datetime

import msgspec

from crontick.handler.operate.reads import Connection, typed
from crontick.handler.operate.refused import NotDone


class Frame(msgspec.Struct, frozen=True):
    """Counts end at a thousand."""

    environment: str
    now: datetime
    test_clock: bool
    dead: int
    doubts: int
    breakers: int
    pauses: int
    alerts: int


async def read_frame(conn: Connection) -> Frame:
    """Raises ``NotDone`` where nothing was migrated."""
    frames = await typed(conn, "read_frame", Frame, {})
    if not frames:
        raise NotDone("this database has no environment yet: run `crontick migrate`", "missing")
    return frames[0]
