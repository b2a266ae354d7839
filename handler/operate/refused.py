"""Why something that an operator asked for was not done."""

from typing import Literal

import psycopg

Why = Literal["missing", "conflict", "out of range"]
_BY_SQLSTATE: dict[str, Why] = {"CT404": "missing", "CT409": "conflict"}


class NotDone(Exception):
    """The sentence says what is the matter, and the mend."""

    def __init__(self, sentence: str, why: Why = "out of range") -> None:
        super().__init__(sentence)
        self.why = why


def refusal(error: psycopg.Error) -> NotDone | None:
    """The database's own refusal, in its words; None for an error that is no refusal (theirs may quote rows)."""
    if not (error.sqlstate or "").startswith("CT"):
        return None
    hint = f": {error.diag.message_hint}" if error.diag.message_hint else ""
    return NotDone(f"{error.diag.message_primary}{hint}", _BY_SQLSTATE.get(error.sqlstate or "", "out of range"))
