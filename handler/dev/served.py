"""The app's process: the user's app wrapped, or crontick's own, on the socket that it was given."""

import os
import signal
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import uvicorn
from uvicorn.importer import ImportFromStringError, import_from_string

from crontick.handler.dev import app_logs
from crontick.handler.dev.around import around
from crontick.handler.dev.lines import Lines
from crontick.handler.dev.tracebacks import told
from crontick.handler.wrap import wrap
from crontick.jobs.deployment import load_deployment
from crontick.jobs.redact import Redactor
from crontick.jobs.settings import Settings

GRACE_SECONDS = 5


class Orders(msgspec.Struct, frozen=True, kw_only=True):
    """What the process is started with: ``app`` as uvicorn names one, two file descriptors, and how to speak."""

    app: str | None
    listener: int
    parent: int
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
    app, redact = _own() if orders.app is None else _theirs(orders.app, lines)
    app_logs.tell(lines, redact)
    config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=GRACE_SECONDS)
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=orders.listener)])


def _end_with(parent: int) -> None:
    """The other end of this pipe is open in the parent alone: its end is the parent's, however it came."""
    os.read(parent, 1)
    os.kill(os.getpid(), signal.SIGTERM)


def _own() -> tuple[Any, Redactor]:
    from crontick.handler.asgi import app

    return app, load_deployment(Settings.from_environ(os.environ)).redact


def _theirs(name: str, lines: Lines) -> tuple[Any, Redactor]:
    """Their app, wrapped; a fault in their code is told as such, without our part of the traceback."""
    redact = Redactor(Settings.from_environ(os.environ).secrets)  # wrap adds those of the deployment
    try:
        return wrap(import_from_string(name)), redact
    except ImportFromStringError as error:
        lines.tell("error", f"crontick dev {name}: {error}")
    except Exception as error:  # noqa: BLE001 (a module may raise anything when it is imported)
        lines.tell("error", f"{name} cannot be imported: {type(error).__name__}", text=redact(told(error)))
    raise SystemExit(1)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):  # Ctrl-C reaches the whole group; uvicorn raises it again when all is done
        main()
