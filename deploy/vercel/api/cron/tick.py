"""crontick on Vercel: the function at ``/api/cron/tick``, which the cron of ``vercel.json`` calls with GET.

Run it, from the top of the project, where ``vercel.json``, ``requirements.txt`` and ``api/`` belong. Where one of these
was there before, put in what is missing: the cron and the function's maxDuration, crontick's line, this file::

    crontick migrate    # with the database's direct URL in CRONTICK_MIGRATE_URL; again for each release of crontick
    vercel env add CRON_SECRET production && vercel env add CRONTICK_DATABASE_URL production
    vercel deploy --prod

Vercel sends the variable CRON_SECRET as the bearer token. Set it for production alone: a preview that has the database
would run production's jobs with other code.

Awake it costs what a function does, by the time of each call, and its trigger is precise to the minute on Pro
(vercel.com/docs/cron-jobs/usage-and-pricing, November 2026). Limits: Hobby has one call a day, within an hour of its
time, and refuses to deploy a schedule such as ``*/15 * * * *``: there, take ``crons`` out, and let ``crontick init
github`` call with POST. Vercel does not repeat a call that failed (vercel.com/docs/cron-jobs/manage-cron-jobs): the
next one runs what is due. It ends the function after maxDuration, which CRONTICK_HOST_LIMIT_SECONDS repeats, so that
the leases outlive it. This function is the tick alone: for the API and the page, serve ``crontick.handler.asgi:app``
elsewhere, on the same database.
"""

import os

os.environ.setdefault("CRONTICK_ALLOW_GET", "1")
os.environ.setdefault("CRONTICK_BUDGET_SECONDS", "25")
os.environ.setdefault("CRONTICK_HOST_LIMIT_SECONDS", "60")
os.environ.setdefault("CRONTICK_MODULES", "")

from crontick.handler.asgi import app  # noqa: F401 (reads the environment; Vercel looks for this name)
