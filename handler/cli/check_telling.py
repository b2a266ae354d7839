"""Whether anybody would hear that something is wrong, or that no tick comes."""

from collections.abc import Iterator, Mapping

from crontick.handler.cli.findings import Finding
from crontick.jobs.operator_url import check_url
from crontick.jobs.secrets import read_secret
from crontick.jobs.sections import Config


def untold(config: Config, environ: Mapping[str, str]) -> Iterator[Finding]:
    """What is missing for alerts and heartbeat to arrive."""
    if config.heartbeat is None:
        yield Finding(
            wrong=False,
            sentence="crontick.toml has no [heartbeat]: when nobody calls the tick, nobody notices (docs/alerts.md)",
        )
    named = [] if config.heartbeat is None else [("heartbeat", config.heartbeat.url_env)]
    named += [("alerts", name) for name in config.alerts.webhooks]
    for section, name in named:
        try:
            url = read_secret(environ, name)
            if url is None:
                yield Finding(wrong=True, sentence=f"{name} is not set, and [{section}] needs it: set it to the URL")
            else:
                check_url(url)
        except ValueError as error:
            yield Finding(wrong=True, sentence=f"{name}, of [{section}]: {error}")
    if config.alerts.recipients and config.email is None:
        yield Finding(wrong=True, sentence="[alerts] email goes out by [email], which crontick.toml does not have")
