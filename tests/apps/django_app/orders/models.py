"""An order, as it is stored."""

from django.db import models

__all__ = ["Order"]


class Order(models.Model):
    """Its receipt is sent some time after it was made."""

    email = models.EmailField()
    cents = models.IntegerField()
    receipt_sent_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"order {self.pk}"
