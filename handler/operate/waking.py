"""The alarm for what a request may have made due: where nobody calls until one goes off, it would wait for long."""

from collections.abc import Callable, Sequence
from datetime import datetime

from crontick.jobs.deployment import Deployment
from crontick.jobs.settings import WITHOUT_ALARMS
from crontick.jobs.unavailable import Unavailable

Deploying = Callable[[], Deployment]


async def wake_after(deploying: Deploying | None, moments: Sequence[datetime | float | None] = (None,)) -> None:
    """Set it for the first of these moments, None being now, once all is committed; nothing is raised."""
    try:
        known = deploying() if deploying else None
    except Unavailable:  # its configuration is wrong: no tick starts, and each says why
        return
    if known is None or known.config.wake is None or known.settings.environment in WITHOUT_ALARMS:
        return
    # Imported here: a door whose deployment is called by the clock alone pays for none of it.
    from crontick.jobs.wake.after_commit import wake_for

    await wake_for(moments, known.config.wake, known.redact)
