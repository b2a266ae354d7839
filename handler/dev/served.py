"""The app's process: the user's app wrapped, or crontick's own, on the socket that it was given."""

import os
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import uvicorn
from uvicorn.importer import ImportFromStringError, import_from_string

from crontick.handler.dev import app_logs
from crontick.handler.dev.around import around
from crontick.handler.dev.in_force import put_in_force
from crontick.handler.dev.lines import Lines
from crontick.handler.dev.summaries import Summaries
from crontick.handler.dev.tracebacks import told
from crontick.handler.dev.word import Word
from crontick.handler.wrap import wrap
from crontick.jobs.deployment import load_deployment
from crontick.jobs.redact import Redactor
from crontick.jobs.settings import Settings

GRACE_SECONDS = 5


class Orders(msgspec.Struct, frozen=True, kw_only=True):
    """What the process is started with: ``app`` as uvicorn names one, three file descriptors, and how to speak."""

    app: str | None
    listener: int
    parent: int
    word: int
    own_clock: bool
    as_json: bool
    around: str | None


def main() -> None:
    """Serve until SIGTERM or SIGINT, or until the process that started this one is gone."""
    orders = msgspec.json.decode(sys.argv[1], type=Orders)
    threading.Thread(target=_end_with, args=(orders.parent,), daemon=True).start()
    sys.path.insert(0, str(Path.cwd()))  # as with uvicorn, also where PYTHONSAFEPATH is set
    lines = Lines(orders.as_json)
    around.lines, around.theirs = lines, orders.around
    os.environ["CRONTICK_AROUND"] = "crontick.handler.dev.around:around"
    word = Word(orders.word)
    put_in_force()
    app, redact = _own(word) if orders.app is None else _theirs(orders.app, lines, word)
    app_logs.tell(lines, redact, Summaries(lines, time.monotonic(), own_clock=orders.own_clock))
    config = uvicorn.Config(_overheard(app, word, redact), log_config=None, timeout_graceful_shutdown=GRACE_SECONDS)
    _Server(config, word).run(sockets=[socket.socket(fileno=orders.listener)])


class _Server(uvicorn.Server):
    """Says when it serves: uvicorn has no other place to be told at."""

    def __init__(self, config: uvicorn.Config, word: Word) -> None:
        super().__init__(config)
        self._word = word

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._word.serves()


def _overheard(app: Any, word: Word, redact: Redactor) -> Any:
    """The app, whose failure to start up is said as well."""

    async def overheard(scope: Any, receive: Any, send: Any) -> None:
        async def sent(message: Any) -> None:
            if message["type"] == "lifespan.startup.failed":
                word.fails(redact(f"the app's startup failed\n\n{message.get('message', '')}"))
            await send(message)

        await app(scope, receive, sent if scope["type"] == "lifespan" else send)

    return overheard


def _end_with(parent: int) -> None:
    """The other end of this pipe is open in the parent alone: its end is the parent's, however it came."""
    os.read(parent, 1)
    os.kill(os.getpid(), signal.SIGTERM)


def _own(word: Word) -> tuple[Any, Redactor]:
    try:
        from crontick.handler.asgi import app
    except SystemExit as error:
        word.fails(Redactor(Settings.from_environ(os.environ).secrets)(str(error)))
        raise
    return app, load_deployment(Settings.from_environ(os.environ)).redact


def _theirs(name: str, lines: Lines, word: Word) -> tuple[Any, Redactor]:
    """Their app, wrapped; a fault in their code is told as such, without our part of the traceback."""
    redact = Redactor(Settings.from_environ(os.environ).secrets)  # wrap adds those of the deployment
    try:
        return wrap(import_from_string(name)), redact
    except ImportFromStringError as error:
        sentence, text = f"crontick dev {name}: {error}", ""
    except (Exception, SystemExit) as error:  # noqa: BLE001 (a module may raise anything when it is imported)
        sentence, text = f"{name} cannot be imported: {type(error).__name__}", redact(told(error))
    lines.tell("error", sentence, text=text)
    word.fails(f"{sentence}\n\n{text}")
    raise SystemExit(1)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):  # Ctrl-C reaches the whole group; uvicorn raises it again when all is done
        main()
