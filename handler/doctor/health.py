"""What around the jobs slows or endangers them: the state of the database that has them."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from crontick.handler.cli.database import Connection, ask, ask_one
from crontick.handler.cli.screen import Row
from crontick.handler.doctor.finding import (
    HELD_ROWS,
    RETENTION,
    ROLES,
    TEST_CLOCK,
    UNDECIDED,
    UNSAFE_COMMITS,
    VACUUM,
    Finding,
)
from crontick.handler.lengths import lasting

DEAD_ROWS: Final = 50_000
DEAD_LETTERS: Final = 10_000
TO_TRY_THINGS_OUT: Final = frozenset({"dev", "development", "test"})
"""Environments whose databases may lose commits; that of ``crontick dev`` is one."""
ROLE_NEEDS: Final = {
    "crontick_enqueue": "enqueue", "crontick_tick": "claim", "crontick_read": "why", "crontick_admin": "requeue"
}  # fmt: skip
"""A function that each role cannot do without."""


def health(conn: Connection, old: timedelta, succeeded: timedelta) -> Iterator[Finding]:
    """``old``: how old a transaction may be; ``succeeded``: how long finished jobs are kept."""
    [state] = ask(conn, "read_health")
    yield from _durability(state, ask(conn, "list_standbys"))
    yield from _snapshots(state, ask(conn, "list_old_snapshots", {"old": old}), old)
    yield from _vacuum(state, old)
    yield from _retention(state, ask_one(conn, "count_overdue_jobs", {"kept": succeeded}))
    yield from _roles(ask(conn, "list_roles", {"names": list(ROLE_NEEDS), "needs": list(ROLE_NEEDS.values())}))
    yield from _clock(state)


def _durability(state: Row, standbys: Sequence[Row]) -> Iterator[Finding]:
    """What would take back commits on which the promises rest (P15)."""
    matters = state["environment"] not in TO_TRY_THINGS_OUT
    if state["synchronous_commit"] == "off":
        yield Finding(
            UNSAFE_COMMITS,
            "synchronous_commit is off: a crash takes back the last commits",
            f"`alter database {state['database']} set synchronous_commit = on`, or for the role that ticks",
            wrong=matters,
        )
    if not state["fsync"]:
        yield Finding(
            UNSAFE_COMMITS,
            "fsync is off: a crash of the machine may destroy the database",
            "`alter system set fsync = on`, then `select pg_reload_conf()`",
            wrong=matters,
        )
    asynchronous = [row["name"] for row in standbys if row["sync_state"] not in ("sync", "quorum")]
    if standbys and len(asynchronous) == len(standbys):
        yield Finding(
            UNSAFE_COMMITS,
            f"every standby is asynchronous ({', '.join(asynchronous)}): a failover to one loses the last commits,"
            " markers among them",
            "name one in synchronous_standby_names where that must not be",
            wrong=False,
        )


def _snapshots(state: Row, held: Sequence[Row], old: timedelta) -> Iterator[Finding]:
    for row in held:
        match row["what"]:
            case "session":
                what = f"a transaction of session {row['name']} ({row['doing']}) is {lasting(row['age'])} old"
                mend = f"end it: `select pg_terminate_backend({row['name']})`"
            case "prepared transaction":
                what = f"the prepared transaction {row['name']} ({row['doing']}) is {lasting(row['age'])} old"
                mend = f"`commit prepared` or `rollback prepared '{row['name']}'`"
            case _:
                what = (
                    f"nobody reads the replication slot {row['name']} ({row['doing']}), and it keeps WAL, perhaps also"
                    " rows"
                )
                mend = f"start its reader, or `select pg_drop_replication_slot('{row['name']}')`"
        yield Finding(HELD_ROWS, what, mend)
    if not state["sees_all_sessions"]:
        yield Finding(
            HELD_ROWS,
            f"transactions of other roles older than {lasting(old)} are not seen",
            "ask as a role that has pg_read_all_stats",
            wrong=False,
        )


def _vacuum(state: Row, old: timedelta) -> Iterator[Finding]:
    if not state["autovacuum"]:
        yield Finding(
            VACUUM,
            "autovacuum (or track_counts) is off",
            "`alter system set autovacuum = on; select pg_reload_conf()`",
        )
    for table in state["unvacuumed_tables"]:
        yield Finding(
            VACUUM,
            f"autovacuum passes over crontick.{table}",
            f"`alter table crontick.{table} reset (autovacuum_enabled)`",
        )
    dead, live, age = state["dead_rows"] or 0, state["live_rows"] or 0, state["vacuum_age"]
    if dead > DEAD_ROWS + 2 * live and (age is None or age >= old):
        last = "has never been vacuumed" if age is None else f"was vacuumed {lasting(age)} ago"
        yield Finding(
            VACUUM,
            f"crontick.unfinished_jobs holds {dead} dead rows beside {live}, and {last}",
            "`vacuum crontick.unfinished_jobs`, and see what keeps autovacuum from it",
        )


def _retention(state: Row, behind: int) -> Iterator[Finding]:
    if state["prune_error"] is not None:
        yield Finding(
            RETENTION,
            f"retention cannot delete ({state['prune_error']})",
            "take away the foreign key or trigger that refuses it, or mend what is slow",
        )
    if behind:
        yield Finding(
            RETENTION,
            f"finished jobs whose time was over more than a day ago: {behind}",
            "retention takes up to 20 % of each tick's budget: call ticks more often, or give them a longer one",
        )
    if state["dead_letters"] > DEAD_LETTERS:
        yield Finding(
            UNDECIDED,
            f"more than {DEAD_LETTERS} dead jobs wait for a decision",
            "`crontick dead errors`, then `crontick dead requeue` or `crontick dead ignore` for all of one error",
        )


def _roles(roles: Sequence[Row]) -> Iterator[Finding]:
    for role in roles:
        if not role["may_work"]:
            yield Finding(
                ROLES,
                f"the role {role['name']} was made after the schema and may not do its work",
                "run `crontick migrate`",
            )
    if missing := [role["name"] for role in roles if not role["is_there"]]:
        yield Finding(
            ROLES,
            f"these roles are not there: {', '.join(missing)}",
            f"`{'; '.join(f'create role {name}' for name in missing)}` (docs/roles.md), then `crontick migrate` grants"
            " each what its work needs",
            wrong=False,
        )


def _clock(state: Row) -> Iterator[Finding]:
    if state["test_clock_ahead"] is not None:
        ahead = state["test_clock_ahead"]
        moved = f", {lasting(abs(ahead))} {'ahead' if ahead > timedelta() else 'behind'}" if ahead else ""
        yield Finding(
            TEST_CLOCK,
            f"the test clock is installed{moved}",
            "a database of its own for production",
            wrong=state["environment"] == "production",
        )
