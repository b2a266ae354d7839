"""A function on Lambda: AWS's own runtime client with our handler, called over the Runtime API."""

from dataclasses import dataclass
from typing import Any

import psycopg

from tests.on_lambda.events import TOKEN
from tests.worlds.process import Child, Processes
from tests.worlds.runtime_api import Posted, RuntimeApi

HANDLER = "crontick.handler.aws.handler"


@dataclass(slots=True)
class World:
    """A migrated database, and processes that the platform would start for one function."""

    url: str
    conn: psycopg.Connection[Any]
    api: RuntimeApi
    processes: Processes

    def environ(self, **settings: str) -> dict[str, str]:
        """The function's variables; a setting that is empty is not set."""
        return {
            "AWS_LAMBDA_RUNTIME_API": self.api.address,
            "AWS_LAMBDA_FUNCTION_NAME": "crontick",
            "CRONTICK_DATABASE_URL": self.url,
            "CRONTICK_ENVIRONMENT": "test",
            "CRONTICK_MODULES": "tests.on_lambda.kinds,tests.faults.doomed",
            "CRON_SECRET": TOKEN,
            **settings,
        }

    def start(self, handler: str = HANDLER, **settings: str) -> Child:
        """A fresh process, which asks for its first invocation."""
        return self.processes.run("-m", "awslambdaric", handler, env=self.environ(**settings))

    def invoke(self, event: Any, *, seconds_left: float = 30) -> Posted:
        return self.api.invoke(event, seconds_left=seconds_left)

    def warm_up(self) -> None:
        """Two ticks, after which the process has a connection: on a loaded machine a new one takes its time."""
        for _ in range(2):
            assert self.invoke({}).answer["ran"]

    def enqueue(self, kind: str) -> int:
        return int(self.value("select crontick.enqueue(%s)", kind))

    def value(self, text: str, *values: Any) -> Any:
        row = self.conn.execute(text.encode(), values).fetchone()
        assert row is not None
        return row[0]

    def status(self, job: int) -> str:
        return str(self.value("select status from crontick.jobs where id = %s", job))

    def ticks(self) -> int:
        return int(self.value("select count(*) from crontick.ticks"))

    def later(self, length: str) -> None:
        """Move the database's clock."""
        self.conn.execute("update crontick.test_clock set ahead = ahead + %s::interval", (length,))
