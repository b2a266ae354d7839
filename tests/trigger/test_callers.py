"""What callers in the wild send is ticked once or refused plainly, and never redirected."""

import socket
from typing import Any

import psycopg

from tests.door.deployed import environ, uvicorn
from tests.door.serving import TOKEN

BEARER = f"Authorization: Bearer {TOKEN}"
REFUSED = (
    ("POST", "/cron/tick", "Authorization: Bearer ", 401),
    ("POST", "/cron/tick", "Authorization: Bearer", 401),
    ("POST", "/cron/tick", f"Authorization: {TOKEN}", 401),
    ("POST", "/cron/tick", f"X-Cron-Secret: {TOKEN}", 401),
    ("POST", "/cron/tick", f"{BEARER}x", 401),
    ("POST", "/cron/tick", BEARER[:-1], 401),
    ("POST", "/cron/tick", f"{BEARER[:-1]}x", 401),
    ("POST", "/cron/tick", f"{BEARER[:-1]}\xe9", 401),
    ("POST", "/cron/tick", f"Authorization: Bearer\t{TOKEN}", 401),
    ("GET", "/cron/tick", BEARER, 405),
    ("HEAD", "/cron/tick", BEARER, 405),
    ("OPTIONS", "/cron/tick", BEARER, 405),
    ("PUT", "/cron/tick", BEARER, 405),
    ("POST", "/cron/tick/", BEARER, 404),
    ("POST", "//cron/tick", BEARER, 404),
)
ACCEPTED = (
    BEARER,
    f"authorization: bearer {TOKEN}",
    f"Authorization: Bearer  {TOKEN}",
    f"Authorization: Bearer {TOKEN} ",
)


def status_of(address: tuple[str, int], method: str, path: str, header: str) -> int:
    """The status alone: the answer to a HEAD announces a body that does not come."""
    lines = (f"{method} {path} HTTP/1.1", "Host: app.example", header, "Content-Length: 0", "Connection: close")
    with socket.create_connection(address, timeout=20) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
        return int(connection.makefile("rb").readline().split()[1])


def test_each_way_to_call_has_one_answer_and_only_the_right_one_ticks(
    database: str, sync_conn: psycopg.Connection[Any]
) -> None:
    with uvicorn(environ(database, CRON_SECRET=f"{TOKEN}\n")) as address:
        for method, path, header, status in REFUSED:
            assert status_of(address, method, path, header) == status, (method, path, header)
        assert sync_conn.execute("select count(*) from crontick.ticks").fetchone() == (0,)
        for header in ACCEPTED:
            assert status_of(address, "POST", "/cron/tick", header) == 200, header
        assert sync_conn.execute("select count(*) from crontick.ticks").fetchone() == (len(ACCEPTED),)
