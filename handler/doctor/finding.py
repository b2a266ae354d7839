"""What can be found, why each matters, and where the runbook goes on."""

from typing import Final, NamedTuple

from crontick.handler.problem import RUNBOOK


class Topic(NamedTuple):
    """One thing that can be found: its section of the runbook, and why it matters."""

    name: str
    why: str


class Finding(NamedTuple):
    """One that was found; what is not ``wrong`` is only to be known."""

    topic: Topic
    what: str
    mend: str | None
    wrong: bool = True

    def told(self) -> dict[str, str | bool | None]:
        """All of it, with the link."""
        return {
            "name": self.topic.name,
            "wrong": self.wrong,
            "what": self.what,
            "why": self.topic.why,
            "mend": self.mend,
            "link": f"{RUNBOOK}#{self.topic.name}",
        }


WRONG_SETTINGS: Final = Topic("wrong-settings", "a deployment whose settings are wrong starts no tick")
OUT_OF_REACH: Final = Topic("out-of-reach", "while its database does not answer, no tick runs")
SLOW_DATABASE: Final = Topic(
    "slow-database", "a tick waits that long in each exchange, and its seats are empty meanwhile"
)
READ_ONLY: Final = Topic("read-only", "a tick writes, and here nothing can be written")
OLD_POSTGRESQL: Final = Topic("old-postgresql", "what crontick asks of PostgreSQL came with version 14")
MIGRATE_URL: Final = Topic(
    "migrate-url", "a migration holds a lock in its session, which a pooler in transaction mode gives to others"
)
SCHEMA: Final = Topic("schema", "a tick whose code and database do not belong together answers 503 and runs nothing")
HOST_LIMIT: Final = Topic(
    "host-limit", "a tick that its host kills leaves its jobs to their leases, and what it was sending in doubt"
)
NEEDS: Final = Topic("needs", "what needs more than a tick leaves is cut in every tick, and ends in none")
AWAKE: Final = Topic("awake", "a connection that is kept between ticks keeps a serverless database awake, and it bills")
WEAK_SECRET: Final = Topic("weak-secret", "whoever guesses it opens its door")
OLD_TOKEN: Final = Topic("old-token", "a token that nobody needs any more still opens the door to whoever kept it")
SCHEDULES: Final = Topic("schedules", "a schedule that cannot fire is missed by nobody until its work is")
ZONE_DATA: Final = Topic(
    "zone-data", "countries change their clocks, and old zone data fire schedules at the hour before"
)
SILENT_TRIGGER: Final = Topic("silent-trigger", "nothing runs between ticks: while none is called, everything waits")
TRIGGER_GAPS: Final = Topic("trigger-gaps", "what came due in a gap waited for its end")
GITHUB_SIXTY_DAYS: Final = Topic(
    "github-sixty-days", "GitHub stops the schedules of a public repository after 60 days without activity"
)
GITHUB_MINUTES: Final = Topic(
    "github-minutes",
    "a private repository has 2,000 free minutes a month; each run counts as one at least, then none runs",
)
FAN_OUT: Final = Topic(
    "fan-out", "what a tick could not take waits for the next call, though others were meant to take it at once"
)
WAKING: Final = Topic("waking", "nothing calls the next tick when an alarm is lost, or none is heard")
WATCHERS: Final = Topic("watchers", "what is enqueued waits until somebody looks")
UNKNOWN_KINDS: Final = Topic("unknown-kinds", "a job of a kind that no deployment knows waits for one, for ever")
UNSAFE_COMMITS: Final = Topic(
    "unsafe-commits", "what is promised holds for commits that survive: what a lost one sent is sent again"
)
HELD_ROWS: Final = Topic("held-rows", "vacuum removes nothing that ended since, and every claim walks over it")
VACUUM: Final = Topic("vacuum", "what ends is not removed, and every claim walks over it")
RETENTION: Final = Topic("retention", "what is finished fills the disk")
UNDECIDED: Final = Topic("undecided", "a dead job waits for a person, and none is deleted before")
ROLES: Final = Topic("roles", "whoever ticks or enqueues with the owner's rights may change and drop all of it")
TEST_CLOCK: Final = Topic("test-clock", "a clock that can be set makes what is due early, late or never")
REACH: Final = Topic("reach", "what cannot be reached takes no mail and no webhook")
TOPICS: Final = (
    WRONG_SETTINGS, OUT_OF_REACH, SLOW_DATABASE, READ_ONLY, OLD_POSTGRESQL, MIGRATE_URL, SCHEMA, HOST_LIMIT, NEEDS,
    AWAKE, WEAK_SECRET, OLD_TOKEN, SCHEDULES, ZONE_DATA, SILENT_TRIGGER, TRIGGER_GAPS, GITHUB_SIXTY_DAYS,
    GITHUB_MINUTES, FAN_OUT, WAKING, WATCHERS, UNKNOWN_KINDS, UNSAFE_COMMITS, HELD_ROWS, VACUUM, RETENTION, UNDECIDED,
    ROLES, TEST_CLOCK, REACH,
)  # fmt: skip
