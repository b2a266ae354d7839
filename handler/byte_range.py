"""Which bytes a request asks for (RFC 9110, section 14)."""

import re
from typing import Final

_ONE_RANGE: Final = re.compile(r"bytes=[ \t]*(?:([0-9]{1,19})-([0-9]{0,19})|-([0-9]{1,19}))[ \t]*", re.IGNORECASE)


class Unsatisfiable(ValueError):
    """No byte of the range is in the file."""


def asked_range(header: str, size: int) -> tuple[int, int] | None:
    """The first and the last byte; None for all of them, which is also the answer to several ranges at once.

    A header that is none is passed over, as the RFC wants it. Raises ``Unsatisfiable``.
    """
    found = _ONE_RANGE.fullmatch(header)
    if found is None:
        return None
    begin, end, tail = found.groups()
    if tail is not None:
        first, last = max(size - int(tail), 0), size - 1
    else:
        first, last = int(begin), min(int(end or size), size - 1)
        if end and int(end) < first:
            return None
    if first >= size:
        raise Unsatisfiable
    return first, last
