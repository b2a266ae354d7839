"""Ports of the loopback, for servers that only this machine may reach."""

import socket
from typing import Final

HOST: Final = "127.0.0.1"


def free_port() -> int:
    """A port that nobody has."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def listening(port: int) -> socket.socket:
    """A socket that listens on that port; raises ``OSError`` when somebody else does."""
    return socket.create_server((HOST, port))
