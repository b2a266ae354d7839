"""Everything that an app needs while one writes it: database, ticks, mail and a server that follows the code."""

from crontick.handler.dev.refused import DevRefused
from crontick.handler.dev.run import Asked, run

__all__ = ["Asked", "DevRefused", "run"]
