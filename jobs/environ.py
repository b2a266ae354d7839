"""Reads the variables of an environment, collecting what is wrong with them instead of stopping at the first."""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from crontick.jobs.database_url import libpq_url
from crontick.jobs.secrets import read_secret, tokens, unfit

TRUE: Final = frozenset({"1", "true", "yes", "on"})
FALSE: Final = frozenset({"0", "false", "no", "off"})


class Environ:
    """An environment and the sentences about it so far; an empty variable is one that is not set."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.sentences: list[str] = []

    def text(self, name: str) -> str:
        """What the variable says, or an empty text."""
        return self.environ.get(name, "").strip()

    def secrets(self, name: str, shortest: int) -> tuple[str, ...]:
        """The values of a secret, each judged."""
        values = tokens(self._secret(name) or "")
        self.sentences += unfit(name, values, shortest=shortest)
        return values

    def _secret(self, name: str) -> str | None:
        try:
            return read_secret(self.environ, name)
        except ValueError as error:
            self.sentences.append(str(error))
            return None

    def keys(self, name: str) -> tuple[str, ...]:
        """Keys that seal and open, each judged."""
        value = self._secret(name)
        if value is None:
            return ()
        from crontick.jobs.sealing import SealingError, read_keyring

        try:
            read_keyring(value, name=name)
        except SealingError as error:
            self.sentences.append(str(error))
        return tokens(value)

    def signing(self, name: str) -> tuple[str, ...]:
        """Secrets that sign, each judged."""
        values = tokens(self._secret(name) or "")
        if values:
            from crontick.jobs.kinds.signature import SecretError, signing_key

            for value in values:
                try:
                    signing_key(value)
                except SecretError as error:
                    self.sentences.append(f"{name} {error}")
        return values

    def unshared(self, secrets: Mapping[str, tuple[str, ...]]) -> None:
        """Find values that open two doors."""
        names = list(secrets)
        for nth, name in enumerate(names):
            for other in names[nth + 1 :]:
                if set(secrets[name]) & set(secrets[other]):
                    self.sentences.append(f"{name} and {other} share a value: give each door its own")

    def url(self, name: str) -> str | None:
        """A database URL as libpq reads it; None where there is none."""
        url = self._secret(name)
        if url is None:
            return None
        try:
            return libpq_url(url)
        except ValueError as error:
            self.sentences.append(f"{name} {error}")
            return None

    def public_url(self, name: str) -> str | None:
        """What links begin with, without a slash at its end."""
        given = self.text(name)
        if given and not re.fullmatch(r"https?://[A-Za-z0-9.\-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~\-]+)*/?", given):
            self.sentences.append(f"{name} must be a URL that links can begin with, such as https://app.example")
            return None
        return given.rstrip("/") or None

    def operator_url(self, name: str) -> str | None:
        """A URL that requests go to, which is a secret: whoever knows it can write there."""
        url = self._secret(name)
        if url is None:
            return None
        from crontick.jobs.operator_url import check_url

        try:
            check_url(url)
        except ValueError as error:
            self.sentences.append(f"{name} cannot be posted to: {error}")
            return None
        return url

    def number(self, name: str, default: float, least: float, most: float) -> float:
        """Seconds; the default where nothing is said or what is said is wrong."""
        number = self.optional_number(name, least, most)
        return default if number is None else number

    def optional_number(self, name: str, least: float, most: float) -> float | None:
        """Seconds, or None."""
        given = self.text(name)
        if not given:
            return None
        try:
            number = float(given)
        except ValueError:
            number = math.nan
        if not least <= number <= most:
            self.sentences.append(f"{name} must be a number of seconds from {least} to {most}")
            return None
        return number

    def whole(self, name: str, default: int, least: int, most: int) -> int:
        """A count; the default where nothing is said or what is said is wrong."""
        given = self.text(name)
        if not given:
            return default
        if not re.fullmatch(r"[0-9]{1,6}", given) or not least <= int(given) <= most:
            self.sentences.append(f"{name} must be a whole number from {least} to {most}")
            return default
        return int(given)

    def flag(self, name: str) -> bool:
        """True for 1, true, yes and on; false for their opposites and for nothing."""
        given = self.text(name).lower()
        if given and given not in TRUE | FALSE:
            self.sentences.append(f"{name} must be 1 or 0")
        return given in TRUE

    def matching(self, name: str, pattern: str, wanted: str) -> str:
        """A text of that form, or an empty one."""
        given = self.text(name)
        if given and not re.fullmatch(pattern, given, re.ASCII):
            self.sentences.append(f"{name} must be {wanted}")
        return given

    def modules(self, name: str) -> tuple[str, ...]:
        """Names of modules, separated by commas or spaces."""
        modules = tuple(module for module in re.split(r"[\s,]+", self.text(name)) if module)
        for module in modules:
            if not all(part.isidentifier() for part in module.split(".")):
                self.sentences.append(f"{name}: {module!r} is not a module's name, such as acme.background")
        return modules

    def file(self, name: str, default: Path) -> Path | None:
        """A file that is there, the default if it is, or None."""
        given = self.text(name)
        if not given:
            return default if default.is_file() else None
        if not Path(given).is_file():
            self.sentences.append(f"{name}: there is no file {given}")
        return Path(given)
