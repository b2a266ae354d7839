"""The kinds that ship."""

from typing import Any

from crontick.jobs.kind import Kind

__all__ = ["shipped"]


def shipped() -> tuple[Kind[Any], ...]:
    """The kinds that every deployment has."""
    # Imported here: they need the configuration's types, and those stand beside them.
    from crontick.jobs.kinds.deliver_webhook import deliver_webhook
    from crontick.jobs.kinds.generate_report import generate_report
    from crontick.jobs.kinds.run_sql import run_sql
    from crontick.jobs.kinds.send_email import send_email

    return (send_email, deliver_webhook, generate_report, run_sql)
