"""Kinds of a made-up shop, of which some end badly."""

from dataclasses import dataclass
from typing import Final

from crontick.jobs import Context, Permanent, Retry, kind

SCRIPT: Final = "<script>document.title = 'taken over'</script>"


@dataclass(frozen=True)
class Order:
    """What a job is about."""

    order_id: int
    note: str = ""


@kind("send_receipt")
async def send_receipt(payload: Order) -> None:
    """Succeed."""


@kind("resize_image", queue="images")
async def resize_image(payload: Order) -> None:
    """Succeed."""


@kind("sync_to_crm", max_attempts=1)
async def sync_to_crm(payload: Order) -> None:
    """End dead, always of the same error."""
    raise OSError("503 from crm.example: the service is being maintained")


@kind("charge_card", max_attempts=4, secret=["note"])
async def charge_card(payload: Order) -> None:
    """End dead, with markup in the error."""
    raise Permanent(f"card of order {payload.order_id} was declined: <b onclick=alert(1)>{SCRIPT}</b>")


@kind("renew_licence", queue="slow", max_attempts=9)
async def renew_licence(payload: Order) -> None:
    """Fail, and be tried again much later."""
    raise Retry("the registry answered 429", after=7200)


@kind("announce", marker="note", timeout=5, queue="mail", priority=10)
async def announce(payload: Order, ctx: Context) -> None:
    """Begin to send, and end in doubt."""
    async with ctx.once():
        raise RuntimeError("the line went dead after DATA")
