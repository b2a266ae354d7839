"""Mails as they arrive, on the terminal."""

from collections.abc import Callable
from email.message import EmailMessage
from typing import Final

from crontick.handler.dev.lines import Lines

SHOWN_LINES: Final = 3
SHOWN_CHARACTERS: Final = 100


def teller(lines: Lines, *, whole: bool) -> Callable[[EmailMessage], None]:
    """Tells whom a mail is for, its subject and its first lines; ``whole`` tells all of its text."""

    def tell(mail: EmailMessage) -> None:
        text = _text(mail)
        shown = text if whole else _beginning(text)
        to, subject = str(mail["to"]), str(mail["subject"])
        lines.tell("mail", f"to {to}: {subject}", text=shown, fields={"to": to, "subject": subject})

    return tell


def _text(mail: EmailMessage) -> str:
    body = mail.get_body(("plain", "html"))
    if body is None:
        return f"(no text: {mail.get_content_type()})"
    try:
        return str(body.get_content())
    except (LookupError, ValueError):
        return "(a text that cannot be decoded)"


def _beginning(text: str) -> str:
    written = [line.strip() for line in text.splitlines() if line.strip()]
    shown = [line if len(line) <= SHOWN_CHARACTERS else f"{line[:SHOWN_CHARACTERS]}…" for line in written[:SHOWN_LINES]]
    return "\n".join(shown + ["…"] * (len(written) > SHOWN_LINES))
