"""The demonstration, which brings its own database."""

from typing import Annotated

import typer


def demo(keep: Annotated[bool, typer.Option("--keep", help="Leave everything running afterwards.")] = False) -> None:
    """See everything at once, on a PostgreSQL of its own, in a minute."""
    from crontick.handler.demo import run

    raise typer.Exit(run(keep=keep))
