"""What the files of ``deploy/`` say, read as their platforms read them."""

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import yaml

from tests.worlds.process import ROOT

DEPLOY = ROOT / "deploy"


def read(path: str) -> Any:
    """The decoded file."""
    text = (DEPLOY / path).read_text()
    match path.rpartition(".")[2]:
        case "toml":
            return tomllib.loads(text)
        case "json":
            return json.loads(text)
        case _:
            return yaml.safe_load(text)


def fields(value: Any, above: str = "") -> Iterator[str]:
    """Every field by its path; what stands in a list, by the list's path."""
    match value:
        case dict():
            for name, inner in value.items():
                yield f"{above}{name}"
                yield from fields(inner, f"{above}{name}.")
        case list():
            for inner in value:
                yield from fields(inner, above)


def crontab() -> tuple[str, str]:
    """The five fields of the crontab's only entry, and its command as cron hands it to the shell."""
    lines = (DEPLOY / "crontab" / "crontab").read_text().splitlines()
    (line,) = (line for line in lines if line and not re.match(r"#|\w+=", line))
    *schedule, command = line.split(None, 5)
    assert "%" not in command.replace(r"\%", ""), "cron reads % as the end of the line"
    return " ".join(schedule), command.replace(r"\%", "%")


def compose(service: str) -> Any:
    """A service, where nothing is to be interpolated but `$$`, which is one `$`."""
    return read("compose/compose.yaml")["services"][service]


def ticker() -> str:
    (script,) = compose("ticker")["command"]
    assert compose("ticker")["entrypoint"] == ["/bin/sh", "-c"]
    return re.sub(r"\$\$", "$", script)


def commands(path: str) -> list[str]:
    """The indented lines of the comment on top, which are what to type."""
    text = (DEPLOY / path).read_text()
    return [line.strip() for line in re.findall(r"^(?:# {5}| {4})(\S.*)$", text, re.MULTILINE)]
