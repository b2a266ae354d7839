"""How a deployment reaches itself to ask for more ticks, and what mends it where it cannot."""

from typing import Final

from crontick.jobs.outward_sections import FanOutSettings
from crontick.jobs.settings import Settings

__all__ = ["NOT_ASKED", "FanOutError", "tick_url", "told_mend"]

NOT_ASKED: Final = "no other tick could be asked for"
_WRAPPED_PREFIX: Final = "/crontick"
_PATH: Final = "/cron/tick"
_MENDS: Final = {
    "401": "the server there has another CRON_SECRET than this process",
    "404": "no tick is there: set [fan_out] url to the whole URL of POST /cron/tick",
    "405": "that is no tick: set [fan_out] url to the whole URL of POST /cron/tick",
    "422": "the server there has another version of crontick, or is none",
    "AccessDeniedException": "allow the function's role lambda:InvokeFunction on the function itself",
    "TooManyRequestsException": "the account's or the function's concurrency is used up",
}


class FanOutError(ValueError):
    """This deployment cannot ask itself for ticks; the message names what is missing."""


def tick_url(settings: Settings, section: FanOutSettings | None) -> str:
    """The URL of this deployment's own tick. Raises ``FanOutError``.

    The tick lies beside the prefix that the other routes of a wrapped app are under, not below it.
    """
    if not settings.cron_secrets:
        raise FanOutError("CRON_SECRET is not set: make one with `openssl rand -hex 32`, the same for all processes")
    if section is not None and section.url is not None:
        return section.url
    if settings.public_url is None:
        raise FanOutError(
            "CRONTICK_PUBLIC_URL is not set: set it to where crontick is, such as https://app.example,"
            " or [fan_out] url to the whole URL of POST /cron/tick"
        )
    url = settings.public_url.removesuffix(settings.prefix or _WRAPPED_PREFIX) + _PATH
    # Imported here: a URL that stands in the file was checked when it was read.
    from crontick.jobs.operator_url import check_url

    try:
        check_url(url)
    except ValueError as error:
        raise FanOutError(f"CRONTICK_PUBLIC_URL: {error}") from None
    return url


def told_mend(answer: str) -> str:
    """What mends that status or error of AWS, after a colon; nothing where nobody knows."""
    return f": {_MENDS[answer]}" if answer in _MENDS else ""
