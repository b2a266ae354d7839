"""A job's secret fields, opened for its function and from then on hidden wherever it speaks."""

import msgspec

from crontick.jobs.context import Context
from crontick.jobs.payload import PayloadError
from crontick.jobs.redact import Redactor
from crontick.jobs.sealing import KeyMissing, Keyring, SealingError
from crontick.jobs.secret_fields import open_fields, secret_values

__all__ = ["open_job"]


def open_job(ctx: Context, keyring: Keyring | None) -> str | None:
    """None when the context's job is in clear; else the id of the key that is missing.

    Raises ``PayloadError`` for what was changed or was sealed for another kind, field or payload.
    """
    job = ctx.job
    try:
        clear, fields = open_fields(job.payload_text, job.kind, keyring)
    except KeyMissing as missing:
        return missing.key
    except SealingError as error:
        raise PayloadError(str(error)) from None
    if fields:
        ctx.job = msgspec.structs.replace(job, payload_text=clear)
    ctx.hides = Redactor(secret_values(clear, ctx.kind.secret | fields))
    return None
