"""Calls the tick every few seconds, as a scheduler would."""

import threading
from datetime import timedelta
from typing import Final

import httpx

from crontick.handler.dev.app import App
from crontick.handler.dev.lines import Lines
from crontick.handler.dev.summaries import TRIGGER, Troubles
from crontick.handler.loopback import HOST
from crontick.handler.paths import TICK_PATHS
from crontick.jobs.request import DEEPEST

LOOK_SECONDS: Final = 0.1


class Ticks:
    """A thread of its own, which ends with ``end`` or with the process. What a tick did, the app's process tells."""

    def __init__(self, app: App, lines: Lines, *, port: int, token: str, every: timedelta) -> None:
        self._app = app
        self._troubles = Troubles(lines)
        self._every_seconds = every.total_seconds()
        self._url = f"http://{HOST}:{port}{TICK_PATHS[0]}"
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
            pause_seconds = 0.0  # the first one makes the kinds known to whoever enqueues
            while not self._over.wait(pause_seconds):
                if self._app.status is not None or not self._app.has_served:
                    pause_seconds = LOOK_SECONDS
                elif self._tick(client):
                    pause_seconds = 0.0
                else:
                    pause_seconds = self._every_seconds

    def _tick(self, client: httpx.Client) -> bool:
        """True when the next tick should come at once."""
        try:
            # So deep it asks for no others, whatever URL the environment names: the next one comes at once.
            response = client.post(self._url, json={"trigger": TRIGGER, "depth": DEEPEST}, headers=self._headers)
            answer = response.json()
        except (httpx.HTTPError, ValueError):
            return False  # the process ended under the call, and whoever watches it tells
        if response.status_code != httpx.codes.OK:
            self._troubles.tell(f"no tick: {answer.get('detail', f'status {response.status_code}')}")
            return False
        self._troubles.over()
        return bool(answer.get("more"))
