"""A job as a tick holds it: what the claim returned, and nothing that is computed."""

from datetime import datetime

import msgspec

__all__ = ["Job"]


class Job(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One claimed job. ``attempt`` is this attempt's number, from 1; ``claim`` is the fence that settling names."""

    id: int
    kind: str
    payload_text: str
    attempt: int
    own_max_attempts: int | None
    handed_back: int
    suspect: bool
    queue: str
    priority: int
    run_at: datetime
    created_at: datetime
    group_key: str | None
    unique_key: str | None
    first_job: int | None
    marker: str | None
    marker_state: str | None
    marker_job: int | None
    marker_seconds: float | None
    marker_hash: str | None
    claim: int

    @property
    def lineage(self) -> int:
        """The first job of the lineage: a requeued copy keeps the default marker of the job it came from (P22)."""
        return self.first_job or self.id
