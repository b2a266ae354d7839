"""What is decided about doubts, alerts, what is claimed and called, and schedules."""

import re

from crontick.handler.dashboard.asking import acting, asked, back
from crontick.handler.dashboard.visit import Go, Visit
from crontick.handler.operate import actions
from crontick.handler.operate.asked import DecideDoubt, NameTarget, NameWork, RunSchedule
from crontick.handler.operate.refused import NotDone


async def decide(visit: Visit) -> Go:
    """Whether a message was sent. Its key is taken as it is: blanks at its ends are part of it."""
    key = visit.told.given("key") or ""
    done = await actions.decide_doubt(visit.conn, asked(DecideDoubt, {**acting(visit, "kind", "decision"), "key": key}))
    how = "was sent" if done.decision == "sent" else "was not sent"
    fresh = f": job {done.job} sends it" if done.job else ""
    return Go(back(visit, "doubts"), f"{done.kind} {done.key} {how}{fresh}.")


async def silence(visit: Visit) -> Go:
    """Tell nobody of an alert for so many hours; of none, tell it again."""
    hours = visit.told.get("hours")
    if not re.fullmatch(r"[0-9]{1,4}", hours):
        raise NotDone("for how long nobody is told is a whole number of hours")
    values = {**acting(visit, "name"), "seconds": int(hours) * 3600.0}
    await actions.act(visit.conn, "silence_alert", {**values, "reason": values["reason"] or None})
    return Go("alerts", f"{values['name']}: {f'silent for {hours} h' if int(hours) else 'told again'}.")


async def pause(visit: Visit) -> Go:
    """Claim nothing of it from now on."""
    done = await actions.pause(visit.conn, _work(visit))
    return Go(back(visit, "pauses"), f"{f'{done.what} {done.name}'.strip()}: paused.")


async def resume(visit: Visit) -> Go:
    """Claim it again."""
    done = await actions.resume(visit.conn, _work(visit))
    return Go(back(visit, "pauses"), f"{f'{done.what} {done.name}'.strip()}: resumed.")


async def open_breaker(visit: Visit) -> Go:
    """Send nothing there."""
    done = await actions.open_breaker(visit.conn, asked(NameTarget, acting(visit, "target")))
    return Go("endpoints", f"{done.target}: left alone until somebody closes the breaker.")


async def close_breaker(visit: Visit) -> Go:
    """Send there again."""
    done = await actions.close_breaker(visit.conn, asked(NameTarget, acting(visit, "target")))
    return Go("endpoints", f"{done.target}: called again from now on.")


async def reset_breaker(visit: Visit) -> Go:
    """Send there again, and forget how often it failed."""
    done = await actions.reset_breaker(visit.conn, asked(NameTarget, acting(visit, "target")))
    return Go("endpoints", f"{done.target}: called again, and its failures are forgotten.")


async def run_schedule(visit: Visit) -> Go:
    """Its job now, beside its slots."""
    done = await actions.run_schedule(visit.conn, asked(RunSchedule, acting(visit, "name")))
    return Go("schedules", f"{done.schedule}: job {done.job} is due at once.")


def _work(visit: Visit) -> NameWork:
    return asked(NameWork, {**acting(visit, "what"), "name": visit.told.given("name") or ""})
