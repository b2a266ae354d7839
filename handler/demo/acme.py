"""The code of the demo's imaginary customer, Acme: three kinds, as anybody would write them."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from crontick.jobs import Context, kind
from crontick.jobs.kinds.send_email import send_email


@dataclass(frozen=True)
class User:
    """Whom it is about."""

    user_id: int


@dataclass(frozen=True)
class Import:
    """How much to import, and the file that says that the first attempt began."""

    rows: int
    flag: str


@kind("send_welcome_email")
async def send_welcome_email(payload: User, ctx: Context) -> None:
    """Read what the mail needs, and leave the sending to the kind that ships."""
    async with ctx.db() as conn:
        cursor = await conn.execute("select name, email from acme.users where id = %s", (payload.user_id,))
        row = await cursor.fetchone()
    if row is None:
        raise LookupError(f"there is no user {payload.user_id}")
    name, email = row
    ctx.enqueue(send_email, {"to": email, "subject": f"Welcome, {name}", "text": f"Hello {name}, good to have you."})


@kind("grant_credit")
async def grant_credit(payload: User, ctx: Context) -> None:
    """Its own rows and its own end in one transaction: this happens exactly once."""
    async with ctx.db() as conn, conn.transaction():
        await conn.execute("insert into acme.credits (user_id, cents) values (%s, 500)", (payload.user_id,))
        await ctx.complete(conn)


@kind("import_rows", timeout=8, needs=1)
async def import_rows(payload: Import, ctx: Context) -> dict[str, int]:
    """Hang the first time, so that the process can be killed under it; a file tells the second time from the first."""
    flag = Path(payload.flag)
    if not flag.exists():  # noqa: ASYNC240 (one look at one file)
        flag.touch()  # noqa: ASYNC240
        await asyncio.sleep(600)
    ctx.progress(payload.rows, payload.rows)
    return {"rows": payload.rows}
