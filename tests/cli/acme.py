"""Kinds of a made-up company, as the command line's deployment knows them."""

from dataclasses import dataclass

from crontick.jobs import Context, Permanent, kind


@dataclass(frozen=True)
class Greeting:
    """Whom to greet."""

    name: str = "world"


@kind("greet")
async def greet(payload: Greeting) -> str:
    """Succeed."""
    return f"hello {payload.name}"


@kind("break_at_once")
async def break_at_once(payload: Greeting) -> None:
    """End dead."""
    raise Permanent(f"{payload.name} cannot be greeted")


@kind("stumble")
async def stumble(payload: Greeting) -> None:
    """Fail, to be tried again."""
    raise OSError(f"{payload.name} is out")


@kind("mail", marker="key", timeout=5)
async def mail(payload: dict[str, str], ctx: Context) -> None:
    """Begin to send, and end in doubt."""
    async with ctx.once():
        raise RuntimeError("the line went dead after DATA")
