"""Waking: one alarm at the next due time, so that a sleeping app is called when there is something to do (P42)."""

from datetime import datetime, timedelta

__all__ = ["arm_wake"]


async def arm_wake(run_at: datetime | timedelta | float | None = None) -> datetime | None:
    """Set the alarm for a job that was enqueued and committed; when somebody will call, or None.

    For enqueues that crontick cannot see the commit of: a bare psycopg or asyncpg transaction, plain SQL. ``run_at`` is
    what the enqueue was given. None where ``[wake]`` is missing, or an earlier alarm is set, or the platform does not
    answer within a second: that is logged, and the next tick sets it. Nothing is raised.
    """
    from crontick.jobs.wake.after_commit import wake_for

    return await wake_for([run_at])
