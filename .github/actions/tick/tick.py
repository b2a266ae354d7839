"""Call crontick's tick from a GitHub runner, and tell in counts alone how it went.

One file of the standard library's parts, for any Python from 3.10: whoever gives it a secret can read all that gets it.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import os
import random
import re
import signal
import socket
import ssl
import sys
import time
import urllib.request
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import urlsplit

VERSION: Final = "0.1.0"
COUNTS: Final = ("claimed", "succeeded", "failed", "dead", "snoozed", "cancelled", "handed_back", "rescued", "lost")
OUTPUTS: Final = ("claimed", "succeeded", "failed", "dead")
NAMES: Final = r"[a-z0-9][a-z0-9_.-]{0,63}"

DEFAULT_BUDGET_SECONDS: Final = 25
BEYOND_BUDGET_SECONDS: Final = 60  # for a host that has to wake and a database that does
LATE_SECONDS: Final = 600
ANSWER_BYTES: Final = 2**18
MOST: Final = 10**9  # of any count: Python refuses to write numbers of thousands of digits
BACKOFF_CAP_SECONDS: Final = 30
RETRY_AFTER_CAP_SECONDS: Final = 60

NOT_SET: Final = "set the repository secrets CRONTICK_URL and CRON_SECRET (Settings, Secrets and variables, Actions)"
MENDS: Final = {
    400: "is CRONTICK_URL the address of a crontick of this version",
    401: "compare the repository secret CRON_SECRET with the CRON_SECRET of the deployment",
    403: "something in front of crontick refused the call: let it pass POST /cron/tick without a login",
    404: "is CRONTICK_URL right (the tick is at /cron/tick), and is CRON_SECRET set at the server",
    405: "what answers there takes no POST: is CRONTICK_URL right",
    422: "an input is out of range or unknown to the server: compare limit, budget-seconds, queues and kinds",
}


class Failed(Exception):
    """The run ends in an error; the text says what to mend."""


class NotSetUp(Exception):
    """Neither secret is there: a fork, or a repository that nobody has set up yet."""


class Passing(Exception):
    """The call failed in a way that may pass: it is made again, for another tick takes other due jobs or none."""

    def __init__(self, said: str, retry_after_seconds: float = 0) -> None:
        super().__init__(said)
        self.retry_after_seconds = retry_after_seconds


@dataclass(frozen=True)
class Settings:
    """What the environment asks for."""

    url: str
    token: str
    request: dict[str, Any]
    call_seconds: int
    run_seconds: int
    repeats: int
    retries: int
    fail_on_dead: bool


@dataclass
class Told:
    """What the ticks of this run told, added up."""

    ticks: int = 0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    more: bool = False
    late_seconds: int = 0
    warnings: int = 0
    troubles: int = 0
    """Errors that are of no job: a reminder that could not be read."""

    def add(self, answer: dict[str, Any]) -> None:
        """Count one tick's answer."""
        self.ticks += 1
        for name in COUNTS:
            self.counts[name] += answer[name]
        self.more = answer["more"]
        self.late_seconds = max(self.late_seconds, int(answer.get("late_seconds") or 0))
        self.warnings += len(answer.get("warnings", ()))
        self.troubles += sum("job" not in error for error in answer.get("errors", ()))


def given(name: str) -> str:
    """An input of the action, as ``action.yml`` passes it; empty when it was left out."""
    return os.environ.get("TICK_" + name.upper().replace("-", "_"), "").strip()


def number(name: str, default: int, *, least: int, most: int) -> int:
    """An input that is a whole number; ``default`` when it was left out."""
    text = given(name)
    if text and not (re.fullmatch("[0-9]{1,4}", text) and least <= int(text) <= most):
        raise Failed(f"the input {name} must be a whole number from {least} to {most}")
    return int(text) if text else default


def flag(name: str) -> bool:
    """An input that is true or false; false when it was left out."""
    if given(name) not in ("", "true", "false"):
        raise Failed(f"the input {name} must be true or false")
    return given(name) == "true"


def names(name: str) -> list[str]:
    """An input that is names separated by commas; none when it was left out."""
    found = [part.strip() for part in given(name).split(",")] if given(name) else []
    if not all(re.fullmatch(NAMES, part) for part in found):
        raise Failed(f"the input {name} must be names separated by commas: lower-case letters, digits, _ . -")
    return found


def read_settings() -> Settings:
    """The environment, checked; raises ``NotSetUp``, or ``Failed`` for the first thing that is wrong."""
    url, token = os.environ.get("CRONTICK_URL", "").strip(), os.environ.get("CRON_SECRET", "").strip()
    if not url and not token:
        raise NotSetUp
    if not url or not token:
        raise Failed(f"{'CRON_SECRET' if url else 'CRONTICK_URL'} is not set: {NOT_SET}")
    if os.environ.get("GITHUB_ACTIONS") == "true":
        say(f"::add-mask::{token}".replace("%", "%25"))  # the runner takes the line away
    if not re.fullmatch(r"[!-+\--~]+", token):
        raise Failed("CRON_SECRET must be one token, without blanks or commas: of several that are valid, send one")
    budget = number("budget-seconds", 0, least=1, most=900)
    call_seconds = (budget or DEFAULT_BUDGET_SECONDS) + BEYOND_BUDGET_SECONDS
    minutes = number("max-minutes", 4, least=1, most=60)
    if call_seconds > minutes * 60:
        raise Failed(f"one call may take {call_seconds} s: raise max-minutes, and the job's timeout-minutes above it")
    asked = {
        "limit": number("limit", 0, least=1, most=1000),
        "budget_seconds": budget,
        "queues": names("queues"),
        "kinds": names("kinds"),
        "dry_run": flag("dry-run"),
        "verbose": flag("dry-run"),  # else the answer is cut to five jobs
        "scheduled_for": given("scheduled-for"),
    }
    return Settings(
        url=tick_url(url, private_http=flag("allow-private-http")),
        token=token,
        request={"trigger": "github-actions", **{name: value for name, value in asked.items() if value}},
        call_seconds=call_seconds,
        run_seconds=minutes * 60,
        repeats=0 if flag("dry-run") else number("max-repeats", 10, least=0, most=100),
        retries=number("max-retries", 4, least=0, most=10),
        fail_on_dead=flag("fail-on-dead"),
    )


def tick_url(url: str, *, private_http: bool) -> str:
    """The tick's address, out of it or of the base that it is under."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or not re.fullmatch("[!-~]+", url) or parts.scheme not in ("http", "https"):
        raise Failed("CRONTICK_URL is no address such as https://app.example")
    if parts.query or parts.fragment or "@" in parts.netloc:
        raise Failed("CRONTICK_URL must have no query, fragment or user: addresses are written to logs on their way")
    if parts.scheme == "http" and not private_http:
        raise Failed("CRONTICK_URL must be https: else the token can be read on its way (see allow-private-http)")
    path = parts.path.rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{path}{'' if path.endswith('/cron/tick') else '/cron/tick'}"


def refuse_public(host: str) -> None:
    """Plain http goes to loopback and private addresses only; the name may have public ones as well."""
    for *_, address in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM):
        found = ipaddress.ip_address(str(address[0]).partition("%")[0])
        if not (getattr(found, "ipv4_mapped", None) or found).is_private:
            raise Failed("allow-private-http is for loopback and private addresses: CRONTICK_URL must be https")


def out_of_time(*_: object) -> None:
    """End whatever the process waits for."""
    raise TimeoutError


def call(settings: Settings, request: dict[str, Any]) -> tuple[int, http.client.HTTPMessage, bytes]:
    """One POST as a whole within ``call_seconds``: a socket's own timeout would begin anew with each byte."""
    headers = {
        "Authorization": f"Bearer {settings.token}",
        "Content-Type": "application/json",
        "User-Agent": f"crontick-github-actions/{VERSION}",
    }
    post = urllib.request.Request(settings.url, json.dumps(request).encode(), headers, method="POST")  # noqa: S310
    # Put together by hand, so that nothing in it follows a redirect: the token goes to one address.
    opener = urllib.request.OpenerDirector()
    if private := post.type == "http":
        opener.add_handler(urllib.request.HTTPHandler())
    else:
        opener.add_handler(urllib.request.ProxyHandler())
        opener.add_handler(urllib.request.HTTPSHandler(context=ssl.create_default_context()))
    signal.signal(signal.SIGALRM, out_of_time)
    signal.setitimer(signal.ITIMER_REAL, settings.call_seconds)
    try:
        if private:
            refuse_public(urlsplit(settings.url).hostname or "")
        with opener.open(post, timeout=settings.call_seconds) as response:
            body = response.read(ANSWER_BYTES)
            if response.length and len(body) < ANSWER_BYTES:
                raise ConnectionError
            return response.status, response.headers, body
    except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: a chunk of negative size
        reason = getattr(error, "reason", error)
        if isinstance(reason, ssl.SSLCertVerificationError):
            raise Failed("the certificate of CRONTICK_URL's host is not valid, or not for that name") from None
        raise Passing(f"no answer, {type(reason).__name__}") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def judged(status: int, headers: http.client.HTTPMessage, body: bytes) -> dict[str, Any]:
    """The tick's answer. Whatever else came is told by its status and content type: the log may be public."""
    content_type = (headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    known = re.fullmatch("[a-z]{1,20}/[a-z0-9.+-]{1,40}", content_type)
    came = f"the answer was {status}, {content_type if known else 'of no known content type'}"
    if status in (408, 429) or status >= 500:
        raise Passing(came, retry_after_seconds(headers.get("Retry-After") or ""))
    if 300 <= status < 400:
        raise Failed(f"{came}: a redirect, and none is followed; give the address that it leads to as CRONTICK_URL")
    if status != 200:
        raise Failed(f"{came}: {MENDS.get(status, 'is CRONTICK_URL the address of crontick')}?")
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if not is_tick(answer):
        raise Failed(f"{came}, but it is not a tick's: is CRONTICK_URL the address of crontick?")
    return dict(answer)


def is_tick(answer: Any) -> bool:
    """Whether a decoded body is the summary of a tick, or says why none ran."""
    if not isinstance(answer, dict) or not isinstance(answer.get("ran"), bool):
        return False
    if not answer["ran"]:
        return answer.get("reason") in ("busy", "paused")
    return (
        all(type(answer.get(name)) is int and 0 <= answer[name] <= MOST for name in COUNTS)
        and type(answer.get("more")) is bool
        and type(late := answer.get("late_seconds")) in (int, type(None))
        and abs(late or 0) <= MOST
        and isinstance(answer.get("would_run", []), list)
        and isinstance(answer.get("warnings"), list)
        and isinstance(answer.get("errors"), list)
        and all(isinstance(error, dict) for error in answer["errors"])
    )


def retry_after_seconds(value: str) -> float:
    """RFC 9110: seconds or a date; 0 when it is neither."""
    if re.fullmatch("[0-9]{1,9}", value):
        return int(value)
    try:
        at = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return 0
    return at.timestamp() - time.time()


def wait_seconds(tries: int, asked_seconds: float) -> float:
    """Twice as long each time, or as long as the server asked, within bounds; jitter only ever adds."""
    backoff = min(2.0 ** (tries - 1), BACKOFF_CAP_SECONDS)
    return max(backoff, min(asked_seconds, RETRY_AFTER_CAP_SECONDS)) * random.uniform(1, 1.25)  # noqa: S311


def tick(settings: Settings, request: dict[str, Any], *, until: float) -> dict[str, Any]:
    """One tick's answer, asked for again while what went wrong may pass."""
    tries = 1
    while True:
        try:
            return judged(*call(settings, request))
        except Passing as passing:
            wait = wait_seconds(tries, passing.retry_after_seconds)
            if tries > settings.retries or time.monotonic() + wait + settings.call_seconds > until:
                raise Failed(f"{passing}, and no better after {tries} tries: is the app up? Its log has more") from None
            say(f"{passing}: trying again in {wait:.0f} s")
        time.sleep(wait)
        tries += 1


def run(settings: Settings, told: Told) -> None:
    """Tick, and again while more is due and there is room for a whole call."""
    until = time.monotonic() + settings.run_seconds
    request = dict(settings.request)
    while True:
        answer = tick(settings, request, until=until)
        if not answer["ran"]:
            say(f"::notice::the tick ran nothing: crontick is {answer['reason']}")
            return
        told.add(answer)
        say(f"tick {told.ticks}: " + ", ".join(f"{name} {answer[name]}" for name in COUNTS))
        if "would_run" in answer:
            say(f"dry run: {len(answer['would_run'])} jobs would run")
        if not answer["more"] or told.ticks > settings.repeats:
            return
        if time.monotonic() + settings.call_seconds > until:
            return
        request.pop("scheduled_for", None)  # the later ticks are not late


def warn(told: Told, *, dead_is_error: bool) -> None:
    """Annotations for what a person should see; raises ``Failed`` for the dead where that was asked for."""
    dead = f"jobs that died and wait for a person: {told.counts['dead']} (`crontick dead list`)"
    for count, sentence in (
        (0 if dead_is_error else told.counts["dead"], dead),
        (told.counts["lost"], f"outcomes lost, for their leases ran out first: {told.counts['lost']}"),
        (told.troubles, f"reminders or schedules that failed: {told.troubles} (crontick's log says which)"),
        (told.warnings, f"warnings: {told.warnings} (crontick's log has them)"),
    ):
        if count:
            say(f"::warning title=crontick::{sentence}")
    if told.late_seconds > LATE_SECONDS:
        say(f"::warning title=crontick::this tick came {told.late_seconds} s late")
    if told.more:
        say("::notice title=crontick::more is due: the next run goes on")
    if told.counts["dead"] and dead_is_error:
        raise Failed(dead)


def write_down(told: Told) -> None:
    """The step's outputs, and a table on the run's page."""
    outputs = {"ran": told.ticks > 0, **{name: told.counts[name] for name in OUTPUTS}, "more": told.more}
    append("GITHUB_OUTPUT", [f"{name}={str(value).lower()}" for name, value in outputs.items()])
    cells = {"ticks": told.ticks, **told.counts, "more is due": "yes" if told.more else "no"}
    rows = (cells.keys(), ["---"] * len(cells), cells.values())
    append("GITHUB_STEP_SUMMARY", ["### crontick", "", *("| " + " | ".join(map(str, row)) + " |" for row in rows)])


def append(variable: str, lines: list[str]) -> None:
    """Write to the file that the runner names, if it does."""
    if path := os.environ.get(variable):
        with open(path, "a", encoding="utf-8") as file:  # noqa: PTH123
            file.write("\n".join(lines) + "\n")


def say(line: str) -> None:
    """Write to the log; the runner reads lines that begin with ``::`` as commands."""
    print(line, flush=True)


def main() -> int:
    """The status to exit with."""
    told = Told()
    try:
        settings = read_settings()
        run(settings, told)
        warn(told, dead_is_error=settings.fail_on_dead)
    except NotSetUp:
        # Each failed run is a mail, so what merely was never set up is not one: a schedule comes every few minutes.
        scheduled = os.environ.get("GITHUB_EVENT_NAME") == "schedule"
        say(f"::{'warning' if scheduled else 'error'} title=crontick::no tick was called: {NOT_SET}")
        return 0 if scheduled else 1
    except Failed as failed:
        say(f"::error title=crontick::{failed}")
        return 1
    finally:
        write_down(told)
    return 0


if __name__ == "__main__":
    sys.exit(main())
