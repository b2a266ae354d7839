"""Bringing the database up to this code."""

import sys
from typing import Annotated

import typer

from crontick.handler.cli.database import naming, settings
from crontick.handler.cli.options import Json
from crontick.handler.cli.screen import complain, say, say_json
from crontick.jobs.config_error import ConfigError
from crontick.jobs.deployment import DeploymentError, load_deployment
from crontick.jobs.known import make_kinds_known
from crontick.jobs.settings import Settings, SettingsError
from crontick.sql import migrate as schema


def migrate(
    plan: Annotated[bool, typer.Option("--plan", help="Show what would run, and run nothing.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Exit 1 when something would run.")] = False,
    sql: Annotated[bool, typer.Option("--sql", help="Print the whole schema as SQL.")] = False,
    test_clock: Annotated[bool, typer.Option("--test-clock", help="For tests: a clock that can be set.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Name every file, not the migrations alone.")] = False,
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
        _show(missing, "would run", nothing="nothing is missing", verbose=verbose, json=json)
        if check and missing:
            raise typer.Exit(1)
        return
    with naming(url):
        ran = schema.migrate(url, environment=known.environment, test_clock=test_clock)
    if not json:
        _show(ran, "ran", nothing="nothing was missing", verbose=verbose, json=False)
    try:
        deployment = load_deployment(known)
        in_force = make_kinds_known(deployment, url)
    except (SettingsError, ConfigError, DeploymentError) as error:
        if json:
            say_json({"ran": ran})
        complain(f"the schema is up to date; the kinds could not be made known: {error}")
        raise typer.Exit(1) from None
    schedules = sorted(schedule.name for schedule in deployment.schedules)
    if json:
        say_json({"ran": ran, "kinds": sorted(deployment.kinds), "schedules": schedules if in_force else None})
    else:
        say(f"known to whoever enqueues: {len(deployment.kinds)} kinds")
        if in_force:
            say(f"schedules in force: {', '.join(schedules) or 'none'}")
    if not in_force:
        complain("another transaction holds a schedule, so those of before are in force: run `crontick migrate` again")
        raise typer.Exit(1)


def _show(names: list[str], done: str, *, nothing: str, verbose: bool, json: bool) -> None:
    if json:
        say_json({done.replace(" ", "_"): names})
        return
    recreated = [name for name in names if not name.startswith("migrations/")]
    is_short = len(recreated) > 1 and not verbose
    named = [name for name in names if name not in recreated] if is_short else names
    for name in named:
        say(f"{done} {name}")
    if is_short:
        say(f"{'and' if named else done} {len(recreated)} functions and views")
    if not names:
        say(nothing)
