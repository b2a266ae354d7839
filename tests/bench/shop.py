"""A shop at scale: millions of finished jobs, thousands of others in every state, and what stands around them."""

from pathlib import Path
from typing import Any, Final

import psycopg

__all__ = ["fill_shop"]

_STATEMENTS: Final = (Path(__file__).parent / "shop.sql").read_text().split(";\n")
_TICK_KINDS: Final = """
{"send_receipt": {"n": 9, "failed": 1, "dead": 0, "ms_sum": 900, "ms_max": 310, "buckets": [0, 1, 4, 3, 1, 0, 0, 0]},
 "deliver_webhook": {"n": 5, "failed": 2, "dead": 1, "ms_sum": 2500, "ms_max": 900, "buckets": [0, 0, 0, 2, 2, 1]},
 "resize_image": {"n": 7, "failed": 0, "dead": 0, "ms_sum": 2100, "ms_max": 700, "buckets": [0, 0, 1, 3, 2, 1]}}
"""


def fill_shop(
    conn: psycopg.Connection[Any], *, finished: int, unfinished: int, ticks: int = 43_200, others: int = 200_000
) -> None:
    """So many of each, and as many markers, acts and records as ``others``.

    One finished job of 250 is dead, and half of these wait for a person.
    """
    numbers = {"finished": finished, "unfinished": unfinished, "ticks": ticks, "others": others, "kinds": _TICK_KINDS}
    for text in filter(str.strip, _STATEMENTS):
        conn.execute(text.encode(), numbers)
    conn.execute("vacuum (analyze)")
