"""``--url``: a deployment's API in the place of its database, asked by the names of the queries that commands know."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlsplit

import httpx
import msgspec

from crontick.handler.cli.screen import complain
from crontick.handler.operate import actions, rows, states, ticking
from crontick.handler.problem import NOT_FOUND
from crontick.jobs.environ import Environ
from crontick.jobs.operator_url import check_url
from crontick.jobs.redact import Redactor
from crontick.jobs.settings import SECRETS, SettingsError
from crontick.jobs.unavailable import Unavailable

SECRET: Final = "CRONTICK_ADMIN_SECRET"  # noqa: S105 (the variable's name)
PATIENCE_SECONDS: Final = 30
PAGE: Final = 1000
"""Rows at most that one request is answered with."""
_RENAMED: Final = {"group_key": "group", "at_most": "limit"}
_EXAMPLES: Final = (
    "https://app.example of crontick's own server, https://app.example/crontick of an app that has it inside"
)
_OURS: Final = frozenset({"unfinished", "finished", "look_at"})
"""What a query is told of how to look, which the API decides itself."""


class NotDoneThere(Exception):
    """The deployment refused, in its own words."""


class Call(NamedTuple):
    """The request that stands for a query, and the query's rows in its answer."""

    method: str
    path: str
    told: type[msgspec.Struct]
    rows: Callable[[Any], list[dict[str, Any]]]


class Remote:
    """A deployment of which the URL is known, and the admin's secret."""

    def __init__(self, url: str, secret: str) -> None:
        self._host = urlsplit(url).netloc
        self.client = httpx.Client(
            base_url=url.rstrip("/"),
            headers={"authorization": f"Bearer {secret}", "user-agent": "crontick"},
            timeout=PATIENCE_SECONDS,
            trust_env=False,
        )

    def ask(self, name: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The rows that the query would have, page by page. Raises ``NotDoneThere`` and ``Unavailable``."""
        call = CALLS[name]
        path = call.path.format(**{key: quote(_in_path(key, value), safe="") for key, value in values.items()})
        given = {
            _RENAMED.get(key, key): value
            for key, value in values.items()
            if value is not None and key not in _OURS and f"{{{key}}}" not in call.path
        }
        if call.method == "POST":
            return call.rows(self._told(call, path, _body(given)))
        found: list[dict[str, Any]] = []
        wanted = given.get("limit", PAGE)
        while True:
            if "limit" in given:
                given["limit"] = min(wanted - len(found), PAGE)
            told = self._told(call, path, given)
            found += call.rows(told)
            given["below"] = getattr(told, "below", None)
            if given["below"] is None or len(found) >= wanted:
                return found

    def _told(self, call: Call, path: str, given: Any) -> Any:
        asked = {"content": given} if call.method == "POST" else {"params": given}
        try:
            answer = self.client.request(call.method, path, **asked)
        except httpx.HTTPError as error:
            raise Unavailable(f"{self._host} does not answer ({type(error).__name__})", out_of_reach=True) from None
        if answer.status_code == 200:
            with suppress(msgspec.MsgspecError):
                return msgspec.json.decode(answer.content, type=call.told)
        raise NotDoneThere(_detail(answer))


@contextmanager
def remote(url: str) -> Iterator[Remote]:
    """The deployment at that URL; raises ``SettingsError`` without a secret, and for a URL that must not have it."""
    read = Environ(os.environ)
    secrets = read.secrets(SECRET, SECRETS[SECRET])
    if not secrets:
        read.sentences.append(f"{SECRET} is not set: --url asks as the admin of that deployment")
    if "?" in url or "#" in url or not url.startswith(("http://", "https://")):
        read.sentences.append(f"--url is where crontick's routes are: {_EXAMPLES}")
    else:
        try:
            check_url(url)
        except ValueError as error:
            read.sentences.append(f"--url: {Redactor(secrets)(str(error))}")
    if read.sentences:
        raise SettingsError(read.sentences)
    there = Remote(url, secrets[0])
    with there.client:
        yield there


def _in_path(name: str, value: object) -> str:
    """An action is written with hyphens there: run-now."""
    return str(value).replace("_", "-") if name == "action" else str(value)


def _body(given: Mapping[str, Any]) -> bytes:
    raw = {name: msgspec.Raw(given[name].encode()) for name in ("payload", "matching") if given.get(name) is not None}
    return msgspec.json.encode({**given, **raw})


def _detail(answer: httpx.Response) -> str:
    """What crontick says; another application may answer in JSON, too, and says nothing of where crontick is."""
    with suppress(msgspec.MsgspecError):
        told = msgspec.json.decode(answer.content, type=dict[str, Any])
        ours = answer.headers.get("content-type", "").startswith("application/problem+json")
        if ours and isinstance(told.get("detail"), str):
            nowhere = str(told.get("type")).endswith(f"#{NOT_FOUND.anchor}")
            return f"{told['detail']}; --url is {_EXAMPLES}" if nowhere else str(told["detail"])
    return f"it answered {answer.status_code}, not as crontick does: is that where its routes are? --url is {_EXAMPLES}"


def _listed(name: str) -> Callable[[Any], list[dict[str, Any]]]:
    return lambda told: [msgspec.structs.asdict(row) for row in getattr(told, name)]


def _one(told: msgspec.Struct) -> list[dict[str, Any]]:
    return [msgspec.structs.asdict(told)]


def _only(name: str) -> Callable[[Any], list[dict[str, Any]]]:
    return lambda told: [{name: getattr(told, name)}]


def _paused(told: actions.Paused) -> list[dict[str, Any]]:
    """The warning that a connection to the database would have brought goes to stderr as well."""
    if told.warning is not None:
        complain(f"warning: {told.warning}")
    return [{"paused": told.paused}]


def _whole(told: rows.WholeJob) -> list[dict[str, Any]]:
    fields = msgspec.structs.asdict(told)
    del fields["attempts"], fields["markers"]
    result = bytes(told.result).decode()
    texts = {"payload": bytes(told.payload).decode(), "result": None if result == "null" else result}
    return [{**fields, **texts, "secret": []}]


CALLS: Final[Mapping[str, Call]] = {
    "read_state": Call("GET", "/api/overview", states.Overview, lambda told: _one(told.state)),
    "read_overview": Call("GET", "/api/overview", states.Overview, _listed("work")),
    "list_alerts": Call("GET", "/api/alerts", states.Alerts, _listed("alerts")),
    "list_pauses": Call("GET", "/api/pauses", states.Pauses, _listed("paused")),
    "list_jobs": Call(
        *("GET", "/api/jobs", rows.Jobs),
        lambda told: [
            {**row, "floor": None, "warning": told.warning} for row in _listed("jobs")(told) or [{"id": None}]
        ],
    ),
    "read_job": Call("GET", "/api/jobs/{id}", rows.WholeJob, _whole),
    "list_attempts": Call("GET", "/api/jobs/{id}", rows.WholeJob, _listed("attempts")),
    "explain_job": Call("GET", "/api/jobs/{id}/why", rows.Why, lambda told: [{"why": told.why, "known": True}]),
    "cancel_job": Call("POST", "/api/jobs/{id}/cancel", actions.JobStatus, _only("status")),
    "hurry_job": Call("POST", "/api/jobs/{id}/run-now", actions.JobStatus, _only("status")),
    "requeue_job": Call("POST", "/api/jobs/{id}/requeue", actions.Requeued, _one),
    "ignore_job": Call("POST", "/api/jobs/{id}/ignore", actions.Resolved, _only("resolution")),
    "act_on_many": Call("POST", "/api/jobs/{action}", actions.Many, _one),
    "list_dead_groups": Call("GET", "/api/dead/groups", rows.DeadGroups, _listed("groups")),
    "list_dead_letters": Call(
        *("GET", "/api/dead", rows.DeadLetters),
        lambda told: [{**row, "floor": None} for row in _listed("dead")(told)],
    ),
    "list_doubts": Call("GET", "/api/doubts", rows.Doubts, _listed("doubts")),
    "resolve_doubt": Call("POST", "/api/doubts", actions.Decided, _only("job")),
    "pause_work": Call("POST", "/api/pause", actions.Paused, _paused),
    "resume_work": Call("POST", "/api/resume", actions.Paused, _only("paused")),
    "list_schedules": Call("GET", "/api/schedules", states.Schedules, _listed("schedules")),
    "run_schedule": Call("POST", "/api/schedules/{name}/run", actions.RanSchedule, _only("job")),
    "list_breakers": Call("GET", "/api/breakers", states.Breakers, _listed("breakers")),
    "open_breaker": Call("POST", "/api/breakers/open", actions.Switched, _only("state")),
    "close_breaker": Call("POST", "/api/breakers/close", actions.Switched, _only("state")),
    "reset_breaker": Call("POST", "/api/breakers/reset", actions.Switched, _only("state")),
    "list_limits": Call("GET", "/api/limits", states.Limits, _listed("limits")),
    "list_groups": Call("GET", "/api/groups", states.Groups, _listed("groups")),
    "list_ticks": Call("GET", "/api/ticks", ticking.Ticks, _listed("ticks")),
    "list_triggers": Call("GET", "/api/triggers", ticking.Triggers, _listed("triggers")),
}
"""By the name of the query; ``{field}`` of a path is one of its values."""
