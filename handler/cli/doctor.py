"""crontick doctor: what slows, endangers or stops the jobs, from the settings to the receivers."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import psycopg
import typer

from crontick.handler.cli.database import Connection, ask, ask_one, connected
from crontick.handler.cli.options import Json, length
from crontick.handler.cli.screen import say, say_json
from crontick.handler.cli.status import LOOK_AT
from crontick.handler.doctor import connection, triggers, work
from crontick.handler.doctor import settings as together
from crontick.handler.doctor.fan_out import fan_out
from crontick.handler.doctor.finding import OUT_OF_REACH, REACH, ROLES, SCHEMA, WRONG_SETTINGS, Finding
from crontick.handler.doctor.health import health
from crontick.handler.doctor.reach import reach as reached
from crontick.handler.doctor.waking import waking
from crontick.handler.doctor.watchers import watchers
from crontick.handler.doctor.zones import zones
from crontick.jobs.config_error import ConfigError
from crontick.jobs.deployment import Deployment, DeploymentError, load_deployment
from crontick.jobs.ready import refuse_misfit
from crontick.jobs.rights import unavailable_outside_ticks
from crontick.jobs.sections import Config
from crontick.jobs.settings import Settings, SettingsError
from crontick.jobs.slots import zone_data_version
from crontick.jobs.unavailable import Unavailable
from crontick.sql import SCHEMA as SCHEMA_OF_THIS_CODE

OLD: Final = timedelta(minutes=10)
"""No tick, and no statement of a web app, takes as long."""
DAY: Final = timedelta(days=1)
ENDPOINTS_AT_MOST: Final = 200

Old = Annotated[
    timedelta | None,
    typer.Option("--old", parser=length, metavar="LENGTH", help="How old a transaction may be.", show_default="10m"),
]
Reached = Annotated[
    bool, typer.Option("--reach", help="Also connect to the mail server and to receivers; nothing is sent.")
]


def doctor(old: Old = None, reach: Reached = False, json: Json = False) -> None:
    """Look for what slows, endangers or stops the jobs; each finding has its mend. Exit 1 when something is wrong."""
    found = list(_findings(OLD if old is None else old, asked_to_reach=reach))
    wrong = any(finding.wrong for finding in found)
    if json:
        findings = [finding.told() for finding in found]
        say_json({"ok": not wrong, "zone_data": zone_data_version(), "findings": findings})
    else:
        for finding in found:
            _say(finding)
        say("something is wrong" if wrong else "all is well")
    if wrong:
        raise typer.Exit(1)


def _say(finding: Finding) -> None:
    told = finding.told()
    say(f"{'!' if finding.wrong else '-'} {finding.what}")
    if finding.mend is not None:
        say(f"    why   {told['why']}")
        say(f"    mend  {finding.mend}")
        say(f"    more  {told['link']}")


def _findings(old: timedelta, *, asked_to_reach: bool) -> Iterator[Finding]:
    try:
        settings = Settings.from_environ(os.environ)
    except SettingsError as error:
        yield from (_wrong(sentence) for sentence in error.sentences)
        return
    deployment = None
    try:
        deployment = load_deployment(settings)
    except (ConfigError, DeploymentError) as error:
        yield from (_wrong(sentence) for sentence in str(error).splitlines())
    yield from together.secrets(settings)
    if deployment is not None:
        yield from together.needs(deployment)
    yield from work.zone_data(zone_data_version(), datetime.now(UTC))
    if settings.database_url is None:
        yield _wrong("CRONTICK_DATABASE_URL is not set, nor DATABASE_URL: name the PostgreSQL that has the jobs")
        return
    try:
        yield from _database(settings, settings.database_url, deployment, old, asked_to_reach=asked_to_reach)
    except Unavailable as unavailable:
        what, _, mend = unavailable.reason.partition(": ")
        if unavailable.out_of_reach or not mend:
            what = unavailable.reason
            mend = "is it up, is the URL right, may this host reach it? One that sleeps may take a minute to wake"
        yield Finding(OUT_OF_REACH, what, mend)


def _database(
    settings: Settings, url: str, deployment: Deployment | None, old: timedelta, *, asked_to_reach: bool
) -> Iterator[Finding]:
    began = time.perf_counter()
    with connected() as conn:
        connect_ms = (time.perf_counter() - began) * 1000
        yield from connection.connection(conn, url, connect_ms)
        yield from connection.migrate_url(settings)
        misfit, readable = _misfit(conn, settings)
        if misfit is not None:
            yield misfit
        if not readable:
            return
        config = Config() if deployment is None else deployment.config
        try:
            yield from health(conn, old, config.retention.succeeded)
            yield from _asked(conn, settings, deployment)
        except psycopg.errors.InsufficientPrivilege as error:
            mend = unavailable_outside_ticks(error).reason
            yield Finding(ROLES, "the jobs and the rest of the database were not looked at", mend, wrong=False)
        endpoints = _endpoints(conn) if asked_to_reach else None
    if deployment is not None and endpoints is not None:
        yield from reached(deployment, endpoints)
        if not endpoints and not config.webhook_endpoint:
            yield Finding(REACH, "no endpoint is known that this role may read", None, wrong=False)


def _asked(conn: Connection, settings: Settings, deployment: Deployment | None) -> Iterator[Finding]:
    """What ticks and jobs tell."""
    calls = ask(conn, "read_triggers")
    yield from together.time_limits(settings, ask_one(conn, "count_died_ticks", {"within": DAY}))
    yield from together.tokens(settings, ask(conn, "list_tokens"))
    yield from together.awake(settings, triggers.usual_gap(calls))
    yield from triggers.triggers(calls)
    yield from triggers.github(calls, Path.cwd())
    yield from watchers(ask(conn, "list_watchers"))
    if deployment is not None:
        yield from fan_out(settings, deployment.config.fan_out, *ask(conn, "read_fan_out"))
        [past] = ask(conn, "count_past_wakes")
        yield from waking(deployment.config.wake, calls, past["armed"])
    yield from work.unknown_kinds(
        ask(conn, "read_overview", {"look_at": LOOK_AT}), () if deployment is None else deployment.kinds
    )
    yield from work.schedules(deployment, ask(conn, "list_kept_schedules"))
    if deployment is not None:
        yield from zones(conn, deployment, datetime.now(UTC))


def _misfit(conn: Connection, settings: Settings) -> tuple[Finding | None, bool]:
    """Why no tick could run on it, and whether it can be asked all the same."""
    try:
        rows = ask(conn, "read_installation")
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
        rows = []
    row = (rows[0]["environment"], rows[0]["version"], rows[0]["oldest_code"]) if rows else None
    try:
        refuse_misfit(row, settings.environment)
    except Unavailable as unavailable:
        what, _, mend = unavailable.reason.partition(": ")
        return Finding(SCHEMA, what, mend), row is not None and row[1] >= SCHEMA_OF_THIS_CODE
    return None, True


def _endpoints(conn: Connection) -> dict[str, str]:
    """URLs of endpoints by name, as far as this role may read them."""
    try:
        return {row["name"]: row["url"] for row in ask(conn, "list_endpoint_urls", {"at_most": ENDPOINTS_AT_MOST})}
    except psycopg.errors.InsufficientPrivilege:
        return {}


def _wrong(sentence: str) -> Finding:
    what, colon, mend = sentence.partition(": ")
    return Finding(WRONG_SETTINGS, what, mend) if colon else Finding(WRONG_SETTINGS, sentence, "`crontick check`")
