"""The shop's routes, and crontick's beside them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

from crontick.handler.wrap import wrap
from shop.background import CancelUnpaid, SendReceipt, cancel_unpaid, send_receipt
from shop.database import engine, sessions
from shop.orders import Order, Stored

__all__ = ["app"]

STOCK_CENTS = 100_000


class Wish(BaseModel):
    """What a customer asks for."""

    email: str
    cents: int


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    """Make the tables; a larger shop has migrations."""
    async with engine.begin() as conn:
        await conn.run_sync(Stored.metadata.create_all)
    yield
    await engine.dispose()


app = wrap(FastAPI(lifespan=lifespan))


@app.post("/orders", status_code=201)
async def order(wish: Wish) -> dict[str, int]:
    """The order and its jobs in one transaction: all of them, or none."""
    async with sessions.begin() as session:
        made = Order(email=wish.email, cents=wish.cents)
        session.add(made)
        await session.flush()
        await send_receipt.enqueue(session, SendReceipt(made.id), unique_key=f"receipt:{made.id}")
        await cancel_unpaid.enqueue(session, CancelUnpaid(made.id), run_at=timedelta(hours=24))
        if wish.cents > STOCK_CENTS:
            raise HTTPException(409, "out of stock")
    return {"id": made.id}


@app.post("/orders/{order_id}/payment")
async def pay(order_id: int) -> dict[str, str]:
    """From now on it is not cancelled."""
    async with sessions.begin() as session:
        (await session.get_one(Order, order_id)).status = "paid"
    return {"status": "paid"}


@app.get("/orders/{order_id}")
async def show(order_id: int) -> dict[str, object]:
    """What became of it."""
    async with sessions() as session:
        found = await session.get(Order, order_id)
    if found is None:
        raise HTTPException(404, "there is no such order")
    return {"status": found.status, "receipt_sent": found.receipt_sent_at is not None}
