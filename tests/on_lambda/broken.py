"""A deployment whose engine has a fault, in words that quote a password."""

import os
from typing import Any

from crontick.jobs import tick as engine


async def tick(*_: Any) -> None:
    raise RuntimeError(f"a fault near {os.environ['CRONTICK_DATABASE_URL']}")


vars(engine)["tick"] = tick
