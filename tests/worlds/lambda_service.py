"""Lambda on loopback: takes asynchronous invocations of a function, and has eight of its processes run them."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from tests.worlds.http_receiver import Answer, HttpReceiver, Request
from tests.worlds.runtime_api import RuntimeApi


@dataclass(slots=True)
class LambdaService:
    """``front`` is for AWS_ENDPOINT_URL; what it takes is put into the queue that the processes ask."""

    front: HttpReceiver
    queue: RuntimeApi
    taken: int = 0

    def __post_init__(self) -> None:
        self.front.act = self._take

    async def _take(self, request: Request) -> Answer:
        if request.headers.get("x-amz-invocation-type") != "Event":
            return Answer(status=400)
        self.taken += 1
        self.queue.send(json.loads(request.body))
        return Answer(status=202, body=b"")

    def run(self, event: object, *, done: Callable[[], bool]) -> list[dict[str, object]]:
        """Call the function again whenever nothing of it is left to be answered, until it is done; all answers."""
        answers: list[dict[str, object]] = []
        called = 0
        while not done():
            called += 1
            self.queue.send(event)
            while len(answers) < called + self.taken:
                answers.append(self.queue.posted(seconds=60).answer)
        return answers
