"""An alert as a POST: for Slack and whatever takes the same, for Discord, for ntfy."""

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec

from crontick.jobs.alerts.message import Message
from crontick.jobs.outbound import send

if TYPE_CHECKING:
    import httpx

__all__ = ["NotTaken", "post", "request"]

_LONGEST: Final = 1900
"""Discord takes 2,000 characters."""
_MARKUP: Final = re.compile(r"([\\*_~|>\[\]()#@])")


class NotTaken(Exception):
    """The channel did not take the alert; the text names it by its host alone."""


async def post(
    door: "httpx.AsyncClient", url: str, message: Message, *, public_url: str | None, seconds: float
) -> None:
    """Returns when the channel took it. Raises ``NotTaken``, and what ``send`` raises."""
    content, headers = request(url, message, public_url)
    answer = await send(door, url, content=content, headers=headers, seconds=seconds)
    if not 200 <= answer.status < 300:
        raise NotTaken(f"{answer.status} from {urlsplit(url).hostname}")


def request(url: str, message: Message, public_url: str | None) -> tuple[bytes, dict[str, str]]:
    """Body and headers in the form that the URL's host takes; its room may be read by many: no text of an error."""
    lines = message.lines(public_url=public_url, private=False)
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host == "ntfy.sh" or host.startswith("ntfy."):
        plain = [message.headline, *lines, *([message.mending] if message.mending else [])]
        headers = {
            "content-type": "text/plain; charset=utf-8",
            "title": f"crontick: {message.name}{'' if message.started else ' is over'}",
            "tags": "warning" if message.started else "white_check_mark",
            "priority": "high" if message.started else "default",
        }
        return "\n".join(plain).encode()[:_LONGEST], headers
    json = {"content-type": "application/json"}
    mend = [f"`{message.mending.replace('`', '')}`"] if message.mending else []
    if host in ("discord.com", "discordapp.com") and parts.path.startswith("/api/webhooks/"):
        text = "\n".join([f"**{_discord(message.headline)}**", *mend, *lines])
        # No name in the text calls anybody.
        return msgspec.json.encode({"content": text[:_LONGEST], "allowed_mentions": {"parse": []}}), json
    text = "\n".join([f"*{_slack(message.headline)}*", *map(_slack, mend), *map(_slack, lines)])
    return msgspec.json.encode({"text": text[:_LONGEST]}), json


def _slack(text: str) -> str:
    """``<!channel>`` would call everybody, ``<url|words>`` hide where a link goes."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _discord(text: str) -> str:
    return _MARKUP.sub(r"\\\1", text)
