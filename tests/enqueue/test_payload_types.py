"""A payload may be of any of the types that Python's libraries have for data, also one in another."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypedDict
from uuid import UUID

import attrs
import msgspec
import psycopg
import pydantic
import pytest

from crontick.jobs import PayloadError, kind
from crontick.jobs.payload import PayloadType


class Line(TypedDict):
    """A row of an order."""

    sku: str
    pieces: int


class Address(pydantic.BaseModel):
    """Where to; ``zip`` has another name in JSON, and ``label`` is computed."""

    model_config = pydantic.ConfigDict(extra="forbid")

    city: str
    zip_code: int = pydantic.Field(alias="zip")

    @pydantic.computed_field  # type: ignore[prop-decorator]
    @property
    def label(self) -> str:
        return f"{self.zip_code} {self.city}"


class Moment(msgspec.Struct, frozen=True):
    """When."""

    at: datetime


@attrs.frozen
class Person:
    """Who."""

    name: str
    moments: list[Moment]


@dataclass(frozen=True)
class Order:
    """Each of the others in it."""

    id: UUID
    lines: list[Line]
    to: Address | None
    by: Person
    notes: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Departure:
    """When it leaves."""

    at: datetime


class Basket(pydantic.BaseModel):
    """A model with a dataclass and a model in it."""

    moment: Departure = pydantic.Field(default_factory=lambda: Departure(datetime(2035, 5, 1, tzinfo=UTC)))
    to: Address


AT = datetime(2035, 5, 1, 10, tzinfo=UTC)
ADA = Person("Ada", [Moment(AT)])
NOWHERE = UUID(int=7)
ADDRESS = Address(city="Ulm", zip=89073)

PAYLOADS: dict[str, tuple[Any, Any, Any]] = {
    "TypedDict": (Line, Line(sku="a", pieces=1), {"sku": "a", "pieces": 1}),
    "msgspec": (Moment, Moment(AT), {"at": "2035-05-01T10:00:00Z"}),
    "attrs": (Person, ADA, {"name": "Ada", "moments": [{"at": "2035-05-01T10:00:00Z"}]}),
    "pydantic": (Address, ADDRESS, {"city": "Ulm", "zip": 89073}),
    "pydantic, with others in it": (
        Basket,
        Basket(to=ADDRESS),
        {"moment": {"at": "2035-05-01T00:00:00Z"}, "to": {"city": "Ulm", "zip": 89073}},
    ),
    "dataclass, with all in it": (
        Order,
        Order(NOWHERE, [Line(sku="a", pieces=1)], ADDRESS, ADA),
        {
            "id": str(NOWHERE),
            "lines": [{"sku": "a", "pieces": 1}],
            "to": {"city": "Ulm", "zip": 89073},
            "by": {"name": "Ada", "moments": [{"at": "2035-05-01T10:00:00Z"}]},
            "notes": {},
        },
    ),
    "a list of models": (list[Address], [ADDRESS], [{"city": "Ulm", "zip": 89073}]),
}


@pytest.mark.parametrize("name", PAYLOADS)
def test_what_was_enqueued_is_what_the_function_gets(name: str) -> None:
    annotation, payload, stored = PAYLOADS[name]
    text = PayloadType(annotation).encode(payload)
    assert json.loads(text) == stored
    assert PayloadType(annotation).decode(text) == payload


WRONG: dict[str, tuple[Any, Any, str]] = {
    "TypedDict": (Line, {"sku": "a"}, r"missing required field `pieces`"),
    "msgspec": (Moment, Moment("soon"), r"Invalid RFC3339 encoded datetime - at `\$.at`"),  # type: ignore[arg-type]
    "attrs": (Person, Person("Ada", [1]), r"Expected `object`, got `int` - at `\$.moments\[0\]`"),  # type: ignore[list-item]
    "pydantic": (Address, Address.model_construct(city="Ulm"), r"zip\n +Field required"),
    "pydantic, in a dataclass": (
        Order,
        Order(NOWHERE, [], Address.model_construct(city="Ulm", zip_code="x"), ADA),
        r"zip\n +Input should be a valid integer",
    ),
    "a field of another model": (Address, Basket(to=ADDRESS), r"city\n +Field required"),
    "no data at all": (Line, object(), r"builtins.object has no form in JSON"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_is_refused_with_its_place_and_nothing_is_sent(database: str, name: str) -> None:
    annotation, payload, said = WRONG[name]

    @kind("typed")
    async def typed(given: Any) -> None: ...

    typed = msgspec.structs.replace(typed, payload=PayloadType(annotation))
    with psycopg.connect(database) as conn:
        for call in (lambda: typed.enqueue(conn, payload), lambda: typed.enqueue_many(conn, [payload])):
            with pytest.raises(PayloadError, match=said):
                call()
        assert conn.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


def test_a_type_that_nobody_can_check_is_refused_when_it_is_used() -> None:
    class Opaque:
        """Without any field that could be known."""

    with pytest.raises(PayloadError, match=r"nothing is known of .*Opaque.* in a payload: use a dataclass"):
        PayloadType(Opaque).decode("{}")
