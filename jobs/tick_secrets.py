"""The secrets that functions ask for, each read once a tick: a rotated one holds from the next tick on."""

import os

from crontick.jobs.redact import Redactor
from crontick.jobs.secrets import read_secret, tokens

__all__ = ["TickSecrets"]


class TickSecrets:
    """What was read so far; the redactor learns each, for it may have been rotated since the deployment was made."""

    def __init__(self, redact: Redactor) -> None:
        self._redact = redact
        self._values: dict[str, str] = {}
        self._faults: dict[str, str] = {}

    def read(self, name: str) -> str:
        """The secret in the variable, or where its ``…_FROM`` points. Raises ``LookupError`` naming it.

        A fault stands for the rest of the tick, too: each look may take seconds, which all its functions would wait.
        """
        if name not in self._values and name not in self._faults:
            self._look(name)
        if name in self._faults:
            raise LookupError(self._faults[name])
        return self._values[name]

    def learn(self, value: str) -> None:
        """A secret that is no variable's: the redactor knows it from now on."""
        self._redact.learn((value,))

    def _look(self, name: str) -> None:
        try:
            value = read_secret(os.environ, name)
        except ValueError as error:
            self._faults[name] = str(error)
            return
        if value is None:
            self._faults[name] = f"{name} is not set, and crontick.toml needs it"
            return
        self._redact.learn((value, *tokens(value)))
        self._values[name] = value
