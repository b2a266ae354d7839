"""Answers in the place of an app that does not serve, so that nobody waits for what does not come."""

import socket
import threading
from typing import Any, Final

import uvicorn
from starlette.responses import PlainTextResponse

from crontick.handler.cli.screen import clean

RETRY_SECONDS: Final = 5
END_SECONDS: Final = 5
_HEADERS: Final = {
    "cache-control": "no-store",
    "retry-after": str(RETRY_SECONDS),
    "x-content-type-options": "nosniff",
}


class StandIn:
    """A server on the app's socket, in a thread of its own: every call gets 503 and ``why``."""

    def __init__(self, listener: socket.socket, why: str) -> None:
        self.why = why
        config = uvicorn.Config(
            self._answer,
            interface="asgi3",  # of a method uvicorn cannot tell
            lifespan="off",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, args=([listener.dup()],), name="crontick-dev-stand-in", daemon=True
        )
        self._thread.start()

    def end(self) -> None:
        """Calls that come afterwards wait for the app."""
        self._server.should_exit = True
        self._thread.join(END_SECONDS)

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        text = "".join(f"{clean(line)}\n" for line in self.why.splitlines())
        await PlainTextResponse(text, 503, _HEADERS)(scope, receive, send)
