"""Everything at once on a PostgreSQL of its own: see crontick work in a minute, and check that it did."""

from crontick.handler.demo.run import run

__all__ = ["run"]
