"""The endpoints that functions ask for by name, each read once a tick: a changed one holds from the next tick on."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from crontick.jobs.kinds.settings import WebhookEndpoint
from crontick.jobs.link import Trips
from crontick.jobs.redact import Redactor
from crontick.jobs.secrets import tokens
from crontick.jobs.together import Together
from crontick.sql import query
from crontick.sql.wire import statement

if TYPE_CHECKING:
    from crontick.jobs.deployment import Deployment
    from crontick.jobs.sealing import Keyring

__all__ = ["Endpoint", "Endpoints", "configured"]


class Endpoint(msgspec.Struct, frozen=True):
    """A receiver by name. The first secret is the current one, the others end soon. Never part of a ``repr``."""

    name: str
    url: str
    secrets: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Endpoint({self.name!r})"


def configured(known: tuple[WebhookEndpoint, ...], name: str, secret: Callable[[str], str]) -> Endpoint | None:
    """The ``[[webhook_endpoint]]`` of that name; ``secret`` reads a variable. Raises ``LookupError`` naming it."""
    for endpoint in known:
        if endpoint.name == name:
            values = [one for variable in endpoint.secret_names for one in tokens(secret(variable))]
            return Endpoint(name, endpoint.url, tuple(values))
    return None


class Endpoints:
    """Those of ``crontick.toml`` before those of the database; one trip for all that are asked for at the same time."""

    def __init__(self, link: Trips, deployment: "Deployment", secret: Callable[[str], str]) -> None:
        self._link = link
        self._known = deployment.config.webhook_endpoint
        self._keyring = deployment.keyring
        self._redact: Redactor = deployment.redact
        self._secret = secret
        self._read: dict[str, Endpoint] = {}
        self._rows: Together[str, Endpoint] = Together(self._ask)

    async def find(self, name: str) -> Endpoint:
        """Raises ``LookupError`` with a sentence where there is none, or a secret of it cannot be had."""
        found = configured(self._known, name, self._secret) or self._read.get(name)
        return found or await self._rows.answer(name)

    async def _ask(self, names: list[str]) -> list[Endpoint | Exception]:
        [answer] = await self._link.tell([[statement(query("read_endpoints"), {"names": sorted(set(names))})]])
        answer.check()
        rows = [_Row(*row) for row in answer.rows[0]]
        if self._keyring is not None and (clear := [told for row in rows for told in row.to_seal(self._keyring)]):
            sealed = msgspec.json.encode(clear).decode()
            # Whether or not it is written: what stays in clear is sealed by the next tick that reads it.
            await self._link.tell([[statement(query("seal_endpoints"), {"sealed": sealed})]])
        told = {row.name: self._opened(row) for row in rows}
        self._read |= {name: found for name, found in told.items() if isinstance(found, Endpoint)}
        return [told.get(name) or self._missing(name) for name in names]

    def _missing(self, name: str) -> LookupError:
        # Imported here: a tick whose endpoints are all there does not pay for it.
        from crontick.jobs.fit import suggestion

        close = suggestion(name, [endpoint.name for endpoint in self._known])
        return LookupError(f"there is no endpoint {name}{close}: neither in crontick.toml nor by crontick.set_endpoint")

    def _opened(self, row: "_Row") -> Endpoint | Exception:
        from crontick.jobs.sealing import SealingError

        try:
            secrets = tuple(row.opened(self._keyring))
        except SealingError as error:
            return LookupError(f"a signing secret of {row.name}: {error}")
        self._redact.learn(secrets)
        return Endpoint(row.name, row.url, secrets)


class _Row(msgspec.Struct, frozen=True):
    name: str
    url: str
    secret: str
    old_secret: str | None

    def opened(self, keyring: "Keyring | None") -> Iterator[str]:
        from crontick.jobs.endpoint_secrets import SEALED_AS
        from crontick.jobs.sealing import KeyMissing, key_of

        for text in filter(None, (self.secret, self.old_secret)):
            key = key_of(text)
            if key is None:
                yield text
            elif keyring is None:
                raise KeyMissing(key)
            else:
                yield keyring.open(text, SEALED_AS, self.name)

    def to_seal(self, keyring: "Keyring") -> list[dict[str, Any]]:
        from crontick.jobs.endpoint_secrets import resealed
        from crontick.jobs.sealing import SealingError

        try:
            return resealed(self.name, (self.secret, self.old_secret), keyring)
        except SealingError:
            return []  # told where the endpoint is asked for
