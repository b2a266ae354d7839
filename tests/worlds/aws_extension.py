"""What AWS's extension for secrets and parameters does on localhost, as AWS documents it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

TOKEN = "IQoJb3JpZ2luX2VjEXAMPLETOKEN"


@dataclass(slots=True)
class AwsExtension:
    """Answers with these secrets and parameters, and counts how often it was asked."""

    port: int = 0
    secrets: dict[str, str | None] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    answer: tuple[int, bytes] | None = None
    """Given instead of what is asked for."""
    silent: threading.Event | None = None
    """While it is not set, nothing is answered."""

    @property
    def environ(self) -> dict[str, str]:
        """What Lambda sets beside it."""
        return {"AWS_SESSION_TOKEN": TOKEN, "PARAMETERS_SECRETS_EXTENSION_HTTP_PORT": str(self.port)}

    def answered(self, path: str, token: str | None) -> tuple[int, bytes]:
        self.asked.append(path)
        if self.silent is not None:
            self.silent.wait(30)
        if self.answer is not None:
            return self.answer
        if token != TOKEN:
            return 401, b"missing or invalid token"
        parts = urlsplit(path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        match parts.path:
            case "/secretsmanager/get" if asked["secretId"] in self.secrets:
                text = self.secrets[asked["secretId"]]
                return 200, json.dumps({"ARN": asked["secretId"], "SecretString": text}).encode()
            case "/systemsmanager/parameters/get" if asked["name"] in self.parameters:
                value = self.parameters[asked["name"]] if asked["withDecryption"] == "true" else "AQICAHhsealed"
                return 200, json.dumps({"Parameter": {"Name": asked["name"], "Value": value}}).encode()
        return 400, b'{"message":"an error occurred: ResourceNotFoundException"}'


@contextmanager
def aws_extension() -> Iterator[AwsExtension]:
    """One on loopback, ended with the block."""
    made = AwsExtension()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = made.answered(self.path, self.headers["X-Aws-Parameters-Secrets-Token"])
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing: a test's output is its own."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        made.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield made
        finally:
            if made.silent is not None:
                made.silent.set()
            server.shutdown()
            thread.join(30)
