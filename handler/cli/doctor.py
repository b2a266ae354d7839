"""What around the jobs slows or endangers them, or will: the database's state, not the settings."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Annotated, Final

import typer

from crontick.handler.cli.database import Connection, ask, ask_one, connected, settings
from crontick.handler.cli.findings import Finding, tell
from crontick.handler.cli.options import Json, length
from crontick.handler.cli.screen import Row
from crontick.handler.lengths import lasting
from crontick.jobs.config import load_config
from crontick.jobs.slots import zone_data_version

OLD: Final = timedelta(minutes=10)
"""No tick, and no statement of a web app, takes as long."""
DEAD_ROWS: Final = 50_000
DEAD_LETTERS: Final = 10_000
NEEDS: Final = {
    "crontick_enqueue": "enqueue", "crontick_tick": "claim", "crontick_read": "why", "crontick_admin": "requeue"
}  # fmt: skip
"""A function that each role cannot do without."""

Old = Annotated[
    timedelta | None,
    typer.Option("--old", parser=length, metavar="LENGTH", help="How old a transaction may be.", show_default="10m"),
]


def doctor(old: Old = None, json: Json = False) -> None:
    """Look for what slows or endangers the jobs in this database; exit 1 when something is wrong."""
    kept = load_config(settings().config_path).retention
    with connected() as conn:
        findings = list(_findings(conn, OLD if old is None else old, kept.succeeded))
    zones = zone_data_version()
    findings.append(Finding(wrong=False, sentence=f"schedules are computed with zone data {zones}"))
    tell(findings, as_json=json, zone_data=zones)


def _findings(conn: Connection, old: timedelta, succeeded: timedelta) -> Iterator[Finding]:
    [health] = ask(conn, "read_health")
    yield from _durability(health, ask(conn, "list_standbys"))
    yield from _snapshots(health, ask(conn, "list_old_snapshots", {"old": old}), old)
    yield from _vacuum(health, old)
    yield from _retention(health, ask_one(conn, "count_overdue_jobs", {"kept": succeeded}))
    yield from _roles(ask(conn, "list_roles", {"names": list(NEEDS), "needs": list(NEEDS.values())}))
    yield from _clock(health)


def _durability(health: Row, standbys: Sequence[Row]) -> Iterator[Finding]:
    """What would take back commits on which the promises rest (P15)."""
    if health["synchronous_commit"] == "off":
        yield Finding(
            wrong=True,
            sentence="synchronous_commit is off: a crash takes back the last commits, and what they sent is sent again:"
            " `alter database … set synchronous_commit = on`, or for the role that ticks",
        )
    if not health["fsync"]:
        yield Finding(
            wrong=True,
            sentence="fsync is off: a crash of the machine may destroy the database: set fsync = on, but for tests",
        )
    asynchronous = [row["name"] for row in standbys if row["sync_state"] not in ("sync", "quorum")]
    if standbys and len(asynchronous) == len(standbys):
        yield Finding(
            wrong=False,
            sentence=f"every standby is asynchronous ({', '.join(asynchronous)}): a failover to one loses the last"
            " commits, markers among them: name one in synchronous_standby_names where that must not be",
        )


def _snapshots(health: Row, held: Sequence[Row], old: timedelta) -> Iterator[Finding]:
    """What keeps rows that ended from being removed, so that every claim walks over them."""
    for row in held:
        match row["what"]:
            case "session":
                sentence = (
                    f"a transaction of session {row['name']} ({row['doing']}) is {lasting(row['age'])} old, and vacuum"
                    f" removes nothing that ended since: end it: `select pg_terminate_backend({row['name']})`"
                )
            case "prepared transaction":
                sentence = (
                    f"the prepared transaction {row['name']} ({row['doing']}) is {lasting(row['age'])} old, and vacuum"
                    f" removes nothing that ended since: `commit prepared` or `rollback prepared '{row['name']}'`"
                )
            case _:
                sentence = (
                    f"nobody reads the replication slot {row['name']} ({row['doing']}), and it keeps WAL, perhaps also"
                    f" rows: start its reader, or `select pg_drop_replication_slot('{row['name']}')`"
                )
        yield Finding(wrong=True, sentence=sentence)
    if not health["sees_all_sessions"]:
        yield Finding(
            wrong=False,
            sentence=f"transactions of other roles older than {lasting(old)} are not seen: ask as a role that has"
            " pg_read_all_stats",
        )


def _vacuum(health: Row, old: timedelta) -> Iterator[Finding]:
    if not health["autovacuum"]:
        yield Finding(
            wrong=True,
            sentence="autovacuum (or track_counts) is off: what ends is never removed, and claims slow down:"
            " `alter system set autovacuum = on; select pg_reload_conf()`",
        )
    for table in health["unvacuumed_tables"]:
        yield Finding(
            wrong=True,
            sentence=f"autovacuum passes over crontick.{table}:"
            f" `alter table crontick.{table} reset (autovacuum_enabled)`",
        )
    dead, live, age = health["dead_rows"] or 0, health["live_rows"] or 0, health["vacuum_age"]
    if dead > DEAD_ROWS + 2 * live and (age is None or age >= old):
        last = "has never been vacuumed" if age is None else f"was vacuumed {lasting(age)} ago"
        yield Finding(
            wrong=True,
            sentence=f"crontick.unfinished_jobs holds {dead} dead rows beside {live}, and {last}:"
            " `vacuum crontick.unfinished_jobs`, and see what keeps autovacuum from it",
        )


def _retention(health: Row, behind: int) -> Iterator[Finding]:
    if health["prune_error"] is not None:
        yield Finding(
            wrong=True,
            sentence=f"retention cannot delete ({health['prune_error']}): take away the foreign key or trigger that"
            " refuses it, or mend what is slow",
        )
    if behind:
        yield Finding(
            wrong=True,
            sentence=f"finished jobs whose time was over more than a day ago: {behind}: retention takes up to 20 % of"
            " each tick's budget: call ticks more often, or give them a longer one",
        )
    if health["dead_letters"] > DEAD_LETTERS:
        yield Finding(
            wrong=True,
            sentence=f"more than {DEAD_LETTERS} dead jobs wait for a decision, and none is ever deleted before:"
            " `crontick dead list`",
        )


def _roles(roles: Sequence[Row]) -> Iterator[Finding]:
    for role in roles:
        if not role["may_work"]:
            yield Finding(
                wrong=True,
                sentence=f"the role {role['name']} was made after the schema and may not do its work:"
                " run `crontick migrate`",
            )
    if missing := [role["name"] for role in roles if not role["is_there"]]:
        yield Finding(
            wrong=False,
            sentence=f"these roles are not there: {', '.join(missing)}: whoever ticks or enqueues has the owner's"
            " rights: `create role …`, then `crontick migrate` grants each what its work needs",
        )


def _clock(health: Row) -> Iterator[Finding]:
    if health["test_clock_ahead"] is not None:
        ahead = health["test_clock_ahead"]
        moved = f", {lasting(abs(ahead))} {'ahead' if ahead > timedelta() else 'behind'}" if ahead else ""
        yield Finding(
            wrong=health["environment"] == "production",
            sentence=f"the test clock is installed{moved}: times may be moved: a database of its own for production",
        )
