"""Bringing the database up to this code."""

import sys
from typing import Annotated

import typer

from crontick.handler.cli.database import naming, settings
from crontick.handler.cli.options import Json
from crontick.handler.cli.screen import say, say_json
from crontick.jobs.deployment import load_deployment
from crontick.jobs.known import make_kinds_known
from crontick.jobs.settings import Settings
from crontick.sql import migrate as schema


def migrate(
    plan: Annotated[bool, typer.Option("--plan", help="Show what would run, and run nothing.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Exit 1 when something would run.")] = False,
    sql: Annotated[bool, typer.Option("--sql", help="Print the whole schema as SQL.")] = False,
    test_clock: Annotated[bool, typer.Option("--test-clock", help="For tests: a clock that can be set.")] = False,
    json: Json = False,
) -> None:
    """Apply what is missing of the schema, and make this deployment's kinds known. Many may do so at once."""
    known = Settings() if sql else settings()
    url = known.migrate_url
    if sql:
        sys.stdout.write(schema.script(environment=known.environment))
        return
    assert url is not None  # settings() refused that
    if plan or check:
        with naming(url):
            missing = [step.name for step in schema.pending(url)]
        _show(missing, json=json, done="would run", nothing="nothing is missing")
        if check and missing:
            raise typer.Exit(1)
        return
    with naming(url):
        ran = schema.migrate(url, environment=known.environment, test_clock=test_clock)
    _show(ran, json=json, done="ran", nothing="nothing was missing")
    make_kinds_known(load_deployment(known), url)


def _show(names: list[str], *, json: bool, done: str, nothing: str) -> None:
    if json:
        say_json({done.replace(" ", "_"): names})
        return
    for name in names:
        say(f"{done} {name}")
    if not names:
        say(nothing)
