"""Pictures of how things went, as the shapes that a template draws in SVG."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Final

import msgspec

from crontick.handler.lengths import lasting, took
from crontick.handler.operate.kind_times import KindTimes
from crontick.handler.operate.states import Work
from crontick.handler.operate.ticking import Tick

__all__ = ["Picture", "ages", "durations", "gaps", "outcomes"]

WIDTH: Final = 360
_BASE: Final = 104
_TALLEST: Final = 84
_ROW: Final = 18
_BARS_FROM, _BARS_TO = 118, 268
_ROWS_AT_MOST: Final = 8
_GAP_BINS: Final = (1, 2, 5, 10, 15, 20, 30, 60, 120, 360, 1440)
"""Minutes."""
_OUTCOMES: Final = ("succeeded", "failed", "dead", "other")


class Bar(msgspec.Struct, frozen=True):
    """A rectangle; ``look`` is its class, ``title`` what it stands for."""

    x: float
    y: float
    width: float
    height: float
    look: str
    title: str


class Label(msgspec.Struct, frozen=True):
    """A text at a point."""

    x: float
    y: float
    text: str
    anchor: str = "start"


class Picture(msgspec.Struct, frozen=True):
    """``told`` says in words what the picture shows; without bars it is all that there is."""

    title: str
    told: str
    height: float
    bars: list[Bar]
    labels: list[Label]
    legend: tuple[str, ...] = ()


def outcomes(ticks: Sequence[Tick]) -> Picture:
    """Jobs of the last ticks, the latest on the right, by how their attempts ended."""
    shown = list(reversed(ticks))
    most = max((_ended(tick) for tick in shown), default=0)
    title = "Jobs per tick, by outcome"
    if not most:
        return Picture(title, "No job ended in the last ticks." if shown else "No tick has come yet.", 0, [], [])
    step, bars = (WIDTH - 24) / len(shown), []
    for nth, tick in enumerate(shown):
        at = float(_BASE)
        for outcome, count in zip(_OUTCOMES, _counts(tick), strict=True):
            if count:
                height = max(count / most * _TALLEST, 1)
                at -= height
                said = f"tick {tick.id}, {tick.started_at:%H:%M}: {count} {outcome}"
                bars.append(Bar(24 + nth * step, at, max(step - 1, 0.8), height, outcome, said))
    totals = [sum(column) for column in zip(*(_counts(tick) for tick in shown), strict=True)]
    said = ", ".join(f"{count:,} {outcome}" for outcome, count in zip(_OUTCOMES, totals, strict=True) if count)
    labels = [
        *_scale(most),
        Label(24, _BASE + 14, f"{shown[0].started_at:%b %d %H:%M}"),
        Label(WIDTH, _BASE + 14, f"{shown[-1].started_at:%b %d %H:%M}", "end"),
    ]
    return Picture(title, f"The last {len(shown)} ticks: {said}.", _BASE + 20, bars, labels, _OUTCOMES)


def ages(work: Iterable[Work]) -> Picture:
    """For how long the oldest due job of each queue has waited."""
    oldest: dict[str, timedelta] = {}
    for row in work:
        if row.oldest_due is not None and row.held_by is None:
            oldest[row.queue] = max(row.oldest_due, oldest.get(row.queue, timedelta()))
    rows = sorted(oldest.items(), key=lambda row: row[1], reverse=True)
    said = "; ".join(f"{queue} {lasting(age)}" for queue, age in rows[:_ROWS_AT_MOST])
    told = f"The oldest due job of each queue: {said}." if rows else "Nothing is due."
    return _lines("Queue age", told, [(queue, [age.total_seconds()], lasting(age)) for queue, age in rows])


def durations(kinds: Sequence[KindTimes]) -> Picture:
    """Half of the attempts of a kind took no longer than the dark bar, 95 of 100 no longer than the pale one."""
    rows = [
        (one.kind, [one.p95.total_seconds(), one.p50.total_seconds()], f"{took(one.p50)}, {took(one.p95)}")
        for one in sorted(kinds, key=lambda one: one.attempts, reverse=True)
    ]
    said = "; ".join(f"{kind} {text}" for kind, _, text in rows[:_ROWS_AT_MOST])
    told = f"p50 and p95 of the attempts of the last day: {said}." if rows else "No attempt has ended in the last day."
    return _lines("Durations by kind, p50 and p95", told, rows)


def gaps(ticks: Sequence[Tick]) -> Picture:
    """How much time lay between ticks, as a histogram."""
    starts = [tick.started_at for tick in ticks]
    minutes = [(later - earlier).total_seconds() / 60 for later, earlier in pairwise(starts)]
    title = "Time between ticks"
    if not minutes:
        return Picture(title, "Two ticks are needed for a gap.", 0, [], [])
    counts = [0] * (len(_GAP_BINS) + 1)
    for gap in minutes:
        counts[sum(gap > edge for edge in _GAP_BINS)] += 1
    found = [nth for nth, count in enumerate(counts) if count]
    shown = range(max(found[0] - 1, 0), min(found[-1] + 2, len(counts)))
    most, step = max(counts), (WIDTH - 24) / len(shown)
    bars, labels = [], _scale(most)
    for place, nth in enumerate(shown):
        x, count = 24 + place * step, counts[nth]
        said = f"{count:,} {'gap' if count == 1 else 'gaps'} of {_bin(nth)}"
        height = count / most * _TALLEST
        if count:
            bars.append(Bar(x + 1, _BASE - height, step - 2, height, "plain", said))
        labels.append(Label(x + step / 2, _BASE + 14, _edge(nth), "middle"))
    middle, longest = sorted(minutes)[len(minutes) // 2], max(minutes)
    told = f"Of {len(minutes):,} gaps half are {_minutes(middle)} or less; the longest is {_minutes(longest)}."
    return Picture(title, told, _BASE + 20, bars, labels)


def _lines(title: str, told: str, rows: Sequence[tuple[str, list[float], str]]) -> Picture:
    """A row for each name, its bars over one another, the longest first."""
    shown = rows[:_ROWS_AT_MOST]
    most = max((value for _, values, _ in shown for value in values), default=0) or 1
    bars, labels = [], []
    for nth, (name, values, text) in enumerate(shown):
        y = nth * _ROW
        for place, value in enumerate(values):
            width = max(value / most * (_BARS_TO - _BARS_FROM), 1)
            look = "plain" if place == len(values) - 1 else "pale"
            bars.append(Bar(_BARS_FROM, y + 4, width, 10, look, f"{name}: {text}"))
        labels += [Label(0, y + 13, _cut(name)), Label(WIDTH, y + 13, text, "end")]
    return Picture(title, told, len(shown) * _ROW, bars, labels)


def _scale(most: int) -> list[Label]:
    return [Label(20, _BASE - _TALLEST + 8, f"{most:,}", "end"), Label(20, _BASE, "0", "end")]


def _counts(tick: Tick) -> tuple[int, int, int, int]:
    other = tick.snoozed + tick.cancelled + tick.handed_back
    return tick.succeeded, tick.failed, tick.dead, other


def _ended(tick: Tick) -> int:
    return sum(_counts(tick))


def _cut(name: str) -> str:
    return name if len(name) <= 18 else f"{name[:17]}…"


def _edge(nth: int) -> str:
    return f"≤{_short(_GAP_BINS[nth])}" if nth < len(_GAP_BINS) else f">{_short(_GAP_BINS[-1])}"


def _bin(nth: int) -> str:
    if nth == len(_GAP_BINS):
        return f"more than {_short(_GAP_BINS[-1])}"
    return f"{_short(_GAP_BINS[nth - 1])} to {_short(_GAP_BINS[nth])}" if nth else f"{_short(_GAP_BINS[0])} or less"


def _short(minutes: int) -> str:
    return f"{minutes // 60}h" if minutes >= 60 else f"{minutes}m"


def _minutes(minutes: float) -> str:
    return lasting(timedelta(minutes=minutes))
