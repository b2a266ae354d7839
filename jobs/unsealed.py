"""Rows that lie in clear though their kind has secret fields: a tick meets them, its next exchange seals them."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from crontick.jobs.deployment import Deployment
from crontick.jobs.job import Job
from crontick.jobs.sealing import Keyring
from crontick.jobs.secret_fields import seal_fields
from crontick.sql import query
from crontick.sql.wire import Statement, Value, statement

__all__ = ["Unsealed"]

AT_MOST: Final = 200
"""Rows that one trip brings: of 64 KiB each they are 13 MB."""


class Unsealed:
    """What this tick has met in clear and has yet to seal. Nothing of it waits for a lock; what dies, dies in clear."""

    def __init__(self, deployment: Deployment, keyring: Keyring) -> None:
        self._keyring = keyring
        self._known = deployment.known
        self._secret = {kind.name: kind.secret for kind in deployment.kinds.values() if kind.secret}
        self._met: dict[int, dict[str, Any]] = {}
        self._ask_on = False

    @property
    def met(self) -> bool:
        """There is something to write."""
        return bool(self._met)

    def opening(self) -> list[Statement]:
        """Beside the tick's first statement: let in what was held for want of a key, and look for rows in clear."""
        values: dict[str, Value] = {"keys": list(self._keyring.keys), "known": self._known}
        return [statement(query("free_sealed_jobs"), values), *self._asking()]

    def _asking(self) -> list[Statement]:
        if not self._secret:
            return []
        return [statement(query("list_unsealed_jobs"), {"kinds": sorted(self._secret), "at_most": AT_MOST})]

    def opened(self, rows: Sequence[Any]) -> None:
        """What ``opening`` brought."""
        if self._secret:
            self._found(rows[-1])

    def _found(self, rows: Sequence[Any]) -> None:
        for job, kind, text in rows:
            self._meet(job, kind, text, noted=True)
        self._ask_on = len(rows) == AT_MOST

    def claimed(self, jobs: Iterable[Job]) -> None:
        """Jobs that are about to run: whatever becomes of them, they are settled sealed."""
        for job in jobs:
            if job.kind in self._secret:
                self._meet(job.id, job.kind, job.payload_text, noted=False)

    def _meet(self, job: int, kind: str, text: str, *, noted: bool) -> None:
        sealed = seal_fields(text, kind, self._secret[kind], self._keyring)
        if sealed is text and not noted:
            return
        told: dict[str, Any] = {"id": job, "kind": kind, "digest": hashlib.sha256(text.encode()).hexdigest()}
        if sealed is not text:
            told["sealed"] = msgspec.Raw(sealed.encode())
        self._met[job] = told

    def writing(self, opening: int, *, look: bool) -> list[Statement]:
        """Before what settles: seal what was met, and look for more where there was a full page.

        ``look`` in any case: the database was just told which fields are secret.
        """
        self._ask_on = self._ask_on or (look and bool(self._secret))
        if not self._met and not self._ask_on:
            return []
        told = msgspec.json.encode(list(self._met.values())).decode()
        more = self._asking() if self._ask_on else []
        return [statement(query("seal_jobs"), {"opening": opening, "sealed": told}), *more]

    def written(self, rows: Sequence[Any]) -> bool:
        """What ``writing`` brought: whether a row was sealed. What somebody held keeps its note for another tick."""
        if not rows:
            return False
        done, tried = rows[0][0][0], bool(self._met)
        self._met.clear()
        self._ask_on = False
        if len(rows) > 1 and (done or not tried):
            self._found(rows[1])
        return bool(done)
