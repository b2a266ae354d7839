"""Make an order, and look at one."""

import json

from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.csrf import csrf_exempt

from orders.background import SendReceipt, send_receipt
from orders.models import Order

__all__ = ["order", "show"]

STOCK_CENTS = 100_000


@csrf_exempt  # type: ignore[untyped-decorator]
def order(request: HttpRequest) -> HttpResponse:
    """The order and its job in one transaction: both, or neither."""
    wish = json.loads(request.body)
    with transaction.atomic():
        made = Order.objects.create(email=wish["email"], cents=wish["cents"])
        send_receipt.enqueue(connection, SendReceipt(made.pk), unique_key=f"receipt:{made.pk}")
        if made.cents > STOCK_CENTS:
            transaction.set_rollback(True)
            return JsonResponse({"detail": "out of stock"}, status=409)
    return JsonResponse({"id": made.pk}, status=201)


def show(request: HttpRequest, order_id: int) -> HttpResponse:
    """What became of it."""
    found = get_object_or_404(Order, pk=order_id)
    return JsonResponse({"email": found.email, "receipt_sent": found.receipt_sent_at is not None})
