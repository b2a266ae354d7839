"""Secrets out of the environment, and why some are not fit to be one."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

_NOT_FILLED_IN: Final = {"undefined", "null", "none", "nil", "false", "true"}
# Words of example values, in our documents and in everybody's.
_EXAMPLE_WORDS: Final = ("example", "change-me", "changeme", "change_me", "your-", "your_", "placeholder", "replace-")
_TEMPLATE = re.compile(r"\$\{|\$\(|\{\{|^\$\w+$|^<.*>$")
_FROM_AWS: Final = ("aws-secretsmanager:", "aws-ssm:")


def any_from_aws(environ: Mapping[str, str]) -> bool:
    """Whether a secret is to be had from AWS's extension, which answers inside an invocation only."""
    return any(value.startswith(_FROM_AWS) for name, value in environ.items() if name.endswith("_FROM"))


def read_secret(environ: Mapping[str, str], name: str) -> str | None:
    """The value of ``name``, or of what ``NAME_FROM`` points at; None when neither is set.

    Raises ``ValueError`` with a sentence that names the variable.
    """
    given, source = environ.get(name, "").strip(), environ.get(f"{name}_FROM", "").strip()
    if not source:
        return given or None
    if given:
        raise ValueError(f"{name} and {name}_FROM are both set: keep one of them")
    try:
        value = _fetched(source, environ).strip()
    except ValueError as error:
        raise ValueError(f"{name}_FROM: {error}") from None
    if not value:
        raise ValueError(f"{name}_FROM: what it names is empty")
    return value


def _fetched(source: str, environ: Mapping[str, str]) -> str:
    if source.startswith(_FROM_AWS):
        from crontick.jobs.aws_extension import fetch

        return fetch(source, environ)
    if not source.startswith("file:/"):
        # Perhaps the secret itself: not to be quoted.
        raise ValueError("must be file:/path, aws-secretsmanager:ARN, aws-secretsmanager:ARN#key or aws-ssm:/path")
    path = Path(source.removeprefix("file:"))
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read ({type(error).__name__})") from None


def tokens(value: str) -> tuple[str, ...]:
    """The values of a secret that may have several while it is rotated, separated by commas."""
    return tuple(token for token in (part.strip() for part in value.split(",")) if token)


def unfit(name: str, values: Sequence[str], *, shortest: int) -> list[str]:
    """One sentence for each reason why these values cannot protect a door (P30); none quotes a value."""
    mend = "make one with `openssl rand -hex 32`"
    reasons = []
    for nth, value in enumerate(values, start=1):
        which = name if len(values) == 1 else f"{name}, value {nth} of {len(values)},"
        if value.lower() in _NOT_FILLED_IN or _TEMPLATE.search(value):
            reasons.append(f"{which} is a placeholder that nothing filled in: {mend}")
        elif any(word in value.lower() for word in _EXAMPLE_WORDS):
            reasons.append(f"{which} is an example value that everybody can read: {mend}")
        elif not (value.isascii() and value.isprintable()) or " " in value:
            reasons.append(f"{which} has a space or a character that a header cannot carry: {mend}")
        elif len(value) < shortest:
            reasons.append(f"{which} is shorter than {shortest} characters: {mend}")
    return reasons
