"""A kind that goes on until somebody lets it end."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from crontick.jobs import kind


@dataclass(frozen=True)
class Gate:
    """It ends when the file ``opened`` is there, and makes ``begun`` when it begins."""

    begun: str
    opened: str


@kind("wait_at_the_gate", timeout=20, needs=1)
async def wait_at_the_gate(payload: Gate) -> None:
    """Begin, and end when the gate is open."""
    Path(payload.begun).touch()  # noqa: ASYNC240 (another process waits for it)
    while not Path(payload.opened).exists():  # noqa: ASYNC240, ASYNC110 (and makes this one)
        await asyncio.sleep(0.01)
