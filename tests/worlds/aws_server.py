"""AWS on loopback, as moto plays it over real HTTP, for what botocore calls."""

import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.worlds.process import processes
from tests.worlds.waiting import listens, until

REGION = "eu-central-1"


def environ(url: str) -> Mapping[str, str]:
    """What makes botocore call that server, and nobody else."""
    return {
        "AWS_ENDPOINT_URL": url,
        "AWS_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/nonexistent",
        "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
    }


@contextmanager
def aws_server() -> Iterator[str]:
    """The URL of a server that has all of moto's services, each empty."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with processes() as children:
        server = children.program(sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port))
        until(lambda: listens(port) or server.process.poll() is not None, seconds=60)
        assert server.process.poll() is None, server.errors
        yield f"http://127.0.0.1:{port}"
