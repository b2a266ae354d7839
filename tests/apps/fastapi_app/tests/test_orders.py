"""An order, its receipt, and what becomes of it when nobody pays."""

import httpx
import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from crontick.jobs.testing import Dead, clock, drain, enqueued, run_async
from shop import mail
from shop.background import CancelUnpaid, SendReceipt, send_receipt

WISH = {"email": "ada@users.example", "cents": 4200}


async def ordered(client: httpx.AsyncClient) -> int:
    answer = await client.post("/orders", json=WISH)
    assert answer.status_code == 201
    return int(answer.json()["id"])


async def test_an_order_enqueues_its_jobs(client: httpx.AsyncClient, conn: AsyncConnection) -> None:
    order = await ordered(client)
    assert await enqueued(conn, send_receipt) == [SendReceipt(order)]
    assert await enqueued(conn) == [SendReceipt(order), CancelUnpaid(order)]


async def test_an_order_that_is_refused_enqueues_nothing(client: httpx.AsyncClient, conn: AsyncConnection) -> None:
    answer = await client.post("/orders", json=WISH | {"cents": 10**9})
    assert answer.status_code == 409
    assert await enqueued(conn) == []


async def test_the_receipt_is_mailed_once(
    client: httpx.AsyncClient, conn: AsyncConnection, outbox: list[tuple[str, str]]
) -> None:
    order = await ordered(client)
    assert (await drain(conn)).succeeded == 1
    assert (await drain(conn)).claimed == 0
    assert outbox == [("ada@users.example", f"Your order {order}: 42.00 EUR")]
    assert (await client.get(f"/orders/{order}")).json() == {"status": "open", "receipt_sent": True}


async def test_a_mail_that_is_refused_is_tried_again(
    client: httpx.AsyncClient, conn: AsyncConnection, outbox: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(to: str, subject: str) -> None:
        raise httpx.ConnectError("nobody there")

    await ordered(client)
    with monkeypatch.context() as broken:
        broken.setattr(mail, "send", refuse)
        assert (await drain(conn)).failed == 1
    assert (await drain(conn)).claimed == 0
    await clock(conn).advance(minutes=2)
    assert (await drain(conn)).succeeded == 1
    assert len(outbox) == 1


async def test_an_order_that_nobody_pays_is_cancelled_after_a_day(
    client: httpx.AsyncClient, conn: AsyncConnection, outbox: list[tuple[str, str]]
) -> None:
    order = await ordered(client)
    await drain(conn)
    await clock(conn).advance(hours=25)
    assert (await drain(conn)).succeeded == 1
    assert (await client.get(f"/orders/{order}")).json()["status"] == "cancelled"


async def test_an_order_that_is_paid_for_is_not(
    client: httpx.AsyncClient, conn: AsyncConnection, outbox: list[tuple[str, str]]
) -> None:
    order = await ordered(client)
    await client.post(f"/orders/{order}/payment")
    await clock(conn).advance(hours=25)
    summary = await drain(conn)
    assert (summary.succeeded, summary.cancelled) == (1, 1)
    assert (await client.get(f"/orders/{order}")).json()["status"] == "paid"


@pytest.mark.usefixtures("conn")
async def test_no_receipt_for_no_order() -> None:
    outcome = await run_async(send_receipt, SendReceipt(404))
    assert isinstance(outcome, Dead)
    assert "there is no order 404" in outcome.error
