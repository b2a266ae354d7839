"""Dead letters: grouped by their error, and decided one by one or many at once."""

from typing import Any, Final
from urllib.parse import urlencode

import msgspec

from crontick.handler.dashboard.asking import asked
from crontick.handler.dashboard.visit import Go, Page, Visit
from crontick.handler.operate import actions, reads
from crontick.handler.operate.asked import ActOnMany, Asked, ListDead, Matching, RequeueMany
from crontick.handler.operate.refused import NotDone

_CHOICES: Final = ("kind", "queue", "error", "fingerprint", "endpoint")
_SHOWN: Final = 10
_DECISIONS: Final = ("requeue", "ignore")


async def dead(visit: Visit) -> Page:
    """Groups of one error each; with one of them chosen, or a search, its jobs."""
    chosen = _chosen(visit)
    if not chosen:
        found = await reads.list_dead_groups(visit.conn, Asked())
        return Page("dead.html", {"groups": found.groups, "more": found.more})
    letters = await reads.list_dead(visit.conn, _listed(chosen, {"below": visit.told.get("below")}))
    more = letters.below and urlencode({**chosen, "below": letters.below})
    return Page("dead_letters.html", {"chosen": chosen, "dead": letters.dead, "more": more})


async def preview(visit: Visit) -> Page:
    """How many jobs that would be, and the latest of them; nothing is done."""
    do, matching = _do(visit), _matching(visit)
    # Ignoring needs a reason, also where nothing is confirmed and none is kept.
    counted = await actions.ignore_many(visit.conn, ActOnMany(matching=matching, by=visit.session.by, reason="preview"))
    if not counted.matched:
        raise NotDone("no dead letter is like that: somebody decided them meanwhile, or they are in doubt", "missing")
    pairs = [(name, value) for name, value in visit.told.pairs if name in (*_CHOICES, "id")]
    examples = (
        [] if matching.ids else (await reads.list_dead(visit.conn, _listed(_chosen(visit), {"limit": _SHOWN}))).dead
    )
    values = {"do": do, "matched": counted.matched, "pairs": pairs, "ids": matching.ids, "examples": examples}
    return Page("dead_preview.html", values)


async def act(visit: Visit) -> Go:
    """Do it to no more than were shown."""
    do = _do(visit)
    values: dict[str, Any] = {name: visit.told.get(name) for name in ("reason", "confirmed")}
    values |= {"by": visit.session.by, "matching": msgspec.to_builtins(_matching(visit))}
    if do == "requeue":
        wanted = asked(RequeueMany, {**values, "per_minute": visit.told.get("per_minute")})
        done = await actions.requeue_many(visit.conn, wanted)
    else:
        done = await actions.ignore_many(visit.conn, asked(ActOnMany, values))
    said = f"{done.done:,} of {done.matched:,} dead letters {'requeued' if do == 'requeue' else 'ignored'}."
    if done.done < done.matched:
        said += f" {done.matched - done.done:,} are left: do it again for them."
    if do == "requeue" and done.done > 1:
        said += " Their copies come due one after another."
    return Go("dead", said)


def _do(visit: Visit) -> str:
    do = visit.told.get("do")
    if do not in _DECISIONS:
        raise NotDone("dead letters are requeued or ignored")
    return do


def _chosen(visit: Visit) -> dict[str, str]:
    """What chooses; an empty fingerprint is one, too: that of jobs whose attempts left none."""
    given = {name: visit.told.given(name) for name in _CHOICES}
    return {name: value for name, value in given.items() if value or (value == "" and name == "fingerprint")}


def _listed(chosen: dict[str, str], more: dict[str, Any]) -> ListDead:
    found = asked(ListDead, {**chosen, **more})
    return msgspec.structs.replace(found, fingerprint=chosen.get("fingerprint"))


def _matching(visit: Visit) -> Matching:
    """The jobs that were ticked; all that are like the group or the search where none were."""
    if ids := visit.told.all("id"):
        return asked(Matching, {"ids": ids})
    chosen = _chosen(visit)
    if not chosen:
        raise NotDone("choose dead letters first: none was ticked")
    return msgspec.structs.replace(asked(Matching, chosen), fingerprint=chosen.get("fingerprint"))
