"""Tells systemd, where it started this process with ``Type=notify``, that it is ready, lives, or ends."""

import os
import socket
from contextlib import suppress


def tell_supervisor(state: str) -> None:
    """``READY=1`` or ``STOPPING=1``, as sd_notify(3) says. Nothing where nobody asked to be told, or hears it."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as sending:
        # An @ at the beginning is a name that is in no folder, which the kernel writes with a NUL.
        sending.sendto(state.encode(), f"\0{address[1:]}" if address.startswith("@") else address)
