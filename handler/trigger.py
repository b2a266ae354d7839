"""The name of what called, from its User-Agent."""

import re
from typing import Final

# In order: some callers name the browser or the client that they are built on as well.
NAMES: Final = (
    ("github-actions", "github-actions"),
    ("google-cloud-scheduler", "cloud-scheduler"),
    ("amazon/eventbridge", "eventbridge"),
    ("amazon-eventbridge", "eventbridge"),
    ("vercel-cron", "vercel-cron"),
    ("cron-job.org", "cron-job.org"),
    ("easycron", "easycron"),
    ("cronitor", "cronitor"),
    ("uptimerobot", "uptimerobot"),
    ("pg_net", "pg_net"),
    ("upstash-qstash", "qstash"),
    ("netlify", "netlify"),
    ("azure-logic-apps", "azure-logic-apps"),
    ("crontick", "crontick"),
    ("curl/", "curl"),
    ("wget/", "wget"),
    ("powershell", "powershell"),
    ("httpie", "httpie"),
    ("mozilla/", "browser"),
)


def trigger_name(user_agent: str) -> str:
    """A known name, else the first word of the User-Agent made fit to be one, else ``unknown``."""
    said = user_agent.lower()
    for part, name in NAMES:
        if part in said:
            return name
    return re.sub(r"[^a-z0-9_.-]+", "", re.split(r"[/\s]", said, maxsplit=1)[0])[:64] or "unknown"
