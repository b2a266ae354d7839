"""The development server."""

from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final

import typer

from crontick.handler.cli.options import Json, length
from crontick.handler.cli.screen import complain
from crontick.sql.extras import install

EVERY: Final = timedelta(seconds=5)


def dev(
    app: Annotated[
        str | None, typer.Argument(metavar="[MODULE:APP]", help="Your ASGI app, such as acme.main:app; it is wrapped.")
    ] = None,
    *,
    every: Annotated[
        timedelta | None, typer.Option(parser=length, metavar="LENGTH", help="Between two ticks.", show_default="5s")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Of the loopback; 0 takes a free one.")] = 8000,
    mail: Annotated[bool, typer.Option("--mail", help="Show mails whole.")] = False,
    migrate: Annotated[bool, typer.Option("--migrate", help="Also a database that was given by URL.")] = False,
    json: Json = False,
) -> None:
    """Serve your app with reload, a database, a tick every few seconds, and a mail server that sends nothing."""
    for library in ("uvicorn", "aiosmtpd"):
        if find_spec(library) is None:
            complain(f"crontick dev needs {library}: {install('dev')}")
            raise typer.Exit(2)
    from crontick.handler.dev import Asked, DevRefused, run

    asked = Asked(app=app, every=every or EVERY, port=port, whole_mails=mail, migrate=migrate, as_json=json)
    try:
        run(asked, Path.cwd())
    except DevRefused as error:
        complain(str(error))
        raise typer.Exit(1) from None
