"""What keeps every mail, or every mail of one template, from going out."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

from crontick.jobs.kinds.attachments import FOLDER as ATTACHMENTS
from crontick.jobs.kinds.settings import EmailSettings
from crontick.jobs.kinds.smtp_url import SmtpUrlError, mail_server
from crontick.jobs.kinds.templates import FOLDER as TEMPLATES
from crontick.jobs.kinds.templates import faults
from crontick.sql.extras import install


def unsendable(email: EmailSettings | None, environ: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each; none without ``[email]``."""
    if email is None:
        return
    if find_spec("aiosmtplib") is None or find_spec("jinja2") is None:
        yield f"[email] needs more packages: {install('email')}"
        return
    url = environ.get(email.secret_name, "").strip()
    if email.provider == "smtp" and url:
        try:
            mail_server(url)
        except SmtpUrlError as error:
            yield f"{email.secret_name} {error}"
    for name, said, default in (
        ("templates", email.templates, TEMPLATES),
        ("attachments", email.attachments, ATTACHMENTS),
    ):
        folder = Path(said or default)
        if said is not None and not folder.is_dir():
            yield f"[email] {name} names {said}, and there is no such folder"
        elif name == "templates" and folder.is_dir():
            yield from faults(folder)
