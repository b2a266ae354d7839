"""What happens in the demo, and what must be true after each step."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import psycopg

from crontick.handler.demo.acme import Import, User, grant_credit, import_rows, send_welcome_email
from crontick.handler.demo.screen import Screen
from crontick.handler.demo.servers import Server
from crontick.handler.demo.world import Receiver
from crontick.handler.mail_sink import MailSink

__all__ = ["Stage", "tell"]

_USERS: Final = (
    (1, "Ada", "ada@users.example"),
    (2, "Béla", "bela@users.example"),
    (3, "Chloé", "chloe@users.example"),
)
_GONE: Final = (4, "Nobody", "nobody@users.example")


@dataclass(slots=True)
class Stage:
    """All that the story plays on."""

    screen: Screen
    conn: psycopg.Connection[Any]
    folder: Path
    mails: MailSink
    receivers: Receiver
    servers: list[Server]
    admin: str
    """What logs in to the page of both."""

    def one(self, text: str, *values: object) -> Any:
        """The first column of the first row."""
        row = self.conn.execute(text.encode(), values).fetchone()
        return None if row is None else row[0]

    def move_clock(self, ahead: str) -> None:
        """Later, without waiting: the database has the only clock."""
        self.conn.execute("update crontick.test_clock set ahead = ahead + %s::interval", (ahead,))


def tell(stage: Stage) -> None:
    """The steps in their order."""
    sign_up(stage)
    tick_twice(stage)
    retry(stage)
    kill(stage)
    bury_and_raise(stage)
    remind(stage)
    table(stage)


def sign_up(stage: Stage) -> None:
    stage.screen.step("three people sign up, each in one transaction with its jobs; a fourth is rolled back")
    stage.receivers.status = {"/crm": 503, "/billing": 404}
    for user in _USERS:
        with stage.conn.transaction():
            _sign_up(stage.conn, user)
    with stage.conn.transaction():
        _sign_up(stage.conn, _GONE)
        raise psycopg.Rollback
    waiting = stage.one("select count(*) from crontick.jobs where status = 'queued'")
    stage.screen.check(f"{waiting} jobs wait: three for each of three users, none of the one rolled back", waiting == 9)
    stage.conn.execute(
        "insert into acme.bookings select n, n, now() + n * interval '10 hours' from generate_series(1, 3) as n"
    )
    stage.screen.say("bookings are made: in 10, 20 and 30 hours; reminders go out 24 hours before")


def _sign_up(conn: psycopg.Connection[Any], user: tuple[int, str, str]) -> None:
    """What Acme's web app does; the webhook is enqueued as any language could, with one line of SQL."""
    conn.execute("insert into acme.users (id, name, email) values (%s, %s, %s)", user)
    send_welcome_email.enqueue(conn, User(user[0]))
    grant_credit.enqueue(conn, User(user[0]), unique_key=f"credit:{user[0]}")
    event = {"endpoint": "crm", "body": {"type": "user.created", "id": user[0]}}
    conn.execute("select crontick.enqueue('deliver_webhook', %s)", (json.dumps(event),))


def tick_twice(stage: Stage) -> None:
    stage.screen.step("POST /cron/tick, twice in the same second, to two processes; the CRM is down")
    with ThreadPoolExecutor(2) as pool:
        summaries = list(pool.map(lambda serving: serving.tick(), stage.servers))
    for name, summary in zip(("first ", "second"), summaries, strict=True):
        stage.screen.summary(name, summary)
    while any(summary["more"] for summary in summaries):
        summaries = [stage.servers[0].tick()]
        stage.screen.summary("again ", summaries[0])
    check = stage.screen.check
    check("one welcome mail each", all(len(_mails(stage, email, "Welcome")) == 1 for _, _, email in _USERS))
    check("no mail to the one rolled back", not stage.mails.to(_GONE[2]))
    check(
        "one credit each, whatever the ticks did",
        stage.one("select array_agg(user_id order by user_id) from acme.credits") == [1, 2, 3],
    )
    check("two reminders: the bookings in the next 24 hours", _reminded(stage) == [1, 1, 0])
    failed = stage.one("select count(*) from crontick.jobs where kind = 'deliver_webhook' and status = 'failed'")
    check("three webhooks failed with 503 and wait for their next attempt", failed == 3)
    job = stage.one("select min(id) from crontick.jobs where kind = 'deliver_webhook'")
    stage.screen.say(f"why({job}): {stage.one('select crontick.why(%s)', job)}")


def retry(stage: Stage) -> None:
    stage.screen.step("the CRM is up again, and two minutes have passed")
    stage.receivers.status["/crm"] = 204
    stage.move_clock("2 minutes")
    stage.screen.summary("tick  ", stage.servers[0].tick())
    stage.screen.check("three webhooks arrived, signed, each once", stage.receivers.delivered("/crm") == 3)


def kill(stage: Stage) -> None:
    stage.screen.step("a process is killed in the middle of a job (SIGKILL)")
    victim, survivor = stage.servers
    flag = stage.folder / "import-has-begun"
    job = import_rows.enqueue(stage.conn, Import(rows=1000, flag=str(flag)))
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(_cut_off, victim)
        deadline = time.monotonic() + 10
        while not flag.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        victim.kill()
        call.result()
    stage.screen.say(f"why({job}): {stage.one('select crontick.why(%s)', job)}")
    stage.move_clock("1 minute")
    summary = survivor.tick()
    stage.screen.summary("tick  ", summary)
    stage.screen.check("the next tick took it back when its lease was over", summary["rescued"] == 1)
    stage.screen.check(
        "and ran it, alone", stage.one("select status from crontick.jobs where id = %s", job) == "succeeded"
    )


def _cut_off(serving: Server) -> None:
    with suppress(httpx.HTTPError):
        serving.tick()


def bury_and_raise(stage: Stage) -> None:
    stage.screen.step("a webhook that is refused for good becomes a dead letter; mended, it is requeued")
    survivor = stage.servers[1]
    event = json.dumps({"endpoint": "billing", "body": {"type": "invoice.paid", "id": 7}})
    job = stage.one("select crontick.enqueue('deliver_webhook', %s)", event)
    stage.screen.summary("tick  ", survivor.tick())
    stage.screen.say(f"why({job}): {stage.one('select crontick.why(%s)', job)}")
    stage.screen.check(
        "it is dead after one attempt: a 404 does not mend itself",
        stage.one("select status from crontick.jobs where id = %s", job) == "dead",
    )
    stage.receivers.status["/billing"] = 204
    copy = stage.one("select crontick.requeue(%s, 'demo', 'billing has its route now')", job)
    stage.screen.summary("tick  ", survivor.tick())
    stage.screen.say(f"why({job}): {stage.one('select crontick.why(%s)', job)}")
    arrived = stage.one("select status from crontick.jobs where id = %s", copy) == "succeeded"
    stage.screen.check("its copy arrived, once", arrived and stage.receivers.delivered("/billing") == 1)


def remind(stage: Stage) -> None:
    stage.screen.step("seven hours later the third booking is less than 24 hours away")
    stage.move_clock("7 hours")
    stage.screen.summary("tick  ", stage.servers[1].tick())
    stage.screen.check("its reminder went out; the others were not sent again", _reminded(stage) == [1, 1, 1])
    idle = stage.servers[1].tick()
    stage.screen.summary("tick  ", idle)
    stage.screen.check("and an idle tick has nothing to do", idle["claimed"] == 0)


def table(stage: Stage) -> None:
    stage.screen.step("what arrived")
    rows = [("to", "subject")]
    rows += [(str(mail["to"]), str(mail["subject"])) for mail in stage.mails.mails]
    stage.screen.table(rows)
    stage.screen.say("")
    rows = [("webhook to", "body")]
    rows += [(path, body.decode(errors="replace")) for path, _, body in stage.receivers.kept]
    stage.screen.table(rows)
    stage.screen.check(
        "six mails and four webhooks, nothing twice", len(stage.mails.mails) == 6 and len(stage.receivers.kept) == 4
    )
    left = stage.one("select count(*) from crontick.jobs where status not in ('succeeded', 'dead')")
    stage.screen.check("no job is left over", left == 0)


def _mails(stage: Stage, email: str, subject: str) -> list[str]:
    return [said for said in stage.mails.to(email) if said.startswith(subject)]


def _reminded(stage: Stage) -> list[int]:
    return [len(_mails(stage, email, "See you soon")) for _, _, email in _USERS]
