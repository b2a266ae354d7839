"""The stage of a development: put up in order, kept up while the code changes, and taken down whole."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from crontick.handler.dev.app import App
from crontick.handler.dev.database import Database, database
from crontick.handler.dev.environ import environ_for_app, found_modules, has_admin
from crontick.handler.dev.folder import Folder, held
from crontick.handler.dev.lines import Lines
from crontick.handler.dev.mails import teller
from crontick.handler.dev.refused import DevRefused
from crontick.handler.dev.ticks import Ticks
from crontick.handler.dev.watch import Seen, changed, look
from crontick.handler.lengths import lasting
from crontick.handler.loopback import HOST, listening
from crontick.handler.mail_sink import mail_sink
from crontick.jobs.settings import Settings
from crontick.jobs.stop import Stop

LOOK_SECONDS: Final = 0.25
_NO_MODULES: Final = "no CRONTICK_MODULES, and no background.py here: only the kinds that ship are known"
_SHELL: Final = (
    "CRON_SECRET",
    "CRONTICK_ADMIN_SECRET",
    "CRONTICK_DATABASE_URL",
    "DATABASE_URL",
    "CRONTICK_ENVIRONMENT",
    "CRONTICK_MODULES",
    "CRONTICK_CONFIG",
    "SMTP_URL",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the command line said; ``app`` is ``module:name``, or None for crontick's own."""

    app: str | None
    every: timedelta
    port: int
    whole_mails: bool
    migrate: bool
    as_json: bool


def run(asked: Asked, project: Path) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP; nothing that was started runs afterwards.

    Raises ``DevRefused``, and what settings, migrations and the embedded PostgreSQL raise.
    """
    lines, stop = Lines(asked.as_json), Stop()
    with _signals(stop), ExitStack() as stack:
        folder = stack.enter_context(held(project))
        base = dict(os.environ)
        base["CRONTICK_MODULES"] = base.get("CRONTICK_MODULES") or found_modules(project, asked.app)
        settings = Settings.from_environ({**base, "CRON_SECRET": folder.token, "CRON_SECRET_FROM": ""})
        listener = stack.enter_context(_listener(asked.port))
        port = listener.getsockname()[1]
        environment = base.get("CRONTICK_ENVIRONMENT") or None
        db = stack.enter_context(database(settings, folder, environment=environment, migrated=asked.migrate))
        mails = stack.enter_context(mail_sink(teller(lines, whole=asked.whole_mails)))

        def environ() -> dict[str, str]:
            """Made for each start, since ``crontick.toml`` may have changed as well; other terminals get their part."""
            made = environ_for_app(base, db, folder, mails.url)
            told = made | {"CRONTICK_DATABASE_URL": db.url}
            folder.write_shell({name: told[name] for name in _SHELL if told.get(name)})
            return made

        orders = {"app": asked.app, "as_json": asked.as_json, "around": settings.around}
        app = App(listener, environ, {**orders, "own_clock": db.embedded})
        stack.callback(app.end)
        seen = look(project)
        app.start()
        _greet(lines, asked, folder, db, port=port, modules=base["CRONTICK_MODULES"])
        ticks = Ticks(app, lines, port=port, token=folder.token, every=asked.every)
        stack.callback(ticks.end)
        _keep_up(app, project, seen, stop, lines)
    kept = f" the data are kept in {folder.data_path}: crontick dev goes on with them" if db.embedded else ""
    lines.tell("dev", f"ended;{kept}" if kept else "ended")


@contextmanager
def _signals(stop: Stop) -> Iterator[None]:
    """While inside, these end the loop and not the process, which has children to end."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, lambda *_: stop.ask()) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _listener(port: int) -> socket.socket:
    try:
        return listening(port)
    except OSError as error:
        raise DevRefused(
            f"{HOST}:{port} cannot be listened on ({error.strerror}): end what does, or take another with --port"
        ) from None


def _keep_up(app: App, project: Path, seen: Seen, stop: Stop, lines: Lines) -> None:
    """Start the app again when its code changed, or when it had served and ended by itself."""
    is_down = False
    while not stop.asked:
        time.sleep(LOOK_SECONDS)
        app.look()
        now = look(project)
        if files := [os.path.relpath(file, project) for file in changed(seen, now)]:
            app.start()
            seen, is_down = now, False
            more = f" and {len(files) - 3} others" if len(files) > 3 else ""
            lines.tell("dev", f"reloaded: {', '.join(files[:3])}{more}", fields={"files": files})
        elif app.status is not None and not is_down and not stop.asked:
            is_down = not app.has_served
            if is_down:
                lines.tell("dev", "the app did not start, and is started again when a file changes")
            else:
                lines.tell("dev", f"the app ended by itself (status {app.status}): started again")
                app.start()


def _greet(lines: Lines, asked: Asked, folder: Folder, db: Database, *, port: int, modules: str) -> None:
    """Where things are, and what to type next; the token is in a file, for a command line can be read by anybody."""
    here, every = Path.cwd(), lasting(asked.every)
    url, header = f"http://{HOST}:{port}", os.path.relpath(folder.header_path, here)
    prefix = os.environ.get("CRONTICK_PREFIX") or ("/crontick" if asked.app else "")
    page = f"{url}{prefix}/dashboard"
    secret = "CRONTICK_ADMIN_SECRET" if has_admin(os.environ) else os.path.relpath(folder.admin_path, here)
    served = f"{asked.app}, wrapped" if asked.app else "crontick's own app (crontick dev acme.main:app serves yours)"
    for sentence, fields in (
        (f"{url} has {served}; it follows the code", {"url": url, "port": port, "app": asked.app}),
        (f"environment {db.environment}: {db.where}", {"environment": db.environment, "embedded": db.embedded}),
        (f"kinds of {modules}" if modules else _NO_MODULES, {"modules": modules}),
        (
            f"a tick every {every}, and with: curl -X POST -H @{header} {url}/cron/tick",
            {"header": str(folder.header_path)},
        ),
        (f"the page: {page}, with any name and the secret of {secret}", {"page": page}),
        (f"in another terminal: . {os.path.relpath(folder.shell_path, here)} && crontick status", {}),
    ):
        lines.tell("dev", sentence, fields=fields)
