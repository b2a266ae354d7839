"""Settings that are each allowed, and together, or beside what the ticks tell, are not right."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from hashlib import sha256
from typing import Final

from crontick.handler.cli.check_needs import oversized
from crontick.handler.cli.screen import Row
from crontick.handler.doctor.finding import AWAKE, HOST_LIMIT, NEEDS, OLD_TOKEN, WEAK_SECRET, Finding
from crontick.handler.doctor.strength import guessable
from crontick.handler.lengths import lasting
from crontick.jobs.deployment import Deployment
from crontick.jobs.settings import Settings

MAKE_ONE: Final = (
    "make one with `openssl rand -hex 32`, put it beside the old one, change the callers, take out the old one"
)
FINGERPRINT_DIGITS: Final = 8


def secrets(settings: Settings) -> Iterator[Finding]:
    """Which value of which variable; never a part of it."""
    doors = {
        "CRON_SECRET": settings.cron_secrets,
        "CRONTICK_ADMIN_SECRET": settings.admin_secrets,
        "CRONTICK_ENQUEUE_SECRET": settings.enqueue_secrets,
    }
    for name, values in doors.items():
        for nth, value in enumerate(values, start=1):
            if guessable(value):
                which = name if len(values) == 1 else f"{name}, value {nth} of {len(values)},"
                yield Finding(WEAK_SECRET, f"{which} looks made up by a person", MAKE_ONE)


def tokens(settings: Settings, used: Sequence[Row]) -> Iterator[Finding]:
    """Tokens that called nothing for as long as ticks are kept, beside one that did: a rotation that was not ended."""
    calls = {row["token"]: row["age"] for row in used}
    values = settings.cron_secrets
    fingerprints = [sha256(value.encode()).hexdigest()[:FINGERPRINT_DIGITS] for value in values]
    if not calls.keys() & set(fingerprints):
        return
    for nth, fingerprint in enumerate(fingerprints, start=1):
        if fingerprint not in calls:
            yield Finding(
                OLD_TOKEN,
                f"no tick that is still known was called with CRON_SECRET's value {nth} of {len(values)}"
                f" ({fingerprint}…)",
                "take it out, if it is the one before",
                wrong=False,
            )


def time_limits(settings: Settings, died_ticks: int) -> Iterator[Finding]:
    """Budget < the host's hard limit < lease (P4), where settings cannot tell but ticks can."""
    longest, host = settings.max_budget_seconds, settings.host_limit_seconds
    if died_ticks:
        known = "is not set" if host is None else f"says {host:g}"
        yield Finding(
            HOST_LIMIT,
            f"ticks of the last day that died before their end: {died_ticks}; CRONTICK_HOST_LIMIT_SECONDS {known},"
            f" and a tick may take {longest:g} s",
            "`crontick ticks` and the host's log: where the host killed them at a time limit, set"
            " CRONTICK_HOST_LIMIT_SECONDS to it and the budgets below it; where memory ran out, lower"
            " CRONTICK_CONCURRENCY",
        )
    elif host is None:
        yield Finding(
            HOST_LIMIT,
            f"CRONTICK_HOST_LIMIT_SECONDS is not set: a lease ends {longest + 15:g} s after its tick began",
            "set it where the host kills requests (on Lambda crontick knows)",
            wrong=False,
        )


def needs(deployment: Deployment) -> Iterator[Finding]:
    """Kinds that no tick of this deployment is long enough for."""
    for sentence in oversized(deployment):
        what, _, mend = sentence.partition(": ")
        yield Finding(NEEDS, what, mend)


def awake(settings: Settings, usual_gap: timedelta | None) -> Iterator[Finding]:
    """Connections that are kept from tick to tick."""
    kept = settings.keep_connection_seconds
    if usual_gap is not None and timedelta() < usual_gap <= timedelta(seconds=kept):
        yield Finding(
            AWAKE,
            f"ticks come every {lasting(usual_gap)}, and a connection is kept for up to {kept:g} s",
            "where the database should sleep, set CRONTICK_KEEP_CONNECTION_SECONDS=0 and call ticks less often",
            wrong=False,
        )
