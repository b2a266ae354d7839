"""The app's process: the user's app wrapped, or crontick's own, on the socket that it was given."""

import logging
import os
import signal
import socket
import sys
import threading
from typing import Any

import msgspec
import uvicorn
from uvicorn.importer import ImportFromStringError, import_from_string

from crontick.handler.dev.around import around
from crontick.handler.dev.lines import Lines
from crontick.handler.dev.tracebacks import told
from crontick.handler.wrap import wrap

GRACE_SECONDS = 5


class Orders(msgspec.Struct, frozen=True, kw_only=True):
    """What the process is started with: ``app`` as uvicorn names one, two file descriptors, and how to speak."""

    app: str | None
    listener: int
    parent: int
    as_json: bool
    around: str | None


def main() -> None:
    """Serve until SIGTERM, or until the process that started this one is gone."""
    orders = msgspec.json.decode(sys.argv[1], type=Orders)
    threading.Thread(target=_end_with, args=(orders.parent,), daemon=True).start()
    lines = Lines(orders.as_json)
    around.lines, around.theirs = lines, orders.around
    os.environ["CRONTICK_AROUND"] = "crontick.handler.dev.around:around"
    app = _app(orders.app, lines)
    _log_to(lines)
    config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=GRACE_SECONDS)
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=orders.listener)])


def _end_with(parent: int) -> None:
    """The other end of this pipe is open in the parent alone: its end is the parent's, however it came."""
    os.read(parent, 1)
    os.kill(os.getpid(), signal.SIGTERM)


def _app(name: str | None, lines: Lines) -> Any:
    """The application; a fault in somebody's code is told as such, without our part of the traceback."""
    if name is None:
        from crontick.handler.asgi import app

        return app
    try:
        return wrap(import_from_string(name))
    except ImportFromStringError as error:
        lines.tell("error", f"crontick dev {name}: {error}")
    except Exception as error:  # noqa: BLE001 (a module may raise anything when it is imported)
        lines.tell("error", f"{name} cannot be imported: {type(error).__name__}", text=told(error))
    raise SystemExit(1)


def _log_to(lines: Lines) -> None:
    """Requests, warnings and errors as lines like all others; ticks are told by the process that calls them."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(_Told(lines))
    for name, level in (("crontick", logging.WARNING), ("uvicorn", logging.WARNING), ("uvicorn.access", logging.INFO)):
        logger = logging.getLogger(name)
        logger.handlers[:], logger.propagate = [handler], False
        logger.setLevel(level)
    logging.getLogger("uvicorn.access").addFilter(_is_no_tick)


def _is_no_tick(record: logging.LogRecord) -> bool:
    return not (isinstance(record.args, tuple) and record.args[2:3] in (("/cron/tick",), ("/api/cron/tick",)))


class _Told(logging.Formatter):
    def __init__(self, lines: Lines) -> None:
        super().__init__()
        self._lines = lines

    def format(self, record: logging.LogRecord) -> str:
        if record.name == "uvicorn.access" and isinstance(record.args, tuple):
            _, method, path, _, status = record.args
            return self._lines.line("http", f"{method} {path} {status}").removesuffix("\n")
        text = self.formatException(record.exc_info) if record.exc_info else ""
        return self._lines.line(record.levelname.lower(), record.getMessage(), text=text).removesuffix("\n")


if __name__ == "__main__":
    main()
