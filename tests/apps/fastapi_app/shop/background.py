"""What the shop does later."""

from dataclasses import dataclass

from sqlalchemy import func

from crontick.jobs import Cancel, Context, Permanent, kind
from shop import mail
from shop.database import sessions
from shop.orders import Order

__all__ = ["CancelUnpaid", "SendReceipt", "cancel_unpaid", "send_receipt"]


@dataclass(frozen=True)
class SendReceipt:
    """For an order that was made."""

    order_id: int


@dataclass(frozen=True)
class CancelUnpaid:
    """An order that has had its time."""

    order_id: int


@kind("send_receipt", max_attempts=3, timeout=15, backoff=[60, 300])
async def send_receipt(payload: SendReceipt, ctx: Context) -> None:
    """The mail goes out once, whatever becomes of the attempt afterwards."""
    async with sessions.begin() as session:
        order = await session.get(Order, payload.order_id)
        if order is None:
            raise Permanent(f"there is no order {payload.order_id}")
        async with ctx.once() as mark:
            if not mark.sent:
                await mail.send(order.email, f"Your order {order.id}: {order.cents / 100:.2f} EUR")
        order.receipt_sent_at = func.now()


@kind("cancel_unpaid")
async def cancel_unpaid(payload: CancelUnpaid, ctx: Context) -> None:
    """The order and the end of the job in one transaction."""
    async with sessions.begin() as session:
        order = await session.get(Order, payload.order_id, with_for_update=True)
        if order is None or order.status != "open":
            raise Cancel("it is paid for")
        order.status = "cancelled"
        await ctx.complete(session)
