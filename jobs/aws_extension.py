"""Secrets and parameters from AWS, through the extension that Lambda runs beside a function."""

import time
from collections.abc import Mapping
from typing import Final, TypeVar
from urllib.parse import quote

import msgspec

SECONDS: Final = 3.0
"""For one secret in all: a cold one takes the extension a tenth of that."""
BYTES_AT_MOST: Final = 128 * 1024
"""Twice what Secrets Manager keeps in one secret, for its JSON."""
PORT: Final = "2773"


Answer = TypeVar("Answer")


class _Secret(msgspec.Struct):
    SecretString: str | None = None


class _Value(msgspec.Struct):
    Value: str


class _Parameter(msgspec.Struct):
    Parameter: _Value


def fetch(source: str, environ: Mapping[str, str]) -> str:
    """The value of ``aws-secretsmanager:ARN[#key]`` or ``aws-ssm:/path``. Raises ``ValueError`` with the mend.

    As AWS documents it: plain HTTP on localhost, with the function's session token in a header. The extension keeps
    values for five minutes; it answers inside an invocation only.
    """
    kind, _, named = source.partition(":")
    name, _, key = named.partition("#")
    if not name:
        raise ValueError(f"name what is to be fetched: {kind}:NAME")
    if kind == "aws-ssm":
        path = f"/systemsmanager/parameters/get?name={quote(named, safe='')}&withDecryption=true"
        return _decoded(_get(path, environ), _Parameter).Parameter.Value
    value = _decoded(_get(f"/secretsmanager/get?secretId={quote(name, safe='')}", environ), _Secret).SecretString
    if value is None:
        raise ValueError("the secret is binary: keep it as text")
    return _field(value, key) if key else value


def _get(path: str, environ: Mapping[str, str]) -> bytes:
    from http.client import HTTPConnection, HTTPException

    token = environ.get("AWS_SESSION_TOKEN", "")
    if not token:
        raise ValueError(
            "AWS's extension is there on Lambda only, and AWS_SESSION_TOKEN is not set: use file:/path here"
        )
    port = environ.get("PARAMETERS_SECRETS_EXTENSION_HTTP_PORT", "") or PORT
    if not (port.isascii() and port.isdecimal() and 0 < int(port) < 65536):
        raise ValueError("PARAMETERS_SECRETS_EXTENSION_HTTP_PORT is no port: leave it out for 2773")
    ends_at = time.monotonic() + SECONDS
    connection = HTTPConnection("localhost", int(port), timeout=SECONDS)
    try:
        connection.request("GET", path, headers={"X-Aws-Parameters-Secrets-Token": token})
        with connection.getresponse() as response:
            body = bytearray()
            while piece := response.read1(65536):
                body += piece
                if len(body) > BYTES_AT_MOST or time.monotonic() > ends_at:
                    raise ValueError(
                        f"AWS's extension sent no whole answer of {BYTES_AT_MOST} bytes at most within {SECONDS:g} s"
                    )
    except ConnectionRefusedError:
        raise ValueError(
            f"nothing listens on port {port}: add AWS's layer Parameters-and-Secrets-Lambda-Extension to the function"
        ) from None
    except (OSError, HTTPException) as error:
        raise ValueError(
            f"AWS's extension did not answer ({type(error).__name__}): the next call tries again"
        ) from None
    finally:
        connection.close()
    if response.status == 400 and b"not ready" in body:
        raise ValueError("AWS's extension answers inside an invocation only, and this process is still starting")
    if response.status != 200:
        raise ValueError(
            f"AWS's extension answered {response.status}: is the name right, and may the function's role read it"
            " (secretsmanager:GetSecretValue or ssm:GetParameter, and kms:Decrypt)?"
        )
    return bytes(body)


def _decoded(body: bytes, type_: type[Answer]) -> Answer:
    try:
        return msgspec.json.decode(body, type=type_)
    except msgspec.MsgspecError:
        # Its message may quote what it could not read.
        raise ValueError("AWS's extension answered otherwise than AWS documents it") from None


def _field(value: str, key: str) -> str:
    try:
        found = msgspec.json.decode(value, type=dict[str, object]).get(key)
    except msgspec.MsgspecError:
        raise ValueError(
            "the secret is no JSON object, so it has no field: leave out what stands after the #"
        ) from None
    if isinstance(found, str | int):
        return str(found)
    raise ValueError(f"the secret has no text called {key}")
