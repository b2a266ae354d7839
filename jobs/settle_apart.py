"""Outcomes of which one cannot be stored: each goes alone, so that it harms no other."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import psycopg

from crontick.jobs.batch import Batch
from crontick.jobs.ending import Ending
from crontick.jobs.settling import bare, log_refused

__all__ = ["data_error", "settle_alone", "together"]

_DATA_ERRORS: Final = ("22", "23", "54", "CT")
"""SQLSTATE classes of an outcome that cannot be stored as it is: data, constraints, limits, our own refusals."""


async def settle_alone(ending: Ending, settle: Callable[[Ending], Awaitable[Batch]]) -> Batch:
    """As it is, else bare, else childless too; lost when not even its bare fate can be stored."""
    told = ending
    for drop_children in (False, True):
        try:
            return await settle(told)
        except psycopg.Error as error:
            told = bare(ending, f"SQLSTATE {data_error(error).sqlstate}", drop_children=drop_children)
    try:
        return await settle(told)
    except psycopg.Error as error:
        log_refused(ending, data_error(error))
    return Batch([], closed=False, more=True, lost=frozenset({ending.ctx.job.id}))


def together(batch: Batch, alone: Sequence[Batch]) -> Batch:
    """``batch``, which claimed, with how those fared that were settled before it, each ``alone``."""
    batch.held = frozenset().union(*(each.held for each in alone))
    batch.lost = frozenset().union(*(each.lost for each in alone))
    batch.completed = frozenset().union(*(each.completed for each in alone))
    batch.cancelled = frozenset().union(*(each.cancelled for each in alone))
    batch.refused = [parent for each in alone for parent in each.refused]
    return batch


def data_error(error: psycopg.Error) -> psycopg.Error:
    """The error, if an outcome that cannot be stored caused it; any other is raised."""
    if not (error.sqlstate or "").startswith(_DATA_ERRORS):
        raise error
    return error
