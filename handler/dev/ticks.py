"""Calls the tick every few seconds, as a scheduler would."""

import threading
import time
from datetime import timedelta

import httpx

from crontick.handler.dev.app import App
from crontick.handler.dev.lines import Lines
from crontick.handler.dev.summaries import Summaries
from crontick.handler.loopback import HOST


class Ticks:
    """A thread of its own, which ends with ``end`` or with the process."""

    def __init__(self, app: App, lines: Lines, *, port: int, token: str, every: timedelta) -> None:
        self._app = app
        self._summaries = Summaries(lines, time.monotonic())
        self._every_seconds = every.total_seconds()
        self._url = f"http://{HOST}:{port}/cron/tick"
        self._headers = {"authorization": f"Bearer {token}", "connection": "close"}
        self._over = threading.Event()
        threading.Thread(target=self._run, name="crontick-dev-ticks", daemon=True).start()

    def end(self) -> None:
        """No tick is begun afterwards."""
        self._over.set()

    def _run(self) -> None:
        # No time-out for the answer: a function may stand at a breakpoint, and a process that ends cuts the connection.
        timeout = httpx.Timeout(None, connect=5)
        with httpx.Client(trust_env=False, timeout=timeout) as client:
            at_once = True  # the first one makes the kinds known to whoever enqueues
            while not self._over.wait(0 if at_once else self._every_seconds):
                at_once = self._app.status is None and self._tick(client)

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
            detail = answer.get("detail", f"status {response.status_code}")
            self._summaries.trouble(f"no tick: {detail}", time.monotonic())
            return False
        self._summaries.tell(answer, time.monotonic())
        return bool(answer.get("more"))
