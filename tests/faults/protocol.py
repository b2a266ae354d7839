"""A tick by hand: its statements one by one, so that something can happen between any two of them."""

import itertools
import json
from typing import Any

import psycopg

from crontick.sql import SCHEMA, query

_NUMBERS = itertools.count(1)


class HandTick:
    """Opens when made, on a connection whose transactions are the test's business."""

    def __init__(self, conn: psycopg.Connection[Any], *known: str, markers: dict[str, Any] | None = None) -> None:
        self.conn = conn
        self.known = list(known)
        self.markers = markers
        self.opening = next(_NUMBERS)
        self.cancelled: list[int] = []
        """What the last settle ended because it was asked to."""
        self.running: dict[int, int] = {}
        """The claim of each job that it took and did not settle."""
        [opened] = self._ask(
            "open_tick",
            opening=self.opening,
            schema=SCHEMA,
            environment="test",
            version="",
            deployment="test",
            budget_seconds=25,
            lease_seconds=40,
            max_parallel=100,
            paused=False,
            known=self.known,
            trigger="hand",
            scheduled_for=None,
            token=None,
            host=None,
            host_request_id=None,
        )
        self.ran, self.rescued = opened[1], opened[4]

    def _ask(self, name: str, **values: Any) -> list[tuple[Any, ...]]:
        return self.conn.execute(query(name).text.encode(), values).fetchall()

    def place(self) -> None:
        self._ask("place_groups")

    def claim(self, seats: int = 10, *, only: list[int] | None = None) -> list[int]:
        """The ids of the jobs that it now has, in the order of their ids."""
        claim = next(_NUMBERS)
        rows = self._ask(
            "claim_jobs",
            opening=self.opening,
            claim=claim,
            seats=seats,
            running=len(self.running),
            given=0,
            lease_seconds=40,
            known=self.known,
            kinds=None,
            queues=None,
            jobs=only,
            markers=json.dumps(self.markers) if self.markers else None,
            suspects=True,
            repeat=False,
            limits=None,
            breakers=None,
            queue_seats=None,
        )
        self.running |= {row[0]: claim for row in rows}
        return sorted(row[0] for row in rows)

    def settle(self, *ended: int | dict[str, Any], claim: int | None = None) -> tuple[list[int], list[int], list[int]]:
        """Ids are plain successes, dicts are endings with an id; returns lost, held, already."""
        plain = [job for job in ended if isinstance(job, int)]
        told = [job for job in ended if isinstance(job, dict)]
        claims = {job: claim or self.running[job] for job in [*plain, *(ending["id"] for ending in told)]}
        [(lost, held, already, self.cancelled, *_)] = self._ask(
            "settle_attempts",
            opening=self.opening,
            ids=plain,
            claims=[claims[job] for job in plain],
            results=None,
            endings=json.dumps([{**ending, "claim": claims[ending["id"]]} for ending in told]) if told else None,
            progress=None,
            limits=None,
            kinds=None,
        )
        for job in claims.keys() - held:
            self.running.pop(job, None)
        return lost, held, already

    def close(self) -> bool:
        [closed] = self._ask(
            "close_tick",
            opening=self.opening,
            claim=0,
            running=len(self.running),
            stop_reason="empty",
            ask_again=False,
            parked=0,
            known=self.known,
            kinds=None,
            queues=None,
            jobs=None,
            retention_seconds=[604800, 2592000, 604800],
            stay_seconds=0,
            alerts=None,
            fan_out=None,
        )
        return bool(closed[0])
