"""A kind with a secret field, and what its function was given."""

from typing import Any

from crontick.jobs import kind

SECRET = "hunter2-correct-horse"
PAYLOAD = {"to": "ada@users.example", "token": SECRET}
RAN: list[dict[str, Any]] = []


@kind("login", secret=["token"])
async def login(payload: dict[str, Any]) -> None:
    RAN.append(payload)
