"""Why no tick can run just now, and when to call again."""


class Unavailable(Exception):
    """The database is out of reach or waking, or schema and code disagree.

    ``ran`` says whether that came after jobs were claimed, whose functions may have run; ``reason`` is a sentence in
    crontick's own words, without the database's text (P31); ``out_of_reach`` is true of a database that did not answer.
    """

    def __init__(self, reason: str, *, retry_after_seconds: int = 30, out_of_reach: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.ran = False
        self.out_of_reach = out_of_reach
        self.retry_after_seconds = retry_after_seconds

    @property
    def sentence(self) -> str:
        """The reason, and what it means for the jobs."""
        meant = "the jobs that ran are settled or retried" if self.ran else "nothing ran and nothing was lost"
        return f"{self.reason}; {meant}"
