"""A tick from outside: connect, tick, and tell whoever wants to know."""

import asyncio
import math
import os
import sys
from collections.abc import Coroutine
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import msgspec
import psycopg

from crontick.jobs.bounds import Bounds
from crontick.jobs.caller import Caller
from crontick.jobs.clock import Moment
from crontick.jobs.deployment import Deployment, load_deployment
from crontick.jobs.keep import Keeper
from crontick.jobs.link import Link
from crontick.jobs.request import DEEPEST, TickRequest
from crontick.jobs.settings import LAMBDA_FUNCTION, WITHOUT_ALARMS, Settings
from crontick.jobs.stop import Stop
from crontick.jobs.summary import Summary
from crontick.jobs.unavailable import Unavailable, unavailable

if TYPE_CHECKING:
    from crontick.jobs.exchange import Exchanges
    from crontick.jobs.otel.observing import Observing

__all__ = ["process_jobs", "run_tick"]

_KEEPER: Final = Keeper()
_BEFORE_THE_HOST_ENDS_IT_SECONDS: Final = 3.0
"""A tick ends so many seconds before the call does, so that its answer and its last outcomes get through."""
_SHORTEST_TICK_SECONDS: Final = 0.5
_AFTER_THE_HEARTBEAT_SECONDS: Final = 1.0
_SHORTEST_PING_SECONDS: Final = 0.5
_AFTER_THE_COLLECTOR_SECONDS: Final = _AFTER_THE_HEARTBEAT_SECONDS + _SHORTEST_PING_SECONDS
_SHORTEST_TELLING_SECONDS: Final = 0.25
_FOR_THE_WAKE_SECONDS: Final = 1.0
"""A tick that has used up its time has left something, and most needs another to come."""
_FOR_ALERTS_SECONDS: Final = 0.5
"""What is wrong is told by a tick that has used up its time, too: its leases outlive it by far more."""


async def run_tick(
    deployment: Deployment,
    request: TickRequest,
    *,
    caller: Caller | None = None,
    stop: Stop | None = None,
    call_ends_in_seconds: float | None = None,
) -> Summary:
    """One whole tick, connection and all. Raises ``Unavailable`` when the database cannot be had or does not fit.

    ``call_ends_in_seconds``: the host ends this very call then, whatever it says of others (P4).
    """
    beats, began = deployment.config.heartbeat, Moment()
    if beats is None or request.dry_run:
        return await _observed(deployment, request, caller, stop, call_ends_in_seconds)
    from crontick.jobs.heartbeat import Heartbeat

    heartbeat = Heartbeat(deployment, beats)
    heartbeat.start()
    ends_in = call_ends_in_seconds or deployment.settings.host_limit_seconds or math.inf

    def left_seconds() -> float:
        return max(ends_in - began.elapsed_seconds() - _AFTER_THE_HEARTBEAT_SECONDS, _SHORTEST_PING_SECONDS)

    try:
        summary = await _observed(deployment, request, caller, stop, call_ends_in_seconds)
    except Exception as error:
        await heartbeat.fail(error, left_seconds=left_seconds())
        raise
    except asyncio.CancelledError:
        await heartbeat.drop()
        raise
    await heartbeat.success(summary, left_seconds=left_seconds())
    return summary


async def _observed(
    deployment: Deployment,
    request: TickRequest,
    caller: Caller | None,
    stop: Stop | None,
    call_ends_in_seconds: float | None,
) -> Summary:
    """A tick, told to whoever collects traces or metrics; one that nobody asked to be told imports nothing for it."""
    settings, began = deployment.settings, Moment()
    caller = caller or Caller(request.trigger or "process_jobs")
    asked = settings.metrics == "otlp" or settings.traces is not None or "opentelemetry.trace" in sys.modules
    if request.dry_run or not asked:
        return await _ticked(deployment, request, caller, stop, call_ends_in_seconds)
    from crontick.jobs.otel.observing import Observing

    observing = Observing(deployment)
    ends_in = call_ends_in_seconds or settings.host_limit_seconds or math.inf
    return await observing.run(
        caller.trigger,
        lambda: _ticked(deployment, request, caller, stop, call_ends_in_seconds, observing),
        lambda: max(ends_in - began.elapsed_seconds() - _AFTER_THE_COLLECTOR_SECONDS, _SHORTEST_TELLING_SECONDS),
    )


async def _ticked(
    deployment: Deployment,
    request: TickRequest,
    caller: Caller,
    stop: Stop | None,
    call_ends_in_seconds: float | None,
    observing: "Observing | None" = None,
) -> Summary:
    settings = deployment.settings
    url = settings.database_url
    if url is None:
        raise Unavailable("CRONTICK_DATABASE_URL is not set")
    bounds = _bounds(settings, request, stop or Stop(), call_ends_in_seconds)
    link = Link(url, lambda: bounds.left, _KEEPER.take(url))
    await link.begin()
    # Imported here: in a cold process this is done while the server makes its end of the connection.
    from crontick.jobs.exchange import Exchanges
    from crontick.jobs.lend import Lender
    from crontick.jobs.supplies import TickSupplies
    from crontick.jobs.tick import tick

    supplies = TickSupplies(link, deployment, bounds, Lender(url, settings.db_connections))
    if observing is not None:
        supplies.runner = observing.runner(supplies.runner)
    exchanges = Exchanges(link, deployment, bounds, request)
    try:
        if request.dry_run:
            from crontick.jobs.preview import preview

            return await preview(link, deployment, request, bounds, caller)
        ticked = tick(exchanges, supplies, bounds, caller)
        summary = await _waking_again(ticked, link, deployment, exchanges, bounds)
        if exchanges.alert_messages is not None:
            # Imported here: a tick that has nothing to tell pays for none of it.
            from crontick.jobs.alerts.sending import send_alerts

            left = max(bounds.left, _FOR_ALERTS_SECONDS)
            await send_alerts(link, deployment, exchanges.opening, exchanges.alert_messages, seconds=left)
        if exchanges.fan_out is not None:
            await exchanges.fan_out.end(summary)
    except (psycopg.Error, OSError, TimeoutError) as error:
        link.drop()
        told = unavailable(error)
        told.ran = exchanges.claimed > 0
        raise _noted(told, exchanges.tick) from None
    except Exception as fault:
        _noted(fault, exchanges.tick)
        raise
    finally:
        if exchanges.fan_out is not None:
            await exchanges.fan_out.close()
        await supplies.close()
        await _KEEPER.keep(url, link, settings.keep_connection_seconds)
    _warn(summary, deployment, request, bounds)
    return summary


def _noted(error: Exception, tick_id: int | None) -> Exception:
    """The error, with the id of the tick that it ended: the log has it in the traceback, the heartbeat in its ping."""
    if tick_id is not None:
        error.add_note(f"tick {tick_id}")
    return error


def _warn(summary: Summary, deployment: Deployment, request: TickRequest, bounds: Bounds) -> None:
    """What this caller asked for, and this deployment could not give."""
    for name in request.kinds or ():
        if name not in deployment.kinds:
            summary.warn(f"this deployment has no kind {name}")
    most = deployment.settings.max_budget_seconds
    if (request.budget_seconds or deployment.settings.budget_seconds) > most:
        summary.warn(f"the budget was cut to {most:g} s (CRONTICK_MAX_BUDGET_SECONDS)")
    if bounds.budget_seconds < bounds.usual_seconds:
        summary.warn(
            f"this call left {bounds.budget_seconds:.1f} s for a tick of {bounds.usual_seconds:g} s:"
            " give it a longer timeout, or lower CRONTICK_BUDGET_SECONDS"
        )
    asks = deployment.config.fan_out is not None and request.depth < DEEPEST
    if summary.more and asks and LAMBDA_FUNCTION not in os.environ:
        from crontick.jobs.fan_out_way import NOT_ASKED, FanOutError, tick_url

        try:
            tick_url(deployment.settings, deployment.config.fan_out)
        except FanOutError as error:
            summary.warn(f"{NOT_ASKED}: {error}")


async def _waking_again(
    ticked: Coroutine[Any, Any, Summary], link: Link, deployment: Deployment, exchanges: "Exchanges", bounds: Bounds
) -> Summary:
    """A tick, and, where there is a ``[wake]``, the alarm for what is due after it."""
    if deployment.config.wake is None or deployment.settings.environment in WITHOUT_ALARMS:
        return await ticked
    # Imported here: a deployment that is called by the clock alone pays for none of it.
    from crontick.jobs.wake.after_tick import in_tick, wake_after_tick

    with in_tick():
        summary = await ticked
    left = max(bounds.left, _FOR_THE_WAKE_SECONDS)
    await wake_after_tick(link, deployment, exchanges, summary, seconds=left)
    return summary


def _bounds(settings: Settings, request: TickRequest, stop: Stop, call_ends_in_seconds: float | None) -> Bounds:
    granted = min(request.budget_seconds or settings.budget_seconds, settings.max_budget_seconds)
    return Bounds(
        limit=request.limit or settings.limit,
        concurrency=settings.concurrency,
        budget_seconds=_cut(granted, call_ends_in_seconds),
        host_limit_seconds=call_ends_in_seconds or settings.host_limit_seconds,
        stop=stop,
        usual_seconds=granted,
    )


def _cut(budget_seconds: float, call_ends_in_seconds: float | None) -> float:
    if call_ends_in_seconds is None:
        return budget_seconds
    left = call_ends_in_seconds - _BEFORE_THE_HOST_ENDS_IT_SECONDS
    if left < _SHORTEST_TICK_SECONDS:
        raise Unavailable(
            f"this call ends in {max(call_ends_in_seconds, 0):.1f} s, and a tick needs"
            f" {_BEFORE_THE_HOST_ENDS_IT_SECONDS + _SHORTEST_TICK_SECONDS:g} at least:"
            " give it a timeout of 30 s or more"
        )
    return min(budget_seconds, left)


async def process_jobs(
    limit: int = 100, *, budget: timedelta | float | None = None, deployment: Deployment | None = None, **request: Any
) -> Summary:
    """A tick as a function, for scripts, tests and other triggers. ``budget`` in seconds or as a timedelta."""
    if deployment is None:
        deployment = load_deployment(Settings.from_environ(os.environ))
    seconds = budget.total_seconds() if isinstance(budget, timedelta) else budget
    asked = TickRequest(limit=limit, budget_seconds=seconds, **request)
    if seconds is not None and seconds > deployment.settings.max_budget_seconds:
        # Who calls this function owns the process: no host's limit was promised to anybody else.
        settings = msgspec.structs.replace(deployment.settings, max_budget_seconds=seconds)
        deployment = msgspec.structs.replace(deployment, settings=settings)
    return await run_tick(deployment, asked)
