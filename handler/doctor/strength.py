"""Whether a secret looks as if somebody had made it up, not a generator."""

import re
from collections import Counter
from itertools import pairwise
from math import log2
from typing import Final

GUESSABLE_BITS: Final = 24.0
"""Of 32 random hexadecimal digits none in fifty thousand came below 51; of 16, which are few, one in two hundred."""
_COMMON: Final = re.compile(
    "passwor[dt]|secret|letmein|qwert[yz]|asdf|admin|welcome|hello|test|crontick|token|cron", re.IGNORECASE
)


def guessable(secret: str) -> bool:
    """Common words, repetitions and runs such as 1234 count for nothing; what is left counts by how varied it is."""
    left = _COMMON.sub("", secret)
    seen: set[tuple[str, str]] = set()
    surprising = 1
    for pair in pairwise(left):
        if pair not in seen and abs(ord(pair[1]) - ord(pair[0])) > 1:
            surprising += 1
        seen.add(pair)
    return surprising * _bits_a_character(left) < GUESSABLE_BITS


def _bits_a_character(text: str) -> float:
    shares = [count / len(text) for count in Counter(text).values()]
    return -sum(share * log2(share) for share in shares)
