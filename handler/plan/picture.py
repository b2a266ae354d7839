"""Waits against costs as a picture in SVG, that stands by itself."""

from collections.abc import Sequence
from datetime import timedelta
from math import log
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from crontick.handler.dashboard.pictures import WIDTH, Bar, Label, Picture
from crontick.handler.lengths import lasting
from crontick.handler.plan.month import Month

__all__ = ["draw", "svg"]

_LEFT, _RIGHT, _TOP, _BASE = 44, WIDTH - 52, 34, 174
_DOT: Final = 6
_MARKS: Final = tuple(timedelta(seconds=seconds) for seconds in (1, 5, 15, 60, 300, 900, 3600, 21_600, 86_400))
_STYLE: Final = (
    "text{font:10px sans-serif;fill:#64748b}.plain{fill:#2563eb}.pale{fill:#94a3b8}"
    "@media(prefers-color-scheme:dark){text{fill:#cbd5e1}.plain{fill:#60a5fa}}"
)


def draw(months: Sequence[Month]) -> Picture:
    """A dot for each cadence: further right jobs wait longer (each step a multiple), further up a month costs more."""
    marks = _around([month.delays.mean for month in months])
    most = max(month.usd for month in months) or 1
    bars = [Bar(_LEFT, _BASE, _RIGHT - _LEFT, 1, "pale", "waits"), Bar(_LEFT, _TOP, 1, _BASE - _TOP, "pale", "costs")]
    labels = [
        Label(_LEFT - 4, _TOP + 4, f"${most:,.2f}", "end"),
        Label(_LEFT - 4, _BASE, "$0", "end"),
        Label(_LEFT, 12, "a month costs"),
        Label(_RIGHT, _BASE + 28, "a job waits, on average", "end"),
        *(Label(_across(mark, marks), _BASE + 14, lasting(mark), "middle") for mark in marks),
    ]
    for month in months:
        x, y = _across(month.delays.mean, marks), _BASE - month.usd / most * (_BASE - _TOP)
        said = f"{month.cadence.name}: {lasting(month.delays.mean)}, ${month.usd:,.2f}"
        bars.append(Bar(x - _DOT / 2, y - _DOT / 2, _DOT, _DOT, "plain", said))
        labels.append(Label(x + _DOT, y - _DOT / 2, month.cadence.name))
    told = "; ".join(bar.title for bar in bars[2:])
    return Picture("What waiting less costs", told, _BASE + 36, bars, labels)


def svg(picture: Picture) -> str:
    """The picture as a file of its own, with its looks."""
    shapes = [
        f'<rect class="{bar.look}" x="{bar.x:.1f}" y="{bar.y:.1f}" width="{bar.width:.1f}" height="{bar.height:.1f}">'
        f"<title>{escape(bar.title)}</title></rect>"
        for bar in picture.bars
    ]
    texts = [
        f'<text x="{label.x:.1f}" y="{label.y:.1f}" text-anchor={quoteattr(label.anchor)}>{escape(label.text)}</text>'
        for label in picture.labels
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {WIDTH} {picture.height:g}">',
        f"<title>{escape(picture.title)}</title>",
        f"<desc>{escape(picture.told)}</desc>",
        f"<style>{_STYLE}</style>",
    )
    return "\n".join((*head, *shapes, *texts, "</svg>")) + "\n"


def _around(waits: Sequence[timedelta]) -> list[timedelta]:
    """The marks from the last one below all waits to the first one above them."""
    shortest, longest = max(min(waits), _MARKS[0]), max(*waits, _MARKS[1])
    below = [mark for mark in _MARKS if mark <= shortest][-1]
    above = next((mark for mark in _MARKS if mark >= longest), longest)
    return [mark for mark in _MARKS if below <= mark < above] + [above]


def _across(wait: timedelta, marks: Sequence[timedelta]) -> float:
    first, last = log(marks[0].total_seconds()), log(marks[-1].total_seconds())
    return _LEFT + (log(max(wait, marks[0]).total_seconds()) - first) / (last - first) * (_RIGHT - _LEFT)
