"""What the store does later. Imported by crontick too, in processes that are not Django's."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime

import django
from django.apps import apps
from django.core.mail import send_mail
from django.db import close_old_connections, connection, transaction

from crontick.jobs import Context, Permanent, kind

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "store.settings")
if not apps.app_configs:
    django.setup()

from orders.models import Order

__all__ = ["SendReceipt", "send_receipt"]


@dataclass(frozen=True)
class SendReceipt:
    """For an order that was made."""

    order_id: int


@kind("send_receipt", max_attempts=3, timeout=15, backoff=[60, 300])
def send_receipt(payload: SendReceipt, ctx: Context) -> None:
    """The mail, then the order's own row and the end of the job in one transaction."""
    try:
        order = Order.objects.filter(pk=payload.order_id).first()
        if order is None:
            raise Permanent(f"there is no order {payload.order_id}")
        with ctx.once() as mark:
            if not mark.sent:
                try:
                    send_mail(f"Your order {order.pk}", f"{order.cents / 100:.2f} EUR", None, [order.email])
                except ConnectionRefusedError:
                    mark.not_sent()
                    raise
        with transaction.atomic():
            order.receipt_sent_at = datetime.now(UTC)
            order.save()
            ctx.complete(connection)
    finally:
        close_old_connections()  # this thread's: crontick's are not Django's, which closes its own after a request
