"""What a form or a query string asks for, as the types that operators' reads and decisions take."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from crontick.handler.dashboard.login import wanted
from crontick.handler.dashboard.visit import Visit
from crontick.handler.operate.refused import NotDone

Asked = TypeVar("Asked")


def asked(type_: type[Asked], values: Mapping[str, Any]) -> Asked:
    """Those values as that type; what is empty counts as not said. Raises ``NotDone``."""
    said = {name: value for name, value in values.items() if value not in ("", None)}
    try:
        return msgspec.convert(said, type_, strict=False)
    except msgspec.ValidationError as error:
        raise NotDone(str(error)) from None


def fields(visit: Visit, *names: str) -> dict[str, str]:
    """Those that were sent."""
    return {name: visit.told.get(name) for name in names}


def acting(visit: Visit, *names: str) -> dict[str, str]:
    """Those, who acts and why."""
    return {**fields(visit, "reason", *names), "by": visit.session.by}


def back(visit: Visit, default: str) -> str:
    """Where the form says that it came from."""
    return wanted(visit.told.get("back")) or default
