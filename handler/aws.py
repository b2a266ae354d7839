"""``crontick.handler.aws.handler``: the front door on AWS Lambda, for HTTP events and for direct ones."""

from crontick.handler.starting import started  # it holds for the imports that follow

# isort: split
import os
from typing import Any, Final

from crontick.handler.on_lambda.door import LambdaDoor, TickFailed
from crontick.handler.on_lambda.retiring import called_by_the_runtime

__all__ = ["TickFailed", "handler"]

_DOOR: Final = LambdaDoor(os.environ)
started()


def handler(event: Any, context: Any) -> dict[str, Any]:
    """Answer one invocation; nothing runs on after it.

    A direct one that cannot tick raises ``TickFailed``, so that the platform's alarms and retries work, one of a shape
    that crontick does not know ``UnknownEvent``. A request over HTTP is always answered.
    """
    return _DOOR.answer(event, context, posted=called_by_the_runtime())
