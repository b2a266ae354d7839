"""What is missing or wrong in the inputs is told with its mend, before anything is sent."""

import pytest

from tests.door.serving import TOKEN
from tests.trigger.calling import Runner, summary
from tests.worlds.http_receiver import HttpReceiver

SECRETS = "set the repository secrets CRONTICK_URL and CRON_SECRET"
OFF = {"TICK_ALLOW_PRIVATE_HTTP": ""}


def test_what_was_never_set_up_fails_no_scheduled_run(runner: Runner) -> None:
    told = runner.run("", CRON_SECRET="", GITHUB_EVENT_NAME="schedule")
    assert (told.status, told.commands("error")) == (0, [])
    (warning,) = told.commands("warning")
    assert SECRETS in warning
    assert told.outputs["ran"] == "false"


def test_what_was_never_set_up_fails_when_it_is_started_by_hand(runner: Runner) -> None:
    told = runner.run("", CRON_SECRET=" ", GITHUB_EVENT_NAME="workflow_dispatch")
    (error,) = told.commands("error")
    assert (told.status, SECRETS in error) == (1, True)


@pytest.mark.parametrize(
    ("url", "token", "said"),
    [("", TOKEN, "CRONTICK_URL is not set"), ("https://app.example", "\n", "CRON_SECRET is not set")],
)
def test_half_a_set_up_always_fails(runner: Runner, url: str, token: str, said: str) -> None:
    told = runner.run(url, CRON_SECRET=token, GITHUB_EVENT_NAME="schedule")
    (error,) = told.commands("error")
    assert told.status == 1
    assert error.startswith(f"{said}: {SECRETS}")


@pytest.mark.parametrize("token", [f"{TOKEN},{TOKEN}", f"{TOKEN} {TOKEN}", f"{TOKEN}\r\nX-Other: 1", f"{TOKEN}é"])
def test_what_is_not_one_token_is_not_sent(runner: Runner, http_receiver: HttpReceiver, token: str) -> None:
    told = runner.run(http_receiver.url, CRON_SECRET=token)
    (error,) = told.commands("error")
    assert error.startswith("CRON_SECRET must be one token")
    assert TOKEN not in told.log
    assert http_receiver.requests == []


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("", "/cron/tick"),
        ("/", "/cron/tick"),
        ("/cron/tick", "/cron/tick"),
        ("/cron/tick/", "/cron/tick"),
        ("/api/cron/tick", "/api/cron/tick"),
        ("/prod/", "/prod/cron/tick"),
        ("\n", "/cron/tick"),
    ],
)
def test_the_address_may_be_the_app_s_or_the_tick_s(
    runner: Runner, http_receiver: HttpReceiver, path: str, target: str
) -> None:
    http_receiver.otherwise = summary()
    assert runner.run(http_receiver.url + path, CRON_SECRET=f" {TOKEN}\n").status == 0
    (request,) = http_receiver.requests
    assert (request.target, request.headers["authorization"]) == (target, f"Bearer {TOKEN}")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("app.example", "no address such as"),
        ("ftp://app.example", "no address such as"),
        ("https://", "no address such as"),
        ("https://app.example:no", "no address such as"),
        ("https://app.example:99999", "no address such as"),
        ("https://[::1", "no address such as"),
        ("https://app.example/a b", "no address such as"),
        ("https://app.example/\r\nX-Other: 1", "no address such as"),
        ("https://äpp.example", "no address such as"),
        ("https://app.example/cron/tick?token=hunter2", "no query, fragment or user"),
        ("https://app.example/#hunter2", "no query, fragment or user"),
        ("https://hunter2@app.example", "no query, fragment or user"),
        ("http://app.example", "must be https"),
        ("http://127.0.0.1:1", "must be https"),
    ],
)
def test_an_address_that_cannot_be_right_is_refused(runner: Runner, url: str, said: str) -> None:
    told = runner.run(url, **OFF)
    (error,) = told.commands("error")
    assert said in error
    assert "hunter2" not in told.log


@pytest.mark.parametrize(
    "url", ["http://192.0.0.9", "http://192.88.99.1", "http://[::ffff:192.88.99.1]:80", "http://[2606::1]"]
)
def test_plain_http_is_never_for_a_public_address(runner: Runner, url: str) -> None:
    (error,) = runner.run(url).commands("error")
    assert error.startswith("allow-private-http is for loopback and private addresses")


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("TICK_LIMIT", "0", "limit must be a whole number from 1 to 1000"),
        ("TICK_LIMIT", "1001", "limit must be a whole number from 1 to 1000"),
        ("TICK_LIMIT", "ten", "limit must be a whole number"),
        ("TICK_LIMIT", "٣", "limit must be a whole number"),
        ("TICK_BUDGET_SECONDS", "901", "budget-seconds must be a whole number from 1 to 900"),
        ("TICK_BUDGET_SECONDS", "300", "one call may take 360 s: raise max-minutes"),
        ("TICK_MAX_REPEATS", "-1", "max-repeats must be a whole number from 0 to 100"),
        ("TICK_MAX_RETRIES", "11", "max-retries must be a whole number from 0 to 10"),
        ("TICK_MAX_MINUTES", "1", "one call may take 85 s: raise max-minutes"),
        ("TICK_QUEUES", "mail;slow", "queues must be names separated by commas"),
        ("TICK_KINDS", "a,,b", "kinds must be names separated by commas"),
        ("TICK_DRY_RUN", "yes", "dry-run must be true or false"),
        ("TICK_FAIL_ON_DEAD", "1", "fail-on-dead must be true or false"),
        ("TICK_ALLOW_PRIVATE_HTTP", "on", "allow-private-http must be true or false"),
    ],
)
def test_an_input_out_of_range_is_named(
    runner: Runner, http_receiver: HttpReceiver, variable: str, value: str, said: str
) -> None:
    told = runner.run(http_receiver.url, **{variable: value})
    (error,) = told.commands("error")
    assert said in error
    assert (told.status, http_receiver.requests) == (1, [])
