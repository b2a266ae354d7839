"""Calls the tick every few seconds, and tells what it did."""

import threading
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

import httpx

from crontick.handler.dev.app import App
from crontick.handler.dev.lines import Lines
from crontick.handler.loopback import HOST

IDLE_SECONDS: Final = 60.0
COUNTS: Final = (
    "claimed", "succeeded", "failed", "dead", "snoozed", "cancelled", "handed_back", "duplicates", "rescued", "lost",
    "scheduled",
)  # fmt: skip


class Ticks:
    """A thread of its own. What is as it was at the last tick is not told again; idle, it says so once a minute."""

    def __init__(self, app: App, lines: Lines, *, port: int, token: str, every: timedelta) -> None:
        self._app, self._lines = app, lines
        self._every_seconds = every.total_seconds()
        self._url = f"http://{HOST}:{port}/cron/tick"
        self._headers = {"authorization": f"Bearer {token}", "connection": "close"}
        self._over = threading.Event()
        self._told: set[str] = set()
        self._trouble = ""
        self._spoke_at = time.monotonic()
        threading.Thread(target=self._run, name="crontick-dev-ticks", daemon=True).start()

    def end(self) -> None:
        """No tick is begun afterwards."""
        self._over.set()

    def _run(self) -> None:
        # No time-out for the answer: a function may stand at a breakpoint, and a process that ends cuts the connection.
        timeout = httpx.Timeout(None, connect=5)
        with httpx.Client(trust_env=False, timeout=timeout) as client:
            more = False
            while not self._over.wait(0 if more else self._every_seconds):
                more = self._app.status is None and self._tick(client)

    def _tick(self, client: httpx.Client) -> bool:
        """True when the next tick should come at once."""
        try:
            if not self._app.has_answered:
                client.get(self._url)  # without the token: whatever it answers, it serves
                self._app.has_answered = True
            response = client.post(self._url, json={"trigger": "crontick dev"}, headers=self._headers)
            answer = response.json()
        except (httpx.HTTPError, ValueError):
            return False  # the process ended under the call, and whoever watches it tells
        if response.status_code != httpx.codes.OK:
            self._in_trouble(f"no tick: {answer.get('detail', response.status_code)}")
            return False
        if not answer["ran"]:
            self._in_trouble(f"no tick: {answer.get('reason')}")
            return False
        self._trouble = ""
        self._tell(answer)
        return bool(answer["more"])

    def _in_trouble(self, sentence: str) -> None:
        if sentence != self._trouble:
            self._trouble = sentence
            self._say(sentence)

    def _tell(self, summary: Mapping[str, Any]) -> None:
        for warning in summary["warnings"]:
            if warning not in self._told:
                self._told.add(warning)
                self._say(f"warning: {warning}")
        done = [f"{name} {summary[name]}" for name in COUNTS if summary.get(name)]
        done += [f"{name}: {told['fired']} reminders" for name, told in summary["reminders"].items() if told["fired"]]
        if done:
            self._say(f"{summary['tick']}: {', '.join(done)} ({summary['duration_ms']} ms)", summary)
        elif time.monotonic() - self._spoke_at >= IDLE_SECONDS:
            due = summary["next_due_at"]
            self._say(
                f"nothing was due in the last minute; {f'the next job is due at {due}' if due else 'no job waits'}"
            )

    def _say(self, sentence: str, summary: Mapping[str, Any] | None = None) -> None:
        self._spoke_at = time.monotonic()
        errors = "\n".join(
            f"job {one['job']} ({one['kind']}): {one['error']}" for one in (summary or {}).get("errors", ())
        )
        self._lines.tell("tick", sentence, text=errors, fields=summary)
