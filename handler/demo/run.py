"""The stage of the demo: database, mail server, receivers and two real servers, put up and taken down."""

import secrets
import shutil
import signal
import sys
import tempfile
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

import psycopg

from crontick.handler.demo.screen import Screen
from crontick.handler.demo.servers import server
from crontick.handler.demo.story import Stage, tell
from crontick.handler.demo.world import receiver
from crontick.handler.mail_sink import mail_sink
from crontick.sql.embedded import postgres
from crontick.sql.migrate import migrate

__all__ = ["run"]

_ENDING: Final = (signal.SIGTERM, signal.SIGHUP)
_TOML: Final = '''
[email]
provider = "smtp"
url_env = "SMTP_URL"
from = "Acme <hi@acme.example>"

[[webhook_endpoint]]
name = "crm"
url = "http://127.0.0.1:{port}/crm"
secret_env = "CRM_SECRET"

[[webhook_endpoint]]
name = "billing"
url = "http://127.0.0.1:{port}/billing"
secret_env = "CRM_SECRET"

[http]
allow = ["127.0.0.1"]

[[reminder]]
name = "booking_24h"
lead = "24h"
kind = "send_email"
query = """select b.id as item, b.starts_at as item_at,
                  jsonb_build_object('to', u.email, 'subject', 'See you soon', 'text', 'Your booking is near.')
                      as payload
           from acme.bookings as b
           join acme.users as u on u.id = b.user_id
           where b.starts_at between :from and :to"""
'''
_TABLES: Final = """
create schema acme;
create table acme.users (id int primary key, name text not null, email text not null);
create table acme.credits (user_id int not null, cents int not null);
create table acme.bookings (id int primary key, user_id int not null, starts_at timestamptz not null);
"""


def run(*, keep: bool = False) -> int:
    """Tell the whole story; 0 when everything was as promised, 1 when something was off.

    ``keep`` leaves the servers running until the enter key is pressed. SIGTERM and SIGHUP end it earlier: nothing that
    was started runs afterwards, and its folders are gone.
    """
    screen = Screen()
    with _ended_by_signals(), _stage(screen) as stage:
        tell(stage)
        screen.step("in the end" if screen.wrong else "all as promised")
        screen.say(
            f"{screen.wrong} things were off" if screen.wrong else "every check above was made against the real thing"
        )
        if keep:
            _keep(screen, stage)
    return 1 if screen.wrong else 0


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Inside, the first signal raises ``SystemExit``; others must not cut off what then takes the stage down."""

    def came(number: int, _: FrameType | None) -> None:
        for one in _ENDING:
            signal.signal(one, signal.SIG_IGN)
        sys.exit(128 + number)

    before = {number: signal.signal(number, came) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _stage(screen: Screen) -> Iterator[Stage]:
    with ExitStack() as stack:
        screen.step("a PostgreSQL from the embedded wheel, a mail server, receivers of webhooks, two crontick servers")
        url = stack.enter_context(postgres())
        migrate(url, environment="demo", test_clock=True)
        conn: psycopg.Connection[Any] = stack.enter_context(psycopg.connect(url, autocommit=True))
        conn.execute(_TABLES)
        mails, receivers = stack.enter_context(mail_sink()), stack.enter_context(receiver())
        folder = Path(tempfile.mkdtemp(prefix="crontick-demo-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        (folder / "crontick.toml").write_text(_TOML.format(port=receivers.port))
        admin = secrets.token_hex(32)
        environ = {
            "CRONTICK_DATABASE_URL": url,
            "CRONTICK_ENVIRONMENT": "demo",
            "CRONTICK_MODULES": "crontick.handler.demo.acme",
            "CRONTICK_BUDGET_SECONDS": "12",
            "CRONTICK_ADMIN_SECRET": admin,
            "SMTP_URL": mails.url,
            "CRM_SECRET": "whsec_" + b64encode(secrets.token_bytes(24)).decode(),
        }
        servers = [stack.enter_context(server(folder, environ)) for _ in range(2)]
        yield Stage(screen, conn, folder, mails, receivers, servers, admin)


def _keep(screen: Screen, stage: Stage) -> None:
    alive = next(serving for serving in stage.servers if serving.process.poll() is None)
    screen.step("left running: press enter to end it")
    screen.say(f"the page: {alive.url}/dashboard, with any name and the admin secret {stage.admin}")
    screen.say(f"psql '{stage.conn.info.dsn}'")
    screen.say(f"curl -X POST -H 'Authorization: Bearer {alive.token}' {alive.url}/cron/tick")
    try:
        input()
    except (EOFError, KeyboardInterrupt):
        screen.say("ended")
