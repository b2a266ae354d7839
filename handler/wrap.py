"""crontick inside the user's own app: our paths are answered here, all else is the app's."""

import inspect
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

from crontick.handler.lazily import lazily
from crontick.handler.paths import is_ours

__all__ = ["wrap"]

App = TypeVar("App", bound=Callable[..., Any])
_OWN: Final = ("_crontick_app", "_crontick_door")


def wrap(app: App) -> App:
    """The same app, which also has ``POST /cron/tick``, ``/api/cron/tick`` and what is under ``CRONTICK_PREFIX``.

    All else passes through as it came, the lifespan and websockets too; no middleware of the app sees a tick. Settings
    are read and everything is made when one of our paths is first called: nothing happens here, so an app may be
    wrapped before its server forks. Attributes are those of the app, so ``@app.get`` works on what is returned.
    Raises ``TypeError`` for what is no ASGI application.
    """
    try:
        inspect.signature(app).bind({}, None, None)
    except TypeError:
        raise TypeError(
            f"wrap takes an ASGI application, called with scope, receive and send, and {type(app).__qualname__} is"
            " called otherwise: beside a WSGI app, serve crontick.handler.asgi:app as a process of its own"
        ) from None
    return cast("App", _Wrapped(app))


class _Wrapped:
    """Answers what is ours, made at the first such call, and passes on all else."""

    __slots__ = _OWN

    def __init__(self, app: Callable[..., Any]) -> None:
        for name, value in zip(_OWN, (app, lazily(_door)), strict=True):
            object.__setattr__(self, name, value)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        answer = self._crontick_door() if is_ours(scope) else self._crontick_app
        await answer(scope, receive, send)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The app's: `fastapi run` looks for an instance of FastAPI."""
        return type(self._crontick_app)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._crontick_app, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._crontick_app, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._crontick_app, name)

    def __repr__(self) -> str:
        return f"wrap({self._crontick_app!r})"


def _door() -> Callable[..., Any]:
    from crontick.handler.inside import inside

    return inside()
