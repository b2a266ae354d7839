"""A request without the right secret reaches no database and no body (P30)."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from crontick.handler.operate.routes import ROUTES
from tests.operate.conftest import ADMIN, CRON, ENQUEUE, Api, app_of, settings_of

pytestmark = pytest.mark.anyio
ASKED = sorted(
    {(route.method, route.path.replace("{id}", "7").replace("{name}", "nightly")) for route in ROUTES}
    | {("POST", "/api/jobs"), ("DELETE", "/api/jobs"), ("PUT", "/api/pause")}
)


@pytest.fixture
def nowhere() -> Iterator[socket.socket]:
    """Where a database would be: whoever connects is remembered by the socket."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0)
        yield listening


async def unread() -> Any:
    raise AssertionError("the body was read")


@pytest.mark.parametrize("token", ["", CRON, ADMIN[:-1], ENQUEUE + "0", "undefined"])
async def test_a_request_without_the_secret_is_judged_by_its_head_alone(nowhere: socket.socket, token: str) -> None:
    host, port = nowhere.getsockname()
    app = app_of(settings_of(f"postgresql://nobody@{host}:{port}/none"))
    for method, path in ASKED:
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": path,
            "query_string": b"",
            "headers": [(b"authorization", b"Bearer " + token.encode()), (b"content-length", b"9")],
        }
        sent: list[Any] = []

        async def send(message: Any, sent: list[Any] = sent) -> None:
            sent.append(message)

        await app(scope, unread, send)
        assert (method, path, sent[0]["status"]) == (method, path, 401)
    with pytest.raises(BlockingIOError):
        nowhere.accept()


async def test_the_other_secret_of_a_path_opens_only_its_own_method(nowhere: socket.socket) -> None:
    host, port = nowhere.getsockname()
    app = app_of(settings_of(f"postgresql://nobody@{host}:{port}/none"))
    for method, token in (("GET", ENQUEUE), ("POST", ADMIN)):
        sent: list[Any] = []

        async def send(message: Any, sent: list[Any] = sent) -> None:
            sent.append(message)

        headers = [(b"authorization", f"Bearer {token}".encode())]
        scope = {"type": "http", "http_version": "1.1", "method": method, "path": "/api/jobs", "query_string": b""}
        await app({**scope, "headers": headers}, unread, send)
        assert sent[0]["status"] == 401
    with pytest.raises(BlockingIOError):
        nowhere.accept()


@pytest.mark.parametrize(
    ("secrets", "path", "status"),
    [
        ({"admin_secrets": ()}, "/api/overview", 404),
        ({"admin_secrets": (), "enqueue_secrets": ()}, "/api/jobs", 404),
        # Here the path exists, for GET and another secret.
        ({"enqueue_secrets": ()}, "/api/jobs", 401),
    ],
)
async def test_a_route_whose_secret_is_not_set_does_not_exist(secrets: dict[str, Any], path: str, status: int) -> None:
    api = Api(app_of(settings_of("postgresql://nobody@127.0.0.1:1/none", **secrets)))
    answer = await api.ask("POST", path, ENQUEUE)
    assert answer.status_code == status


async def test_a_refusal_names_the_secret_that_opens_the_door() -> None:
    app = Api(app_of(settings_of("postgresql://nobody@127.0.0.1:1/none")))
    admin, enqueue, cron = "CRONTICK_ADMIN_SECRET", "CRONTICK_ENQUEUE_SECRET", "CRON_SECRET"
    asked = {("GET", "/api/jobs"): admin, ("POST", "/api/jobs"): enqueue, ("POST", "/api/pause"): admin}
    asked |= {("GET", "/metrics"): admin, ("GET", "/api/reports/7"): admin, ("POST", "/cron/tick"): cron}
    asked |= {("DELETE", "/api/jobs"): f"{admin} or {enqueue}"}
    for (method, path), secret in asked.items():
        bare, wrong = [(await app.ask(method, path, token)).json()["detail"] for token in (None, "wrong" * 5)]
        assert (path, f"send `Authorization: Bearer <{secret}>`" in bare) == (path, True), bare
        assert f"the caller's {secret} with ours" in wrong
