"""An order, as it is stored."""

from datetime import datetime
from typing import ClassVar

from sqlalchemy import DateTime
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

__all__ = ["Order", "Stored"]


class Stored(DeclarativeBase):
    """What has a table."""

    type_annotation_map: ClassVar = {datetime: DateTime(timezone=True)}


class Order(Stored):
    """Paid for, or cancelled after a day."""

    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str]
    cents: Mapped[int]
    status: Mapped[str] = mapped_column(default="open")
    receipt_sent_at: Mapped[datetime | None]
