"""Alarm services as they answer: what they are asked for they keep, and a name that they have is not taken twice."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tests.worlds.http_receiver import Answer, HttpReceiver, Request

DOCUMENT = Path(__file__).parents[2] / "docs" / "waking.md"
QUEUE = "/v2/projects/acme/locations/europe-west1/queues/wake/tasks"


@dataclass
class Alarms:
    """``set`` is what was taken, by name; ``moments`` when each goes off."""

    receiver: HttpReceiver
    set: dict[str, Request] = field(default_factory=dict)
    moments: dict[str, datetime] = field(default_factory=dict)

    def next_after(self, now: datetime) -> datetime | None:
        return min((at for at in self.moments.values() if at > now), default=None)

    def lose(self) -> None:
        """As if somebody had emptied the queue, names and all."""
        self.set.clear()
        self.moments.clear()

    def keep(self, name: str, at: datetime, request: Request) -> bool:
        """False where the name was there."""
        known = name in self.set
        if not known:
            self.set[name], self.moments[name] = request, at
        return not known


def cloud_tasks(alarms: Alarms) -> None:
    """``projects.locations.queues.tasks.create`` of Cloud Tasks, v2."""

    async def act(request: Request) -> Answer:
        assert (request.method, request.target) == ("POST", QUEUE)
        if not request.headers.get("authorization", "").startswith("Bearer "):
            return _json(401, {"error": {"code": 401, "status": "UNAUTHENTICATED"}})
        task = json.loads(request.body)["task"]
        assert task["name"].startswith(QUEUE.removeprefix("/v2/") + "/")
        base64.b64decode(task["httpRequest"]["body"], validate=True)
        if not alarms.keep(task["name"], datetime.fromisoformat(task["scheduleTime"]), request):
            told = {"code": 409, "message": "Requested entity already exists", "status": "ALREADY_EXISTS"}
            return _json(409, {"error": told})
        return _json(200, {"name": task["name"], "scheduleTime": task["scheduleTime"], "view": "BASIC"})

    alarms.receiver.act = act


def qstash(alarms: Alarms) -> None:
    """``/v2/publish`` of QStash."""

    async def act(request: Request) -> Answer:
        headers = request.headers
        assert request.method == "POST"
        assert request.target.startswith("/v2/publish/https://")
        if headers.get("authorization") != "Bearer qstash-token-of-the-test":
            return _json(401, {"error": "invalid token"})
        at = datetime.fromtimestamp(int(headers["upstash-not-before"]), UTC)
        if not alarms.keep(headers["upstash-deduplication-id"], at, request):
            return _json(202, {"messageId": "msg_1", "deduplicated": True})
        return _json(201, {"messageId": "msg_1"})

    alarms.receiver.act = act


def documented(nth: int, receiver: HttpReceiver) -> str:
    """The nth configuration of the document, with the service on loopback."""
    blocks = [block.split("```")[0] for block in DOCUMENT.read_text().split("```toml\n")[1:]]
    text = blocks[nth]
    for host in ("https://cloudtasks.googleapis.com", "https://qstash.upstash.io"):
        text = text.replace(host, receiver.url)
    return text


def _json(status: int, told: object) -> Answer:
    return Answer(status=status, body=json.dumps(told).encode(), headers={"content-type": "application/json"})


PLAYED: dict[str, Callable[[Alarms], None]] = {"cloud_tasks": cloud_tasks, "qstash": qstash}
