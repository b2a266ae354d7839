"""The page without a browser: requests that say whatever a test wants to say."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from tests.door.serving import ADMIN, Answer, exchange

COOKIE = re.compile(r"([^=;]+)=([^;]*)")
TOKEN = re.compile(r'name="token" value="([0-9a-f]+)"')


@dataclass(slots=True)
class Asker:
    """Keeps the cookie that it was given, and says where it is; ``headers`` overrule what a browser would say."""

    address: tuple[str, int]
    cookie: str = ""
    token: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def host(self) -> str:
        return f"{self.address[0]}:{self.address[1]}"

    def get(self, path: str, **headers: str) -> Answer:
        return self._ask("GET", path, b"", headers)

    def post(self, path: str, form: Mapping[str, str] | None = None, **headers: str) -> Answer:
        """A form of ours; without a token of its own it has the last page's."""
        sent = urlencode({"token": self.token, **(form or {})}).encode()
        ours = {"origin": f"http://{self.host}", "content-type": "application/x-www-form-urlencoded"}
        return self._ask("POST", path, sent, {**ours, **headers})

    def log_in(self, secret: str = ADMIN, *, by: str = "ann", next_: str = "") -> Answer:
        """Ask for the form, and send it."""
        self.get("/dashboard/login")
        return self.post("/dashboard/login", {"by": by, "secret": secret, "next": next_})

    def _ask(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        said = {"host": self.host, **headers, **self.headers}
        if self.cookie:
            said["cookie"] = self.cookie
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in said.items() if value]
        head = "\r\n".join([f"{method} {path} HTTP/1.1", *lines, f"content-length: {len(body)}", "", ""])
        answer = exchange(self.address, head.encode() + body)
        if given := answer.headers.get("set-cookie"):
            found = COOKIE.match(given)
            assert found
            self.cookie = f"{found[1]}={found[2]}"
        if found := TOKEN.search(answer.body.decode()):
            self.token = found[1]
        return answer
