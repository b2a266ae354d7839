"""An attempt's end: its outcome, and what is known of each marker."""

from typing import Final

import msgspec

from crontick.jobs.backoff import delay_seconds
from crontick.jobs.context import Context
from crontick.jobs.outcomes import Dead, Failed, HandedBack, Mark, Outcome, Snoozed, Succeeded, Target

__all__ = ["PLAIN", "Ending", "before", "ended", "logged", "told"]

PLAIN: Final = Succeeded()
"""A success without a word, as nearly all are: one for all of them."""


class Ending(msgspec.Struct, frozen=True, gc=False):
    """An attempt and its outcome, as the next exchange settles it."""

    ctx: Context
    outcome: Outcome
    marks: tuple[Mark, ...] = ()
    completed: bool = False
    target: Target | None = None

    @property
    def plain(self) -> bool:
        """Nothing to say but that it succeeded."""
        return (
            self.outcome is PLAIN
            and not self.marks
            and not self.completed
            and self.target is None
            and not self.ctx.children
        )


def ended(ctx: Context, outcome: Outcome) -> Ending:
    """The ending, with what is known of each marker: never entered is free, entered and not left is in doubt."""
    ctx.stop_clock()
    completed = ctx.completing or ctx.claim_told
    target = _target(ctx, outcome) if ctx.kind.breaker else None
    if not ctx.marks and ctx.job.marker_state != "reserved":
        return Ending(ctx, outcome, (), completed, target)
    marks = tuple(mark or Mark(ctx.kind.name, key, "in_doubt") for key, mark in ctx.marks.items())
    own = ctx.job.marker
    if own is not None and ctx.job.marker_state == "reserved" and own not in ctx.marks:
        marks += (Mark(ctx.kind.name, own, "free"),)
    doubt = next((mark for mark in marks if mark.state == "in_doubt"), None)
    if doubt is not None and not isinstance(outcome, Dead):
        outcome = _in_doubt(ctx, outcome, doubt.key)
    return Ending(ctx, outcome, marks, completed, target)


def _target(ctx: Context, outcome: Outcome) -> Target:
    """What was cut off had no answer in time; what was sent before, or never began, called nobody."""
    if ctx.target is not None:
        return ctx.target if ctx.target in ("ok", "failed") else "nothing"  # a function may have said anything
    if isinstance(outcome, Succeeded):
        return "nothing" if outcome.duplicate else "ok"
    return "failed" if ctx.cut is not None and not isinstance(outcome, HandedBack) else "nothing"


def _in_doubt(ctx: Context, outcome: Outcome, key: str) -> Outcome:
    """What the kind's policy makes of an attempt that left a marker in doubt, also of one that returned (P21)."""
    if ctx.kind.window_seconds and not isinstance(outcome, Succeeded):
        return outcome  # the next claim looks whether the window is open still
    if ctx.kind.in_doubt == "skip":
        return outcome if isinstance(outcome, Succeeded) else Succeeded(duplicate=True)
    because = getattr(
        outcome, "error", "the function left it in doubt" if isinstance(outcome, Succeeded) else "it was cut off"
    )
    error, fingerprint = f'in doubt: nobody knows whether "{key}" was sent ({because})', "crontick:in-doubt"
    if ctx.kind.in_doubt == "park" and not ctx.kind.window_seconds:
        return Dead(error, "in doubt", fingerprint)
    if not isinstance(outcome, Succeeded):
        return outcome
    if ctx.job.attempt >= (ctx.job.own_max_attempts or ctx.kind.max_attempts):
        return Dead(error, "in doubt", fingerprint)
    return Failed(error, "in doubt", delay_seconds(ctx.kind.backoff, ctx.job.attempt), fingerprint)


def told(ending: Ending) -> Ending:
    """The ending; a failure is logged, for the job keeps its error's text, and not where in the code it arose.

    What called complete may have committed it: the settle finds out, and it is logged then (P8).
    """
    if not ending.completed:
        logged(ending)
    return ending


def logged(ending: Ending) -> None:
    """A failure has its line in the log; any other end has none."""
    if isinstance(ending.outcome, Failed | Dead):
        # Imported here: a tick in which nothing fails does not pay for it.
        from crontick.jobs.log_failure import log_failure

        log_failure(ending, ending.outcome)


def before(ctx: Context) -> Outcome | None:
    """What the claim's look at the marker decides before the function is called (P20)."""
    job, policy = ctx.job, ctx.kind.in_doubt
    match job.marker_state:
        case "sent":
            return Succeeded(duplicate=True, note=f"sent before by job {job.marker_job}")
        case "taken":
            return Snoozed(job.marker_seconds or 1.0)
        case "in_doubt" if policy == "park":
            said = f'in doubt: job {job.marker_job} left "{job.marker}", and nobody knows whether it was sent'
            return Dead(said, "in doubt", "crontick:in-doubt")
        case "in_doubt" if policy == "skip":
            return Succeeded(duplicate=True, note=f"in doubt since job {job.marker_job}; the policy is to skip")
    return None
