"""Whether the ticks that a tick asks for could be asked for, and how many they can become."""

from collections.abc import Iterator, Mapping

from crontick.handler.cli.findings import Finding
from crontick.jobs.fan_out_way import FanOutError, tick_url
from crontick.jobs.request import DEEPEST
from crontick.jobs.sections import Config
from crontick.jobs.settings import LAMBDA_FUNCTION, Settings


def unasked(settings: Settings, config: Config, environ: Mapping[str, str]) -> Iterator[Finding]:
    """What is missing for ``[fan_out]``, else whom it asks and how far that goes."""
    section = config.fan_out
    if section is None:
        return
    whom = "its own function"
    if section.url is not None or LAMBDA_FUNCTION not in environ:
        try:
            whom = f"POST {tick_url(settings, section)}"
        except FanOutError as error:
            yield Finding(wrong=True, sentence=f"[fan_out]: {error} (on Lambda a tick invokes its own function)")
            return
    ticks = 2 ** (DEEPEST + 1) - 1
    yield Finding(
        wrong=False,
        sentence=f"[fan_out]: a tick asks {whom} for others; a call can so become {ticks} ticks at most, and"
        f" {ticks * settings.limit:,} jobs, {settings.max_parallel_ticks} at one time (CRONTICK_MAX_PARALLEL_TICKS),"
        f" {section.max_per_hour} an hour (max_per_hour)",
    )
    if settings.max_parallel_ticks == 1:
        yield Finding(
            wrong=False,
            sentence="[fan_out]: CRONTICK_MAX_PARALLEL_TICKS is 1, so that ticks follow one another: raise it",
        )
