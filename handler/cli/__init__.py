"""The command line: the same doors as the tick and the SQL interface, for a person."""

import sys

from crontick.sql.extras import install


def main() -> None:
    """The console script; says which extra to install where its libraries are missing. Exits 0, 1 or 2."""
    try:
        import rich
        import typer  # noqa: F401
    except ModuleNotFoundError as error:
        sys.stderr.write(f"the command line needs {error.name}: {install('cli')}\n")
        sys.exit(2)
    del rich
    from crontick.handler.cli.run import run

    sys.path.insert(0, "")  # CRONTICK_MODULES are found in the folder one stands in, as with python -m and uvicorn
    sys.exit(run())
