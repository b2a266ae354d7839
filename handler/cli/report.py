"""Files of ``generate_report``: which there are, a link to one, the bytes of one."""

import asyncio
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import IO, Annotated, Final

import typer

from crontick.handler.cli.database import ask, connected, naming, settings
from crontick.handler.cli.options import Count, Json, length
from crontick.handler.cli.screen import complain, say, say_json, table
from crontick.jobs.links import FILE_PATH, LONGEST, PROGRESS_PATH, LinkError, make_link
from crontick.jobs.report_files import Run, opened, pieces, read_run

app: Final = typer.Typer(help="Reports that were generated.", no_args_is_help=True)
COLUMNS: Final = ("id", "report", "status", "row_count", "rows_expected", "byte_count", "started_at", "finished_at")
RunId = Annotated[int, typer.Argument(min=1, max=2**63 - 1, metavar="RUN", help="The run: its first job's id.")]


@app.command("list")
def list_(limit: Count = 20, json: Json = False) -> None:
    """List runs, the latest first."""
    with connected() as conn:
        rows = ask(conn, "list_report_runs", {"at_most": limit})
    if json:
        say_json(rows)
    else:
        table(rows, COLUMNS, as_json=False, nothing="no report has been begun: `crontick enqueue generate_report`")


@app.command()
def link(
    run: RunId,
    *,
    lasts: Annotated[
        timedelta | None, typer.Option(parser=length, metavar="LENGTH", help="How long it opens: 7d, the most.")
    ] = None,
    progress: Annotated[bool, typer.Option("--progress", help="To how far the run is, not to its file.")] = False,
    json: Json = False,
) -> None:
    """Print a signed link to the run's file, which opens it without a token until it expires."""
    try:
        made = make_link(settings(), run, lasts=lasts or LONGEST, to=PROGRESS_PATH if progress else FILE_PATH)
    except LinkError as error:
        complain(str(error))
        raise typer.Exit(2) from None
    if json:
        say_json({"run": run, "link": made})
    else:
        say(made)


@app.command()
def download(
    run: RunId,
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where to; - is stdout.")] = None,
    json: Json = False,
) -> None:
    """Write the run's file from the database into this folder; a file that is there is not written over."""
    url = settings().database_url
    assert url is not None  # settings() refused that
    with naming(url):
        name, size = asyncio.run(_download(url, run, output))
    if json and name != "-":
        say_json({"run": run, "file": name, "bytes": size})
    elif name != "-":
        say(f"{name}: {size} bytes")


async def _download(url: str, run: int, output: Path | None) -> tuple[str, int]:
    async with opened(url) as conn:
        found = await read_run(conn, run)
    if found is None or found.status != "succeeded":
        complain(_no_file(found))
        raise typer.Exit(1)
    content = pieces(url, run, 0, found.byte_count - 1)
    if output == Path("-"):
        return "-", await _write(sys.stdout.buffer, content)
    path = output or Path(found.file_name)
    try:
        with path.open("xb") as file:
            return str(path), await _write(file, content)
    except FileExistsError:
        complain(f"{path} is there already: name another with --output")
        raise typer.Exit(1) from None


async def _write(file: IO[bytes], content: AsyncIterator[bytes]) -> int:
    size = 0
    async for piece in content:
        size += file.write(piece)
    return size


def _no_file(run: Run | None) -> str:
    if run is None:
        return "there is no such run, or none any more: `crontick report list`"
    because = f": {run.last_error}" if run.last_error else ""
    return f"the run is not finished, it is {run.status}{because}"
