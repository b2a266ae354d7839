"""Which other tool a database URL was written for, when libpq cannot read it."""

import re
from typing import Final

WRITE: Final = "write postgresql://user:password@host:5432/database"

_OTHERS: Final = (
    (r"\{", "is JSON, not a URL: name the field that has it, as in aws-secretsmanager:ARN#url"),
    (r"(?i)(jdbc|r2dbc):", f"is a {{0}} URL of Java: {WRITE}"),
    (r"(?i)[^:]*\b(host|server|data source)\s*=[^;]*;", f"is a connection string of .NET: {WRITE}"),
    (r"(?i)(prisma|prisma\+postgres)://", f"is a URL of Prisma's own service, not of a PostgreSQL: {WRITE}"),
    (r"(?i)psql\s", "begins with the command psql: take the URL out of it"),
    (r"(?i)(export\s+)?\w+\s*=\s*['\"]?postgres", "begins with a variable's name: take only what stands after the ="),
    (r"(?i)(?!.*://)\w+\s*=", f"cannot be read as libpq's keywords and values: check each, or {WRITE}"),
    (r"(?i)postgres\w*:/{0,1}(?!/)", f"has no // after its scheme: {WRITE}"),
    (r"\w[\w+.-]*://", f"must begin with postgresql:// (crontick needs PostgreSQL): {WRITE}"),
)
_PLACEHOLDER: Final = r"(?i)\[(your-?)?password\]|<(your[-_ ]?)?password>|\$\{\w+\}|\$\(\w+\)|\{\{.*\}\}|[/:]\$[A-Z_]+@"


def described(url: str) -> str:
    """What is wrong with it, and the mend; none of its text but the name of a known scheme is told."""
    for pattern, sentence in _OTHERS:
        if found := re.match(pattern, url):
            return sentence.format(found[1].upper() if found.lastindex else "")
    return f"is no URL: {WRITE}"


def unfilled(url: str) -> bool:
    """Whether something that should have been filled in stands in it: ``[YOUR-PASSWORD]``, ``${…}``."""
    # Each begins with one of these, and compiling what a URL almost never has costs a cold tick half a millisecond.
    return any(character in url for character in "[<{$") and re.search(_PLACEHOLDER, url) is not None
