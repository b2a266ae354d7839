"""An order and its receipt."""

import socket
from typing import Any

from asgiref.sync import sync_to_async
from django.core import mail
from django.db import connection
from django.test import TestCase

from crontick.jobs import kind
from crontick.jobs.testing import Dead, Succeeded, clock, drain, enqueued, run
from orders.background import SendReceipt, send_receipt
from orders.models import Order

WISH = {"email": "ada@users.example", "cents": 4200}


SMTP = "django.core.mail.backends.smtp.EmailBackend"


@kind("breaks")
def breaks(_: SendReceipt) -> None:
    """The database refuses this, outside of any block that would mend the transaction."""
    Order.objects.create(email="ada@users.example", cents=None)


@kind("counts")
async def counts(_: SendReceipt) -> int:
    """Django's async ORM asks in the thread of the test, where its transaction is."""
    return int(await Order.objects.acount())


class Orders(TestCase):
    """Each in a transaction of Django's."""

    def ordered(self) -> int:
        answer: Any = self.client.post("/orders", WISH, content_type="application/json")
        assert answer.status_code == 201
        return int(answer.json()["id"])

    def test_an_order_enqueues_its_receipt(self) -> None:
        order = self.ordered()
        assert enqueued(connection, send_receipt) == [SendReceipt(order)]

    def test_an_order_that_is_refused_enqueues_nothing(self) -> None:
        answer: Any = self.client.post("/orders", WISH | {"cents": 10**9}, content_type="application/json")
        assert (answer.status_code, Order.objects.count()) == (409, 0)
        assert enqueued(connection) == []

    def test_the_receipt_is_mailed_once(self) -> None:
        order = self.ordered()
        assert drain(connection).succeeded == 1
        assert drain(connection).claimed == 0
        assert [(sent.subject, sent.to) for sent in mail.outbox] == [(f"Your order {order}", [WISH["email"]])]
        answer: Any = self.client.get(f"/orders/{order}")
        assert answer.json() == {"email": WISH["email"], "receipt_sent": True}

    def test_a_mail_that_is_refused_is_tried_again(self) -> None:
        self.ordered()
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        with self.settings(EMAIL_BACKEND=SMTP, EMAIL_HOST="127.0.0.1", EMAIL_PORT=port):
            assert drain(connection).failed == 1
        assert drain(connection).claimed == 0
        clock(connection).advance(minutes=2)
        assert drain(connection).succeeded == 1
        assert len(mail.outbox) == 1

    def test_an_error_of_the_database_in_a_job_leaves_the_test_its_transaction(self) -> None:
        self.ordered()
        breaks.enqueue(connection, SendReceipt(1))
        summary = drain(connection, kinds=[breaks, send_receipt])
        assert (summary.failed, summary.succeeded) == (1, 1)
        assert Order.objects.count() == 1

    def test_an_async_function_sees_what_the_test_sees(self) -> None:
        Order.objects.create(email="ada@users.example", cents=1)
        assert run(counts, SendReceipt(1)) == Succeeded("1")
        counts.enqueue(connection, SendReceipt(1))
        assert drain(connection, kinds=[counts]).succeeded == 1

    def test_one_attempt_alone(self) -> None:
        order = Order.objects.create(email="ada@users.example", cents=1)
        assert isinstance(run(send_receipt, SendReceipt(order.pk + 1)), Dead)

    async def test_in_an_async_test_it_runs_in_the_thread_of_the_connection(self) -> None:
        await sync_to_async(self.ordered)()
        summary = await sync_to_async(drain)(connection)
        assert summary.succeeded == 1
        assert await Order.objects.filter(receipt_sent_at__isnull=False).acount() == 1
