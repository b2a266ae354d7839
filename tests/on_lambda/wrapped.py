"""A handler around ours, which answers with something else and forgets what ours answered."""

from typing import Any

from crontick.handler import aws


def handler(event: Any, context: Any) -> dict[str, Any]:
    return {"ran": aws.handler(event, context)["ran"]}
