"""What called a tick is told from its User-Agent."""

import pytest

from crontick.handler.trigger import trigger_name


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        ("curl/8.5.0", "curl"),
        ("github-actions", "github-actions"),
        ("curl/8.5.0 github-actions", "github-actions"),
        ("Google-Cloud-Scheduler", "cloud-scheduler"),
        ("Amazon/EventBridge/ApiDestinations", "eventbridge"),
        ("vercel-cron/1.0", "vercel-cron"),
        ("Mozilla/4.0 (compatible; cron-job.org; http://cron-job.org/abuse/)", "cron-job.org"),
        ("pg_net/0.8.0", "pg_net"),
        ("Wget/1.21.3", "wget"),
        ("Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0", "browser"),
        ("python-httpx/0.28.1", "python-httpx"),
        ("My Cron/1.0", "my"),
        ("\x1b[31m", "31m"),
        ("///", "unknown"),
        ("", "unknown"),
        ("é", "unknown"),
        ("a" * 500, "a" * 64),
    ],
)
def test_a_user_agent_has_a_name(user_agent: str, name: str) -> None:
    assert trigger_name(user_agent) == name
