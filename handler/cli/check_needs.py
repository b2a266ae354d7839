"""Kinds that no tick of a deployment is long enough for."""

from collections.abc import Iterator

from crontick.jobs.bounds import Bounds
from crontick.jobs.deployment import Deployment
from crontick.jobs.stop import Stop


def oversized(deployment: Deployment) -> Iterator[str]:
    """A sentence for each, with the mend behind its colon."""
    settings = deployment.settings
    largest = Bounds(1, 1, settings.max_budget_seconds, settings.host_limit_seconds, Stop()).left_for_functions
    for kind in deployment.kinds.values():
        if kind.needs_seconds > largest:
            yield (
                f"{kind.name} needs {kind.needs_seconds:g} s, and the longest tick leaves {largest:.1f} s:"
                f" raise CRONTICK_MAX_BUDGET_SECONDS, or lower `needs` in [kinds.{kind.name}]"
            )
