"""Why no tick can run just now, and when to call again."""


class Unavailable(Exception):
    """Nothing ran and nothing was lost: the database is out of reach or waking, or schema and code disagree.

    ``reason`` is a sentence in crontick's own words, without the database's text (P31); ``out_of_reach`` is true of a
    database that did not answer.
    """

    def __init__(self, reason: str, *, retry_after_seconds: int = 30, out_of_reach: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.out_of_reach = out_of_reach
        self.retry_after_seconds = retry_after_seconds
