"""One tick: run what is due, within its bounds, and summarise how the attempts ended."""

from crontick.jobs.bounds import Bounds
from crontick.jobs.caller import Caller
from crontick.jobs.count import closed, count, opened
from crontick.jobs.exchange import Exchanges
from crontick.jobs.seats import Seats
from crontick.jobs.settling import log_unrecorded
from crontick.jobs.summary import Summary
from crontick.jobs.supplies import TickSupplies

__all__ = ["tick"]


async def tick(exchanges: Exchanges, supplies: TickSupplies, bounds: Bounds, caller: Caller) -> Summary:
    """Open, run and exchange until nothing is left to do or a bound is reached; an idle tick is closed by its opening.

    A job whose process dies anywhere in here is rescued by a later tick: nothing of it is kept in memory alone.
    """
    summary = Summary(caller.trigger)
    opening, batch = await exchanges.open(caller, supplies.patience_seconds)
    opened(summary, opening)
    supplies.opened_at = opening.opened_at
    seats = Seats(supplies.runner, bounds.left_for_functions, bounds.stop)
    try:
        while not batch.closed:
            seats.start(supplies.contexts(batch.jobs))
            seats.ask_to_stop(batch.cancels)
            ended = await seats.ended(more=batch.more, trip_seconds=supplies.link.trip_seconds, at_once=batch.cleared)
            batch = await exchanges.exchange(ended, seats)
            count(summary, batch)
    finally:
        log_unrecorded(exchanges.unsettled + await seats.close())
    summary.kinds = exchanges.tally.kinds if exchanges.tally else {}
    return closed(summary, batch, bounds, seats, exchanges.claimed)
