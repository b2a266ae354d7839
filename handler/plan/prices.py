"""What things cost: a table with a date and a source beside each price, and what a user's file says instead."""

import tomllib
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final

import msgspec

__all__ = ["Assumed", "Price", "Prices", "PricesError", "read_prices"]

_SHIPPED: Final = Path(__file__).with_name("prices.toml")


class PricesError(Exception):
    """The file cannot be read, or says what no price table does."""


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``usd`` for each ``per`` units beyond the ``free`` ones of a month."""

    usd: float
    per: float = 1
    free: float = 0
    dated: date | None = None
    source: str | None = None

    def of(self, units: float) -> float:
        """What so many units of one month cost, in US dollars."""
        return max(units - self.free, 0) / self.per * self.usd


class Assumed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the bill depends on, and no table of jobs tells."""

    tick_seconds: float
    function_gb: float
    database_cu: float
    database_stays_up_seconds: float


class Prices(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One price for each thing that a wake uses."""

    scheduler_call: Price
    function_request: Price
    function_gb_second: Price
    database_cu_hour: Price
    github_minute: Price
    assumed: Assumed


def read_prices(path: Path | None = None) -> Prices:
    """Those that ship, each table of the user's file in place of the one of its name; raises ``PricesError``.

    A price is replaced whole, so that none stands beside a date and a source that are not its own.
    """
    tables = _tables(_SHIPPED)
    if path is not None:
        given = _tables(path)
        if "assumed" in given:
            given["assumed"] = {**tables["assumed"], **given["assumed"]}
        tables |= given
    try:
        prices = msgspec.convert(tables, Prices)
    except msgspec.ValidationError as error:
        raise PricesError(
            f"{path}: {error}; the tables that there are: {', '.join(Prices.__struct_fields__)}"
        ) from None
    for name, table in tables.items():
        _check_numbers(f"{path}: [{name}]", table)
    return prices


def _tables(path: Path) -> dict[str, Any]:
    try:
        read = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise PricesError(f"{path} cannot be read as text in UTF-8 ({type(error).__name__})") from None
    except tomllib.TOMLDecodeError as error:
        raise PricesError(f"{path}: {error}") from None
    for name, table in read.items():
        if not isinstance(table, dict):
            raise PricesError(f"{path}: {name} must be a table: write [{name}]")
    return read


def _check_numbers(where: str, table: Mapping[str, Any]) -> None:
    for name, value in table.items():
        if isinstance(value, int | float) and (not 0 <= value < float("inf") or (name == "per" and value == 0)):
            raise PricesError(f"{where} {name} = {value} must be a number from 0 on, and `per` more than 0")
