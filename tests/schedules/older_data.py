"""A process whose zone data are older: asked in lines of JSON for the slot that follows another."""

import struct
import sys
from pathlib import Path

import msgspec

from crontick.jobs.slots import Slot, following, parse


class Question(msgspec.Struct):
    """What follows, in this process's view."""

    text: str
    zone: str
    after: Slot


def write_zone_data(folder: Path, zone: str, rule: str) -> None:
    """A package ``tzdata`` of one zone that has always kept the rule, a POSIX ``TZ`` string (RFC 9636)."""
    (folder / "tzdata" / "zoneinfo" / zone).parent.mkdir(parents=True)
    (folder / "tzdata" / "__init__.py").write_text('IANA_VERSION = "2025b"\n')
    (folder / "tzdata" / "zones").write_text(f"{zone}\n")
    abbreviation = b"LMT\0"
    block = struct.pack(">4sc15x6l", b"TZif", b"2", 0, 0, 0, 0, 1, len(abbreviation))
    block += struct.pack(">lBB", 0, 0, 0) + abbreviation
    (folder / "tzdata" / "zoneinfo" / zone).write_bytes(block + block + f"\n{rule}\n".encode())


if __name__ == "__main__":
    for line in sys.stdin:
        asked = msgspec.json.decode(line, type=Question)
        slot = following(parse(asked.text, asked.zone), asked.after)
        print(msgspec.json.encode(slot).decode(), flush=True)
