"""Limits and seats of a queue that no kind has: they may be meant for others, or misspelt."""

from collections.abc import Iterator

from crontick.jobs.deployment import Deployment
from crontick.jobs.fit import suggestion


def idle_limits(deployment: Deployment) -> Iterator[str]:
    """A sentence for each."""
    config = deployment.config
    known = {kind.queue for kind in deployment.kinds.values()}
    named = [(f"[limits.{name}]", limit.queue) for name, limit in config.limits.items() if limit.queue is not None]
    named += [(f"[queues.{name}]", name) for name in config.queues]
    for where, queue in named:
        if queue not in known:
            close = suggestion(queue, known)
            yield f"{where}: no kind has the queue {queue}{close}: it holds for jobs that are enqueued into it by name"
