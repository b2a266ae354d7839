"""Looking again and again: a screen that is drawn afresh on a terminal, one look after another in a pipe."""

import os
import sys
import time
from collections.abc import Callable

from rich.console import Console

from crontick.handler.cli.screen import complain
from crontick.jobs.unavailable import Unavailable


def watch(look: Callable[[], object], every_seconds: float) -> None:
    """Until Ctrl-C, or until nobody reads the pipe any more; a database that is away for a time ends nothing.

    A terminal gets its own screen, by rich, which the commands have anyway and which gives back what was there before.
    """
    try:
        if sys.stdout.isatty():
            console = Console()
            with console.screen():
                while True:
                    console.clear()
                    _looked(look, every_seconds)
        while True:
            _looked(look, every_seconds)
            sys.stdout.write("\n")
    except KeyboardInterrupt:
        return
    except BrokenPipeError:
        # Python would complain once more when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _looked(look: Callable[[], object], every_seconds: float) -> None:
    try:
        look()
    except Unavailable as unavailable:
        complain(unavailable.reason)
    sys.stdout.flush()
    time.sleep(every_seconds)
