"""What a page is asked, and what it answers."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from crontick.handler.dashboard.form import Form
from crontick.handler.dashboard.session import Session
from crontick.handler.operate.reads import Connection
from crontick.jobs.deployment import Deployment
from crontick.jobs.settings import Settings
from crontick.jobs.unavailable import Unavailable


class Visit(msgspec.Struct, frozen=True):
    """A request of somebody who is logged in. ``told`` is the query or the form; ``number`` stands in the path."""

    settings: Settings
    session: Session
    conn: Connection
    told: Form
    number: int = 0
    deploying: Callable[[], Deployment] | None = None

    @property
    def deployment(self) -> Deployment | None:
        """What this process knows of kinds and configuration; None where these are wrong, and no tick starts."""
        try:
            return self.deploying() if self.deploying else None
        except Unavailable:
            return None


class Page(msgspec.Struct, frozen=True):
    """A template and its values."""

    template: str
    values: dict[str, Any]
    status: int = 200


class Go(msgspec.Struct, frozen=True):
    """Another page, which says that sentence first."""

    to: str
    sentence: str = ""


Answer = Callable[[Visit], Awaitable[Page | Go]]
