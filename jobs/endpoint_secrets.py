"""Signing secrets of endpoints, sealed afresh where they lie in clear or under another than the first key (P37)."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

import msgspec
import psycopg

from crontick.jobs.sealing import KeyMissing, Keyring, SealingError, key_of
from crontick.sql import query

__all__ = ["SEALED_AS", "EndpointRotation", "resealed", "rotate_endpoints"]

SEALED_AS: Final = "webhook_endpoint"
"""With the endpoint's name, what its sealed secrets are bound to: a row cannot be given another's."""
PAGE_ROWS: Final = 200


class EndpointRotation(msgspec.Struct):
    """What became of the endpoints; what is not sealed lies as it lay."""

    sealed: int = 0
    held: int = 0
    missing: Counter[str] = msgspec.field(default_factory=Counter)
    broken: list[str] = []

    @property
    def left(self) -> int:
        """What another run has to do, or a person."""
        return self.held + self.missing.total() + len(self.broken)


def resealed(name: str, secrets: Iterable[str | None], keyring: Keyring) -> list[dict[str, Any]]:
    """What ``crontick.seal_endpoints`` is told of an endpoint; nothing when all is as it should be.

    Raises ``KeyMissing``, and ``SealingError`` for what does not open.
    """
    told = []
    for text in secrets:
        key = None if text is None else key_of(text)
        if text is None or key == keyring.first:
            continue
        clear = text if key is None else keyring.open(text, SEALED_AS, name)
        digest = hashlib.sha256(text.encode()).hexdigest()
        told.append({"name": name, "digest": digest, "sealed": keyring.seal(clear, SEALED_AS, name)})
    return told


def rotate_endpoints(conn: psycopg.Connection[Any], keyring: Keyring) -> EndpointRotation:
    """Seal all that is not under the first key, page by page; what somebody holds is skipped."""
    rotation, after = EndpointRotation(), ""
    while rows := _rows(conn, "list_endpoint_secrets", {"after": after, "at_most": PAGE_ROWS}):
        after = rows[-1][0]
        told = []
        for name, *secrets in rows:
            try:
                told += resealed(name, secrets, keyring)
            except KeyMissing as missing:
                rotation.missing[missing.key] += 1
            except SealingError:
                rotation.broken.append(name)
        if told:
            wanted = {one["name"] for one in told}
            [[done]] = _rows(conn, "seal_endpoints", {"sealed": msgspec.json.encode(told).decode()})
            rotation.sealed += len(wanted & set(done))
            rotation.held += len(wanted - set(done))
    return rotation


def _rows(conn: psycopg.Connection[Any], name: str, values: dict[str, Any]) -> list[Any]:
    return conn.cursor(row_factory=psycopg.rows.tuple_row).execute(query(name).text.encode(), values).fetchall()
