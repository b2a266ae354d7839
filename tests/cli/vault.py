"""A kind with a secret field."""

from typing import Any

from crontick.jobs import Permanent, kind


@kind("login", secret=["token"])
async def login(payload: dict[str, Any]) -> dict[str, Any]:
    if payload.get("die"):
        raise Permanent(f"{payload['token']} is refused")
    return payload
