"""Seals afresh what lies under another than the first key, page by page, while ticks run."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import msgspec
import psycopg

from crontick.jobs.sealing import KeyMissing, Keyring, SealingError
from crontick.jobs.secret_fields import reseal_fields
from crontick.sql import query

__all__ = ["Rotation", "rotate"]

PAGE_ROWS: Final = 200
"""Rows that one trip brings, and that one transaction locks at most."""
_BELOW_ALL: Final = -(2**63)


class Rotation(msgspec.Struct):
    """How far it is. What is counted as left lies as it lay."""

    looked_at: int = 0
    sealed: int = 0
    running: int = 0
    held: int = 0
    missing: Counter[str] = msgspec.field(default_factory=Counter)
    broken: list[int] = []

    @property
    def left(self) -> int:
        """What another run has to do, or a person."""
        return self.running + self.held + self.missing.total() + len(self.broken)


def rotate(conn: psycopg.Connection[Any], keyring: Keyring) -> Iterator[Rotation]:
    """Walk over all jobs, unfinished ones first; yields after each page, each of which is a transaction of its own.

    Skips what runs, and what somebody holds. A run that was stopped is begun again: what is done is passed over.
    """
    rotation = Rotation()
    for finished in (False, True):
        after: int | None = _BELOW_ALL
        while after is not None:
            values = {"finished": finished, "after": after, "at_most": PAGE_ROWS}
            rows = conn.cursor(row_factory=psycopg.rows.tuple_row).execute(_text("list_sealed_jobs"), values).fetchall()
            after = rows[0][0]
            _seal(conn, keyring, [row[1:] for row in rows if row[1] is not None], rotation)
            yield rotation


def _seal(conn: psycopg.Connection[Any], keyring: Keyring, rows: list[Any], rotation: Rotation) -> None:
    told = []
    for job, kind, text, secret, running in rows:
        rotation.looked_at += 1
        try:
            sealed = reseal_fields(text, kind, secret, keyring)
        except KeyMissing as missing:
            rotation.missing[missing.key] += 1
            continue
        except SealingError:
            rotation.broken.append(job)
            continue
        if sealed is text:
            continue
        if running:
            rotation.running += 1
            continue
        digest = hashlib.sha256(text.encode()).hexdigest()
        told.append({"id": job, "kind": kind, "digest": digest, "sealed": msgspec.Raw(sealed.encode())})
    if told:
        values = {"opening": None, "sealed": msgspec.json.encode(told).decode()}
        [row] = conn.cursor(row_factory=psycopg.rows.tuple_row).execute(_text("seal_jobs"), values).fetchall()
        rotation.sealed += len(row[0])
        rotation.held += len(told) - len(row[0])


def _text(name: str) -> bytes:
    return query(name).text.encode()
