"""Only a tick's own answer is a success; everything else is an error that says what came and what to mend."""

import json

import pytest

from crontick.handler.loopback import free_port
from tests.door.serving import TOKEN
from tests.trigger.calling import Runner, summary
from tests.worlds import http_receiver as receivers
from tests.worlds.http_receiver import Answer, HttpReceiver

HTML = {"content-type": "text/html; charset=utf-8"}
JSON = {"content-type": "application/json"}


def test_a_tick_is_asked_for_as_the_inputs_say(runner: Runner, http_receiver: HttpReceiver) -> None:
    http_receiver.otherwise = summary(claimed=3, succeeded=2, failed=1)
    inputs = {"TICK_LIMIT": "7", "TICK_BUDGET_SECONDS": "20", "TICK_QUEUES": "mail, slow", "TICK_KINDS": "greet"}
    told = runner.run(http_receiver.url, **inputs)
    (request,) = http_receiver.requests
    assert (request.method, request.target) == ("POST", "/cron/tick")
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["user-agent"] == "crontick-github-actions/0.1.0"
    asked = {"limit": 7, "budget_seconds": 20, "queues": ["mail", "slow"], "kinds": ["greet"]}
    assert json.loads(request.body) == {"trigger": "github-actions", **asked}
    assert told.status == 0
    assert told.outputs == {
        "ran": "true",
        "claimed": "3",
        "succeeded": "2",
        "failed": "1",
        "dead": "0",
        "more": "false",
    }
    assert told.lines == [
        "tick 1: claimed 3, succeeded 2, failed 1, dead 0, snoozed 0, cancelled 0, handed_back 0, rescued 0, lost 0"
    ]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(401, b'{"detail": "private"}', JSON), "401, application/json: compare the repository secret"),
        (Answer(403, b"private", HTML), "403, text/html: something in front of crontick"),
        (Answer(404, b"private", HTML), "404, text/html: is CRONTICK_URL right (the tick is at /cron/tick)"),
        (Answer(405, b""), "405, of no known content type: what answers there takes no POST"),
        (Answer(422, b"{}", JSON), "422, application/json: an input is out of range"),
        (Answer(400, b"{}", JSON), "400, application/json: is CRONTICK_URL the address of a crontick"),
        (Answer(204, b""), "204, of no known content type"),
        (Answer(418, b"private", {"content-type": "x/\x1b[31mprivate"}), "418, of no known content type"),
        *((Answer(status, b"private", HTML | {"location": "/login"}), "a redirect") for status in (301, 302, 307, 308)),
        (Answer(304, b""), "a redirect"),
        (Answer(200, b"<html>private</html>", HTML), "200, text/html, but it is not a tick's"),
        (Answer(200, b"", JSON), "not a tick's"),
        (Answer(200, b"not JSON", JSON), "not a tick's"),
        (Answer(200, b"\xff\xfe", JSON), "not a tick's"),
        (Answer(200, b"[" * 200_000, JSON), "not a tick's"),
        (Answer(200, b"9" * 5000, JSON), "not a tick's"),
        (Answer(200, b'"' + b"x" * 300_000 + b'"', JSON), "not a tick's"),
        (Answer(200, b'{"status": "ok"}', JSON), "not a tick's"),
        (Answer(200, b'{"ran": true}', JSON), "not a tick's"),
        (Answer(200, b'{"ran": 1}', JSON), "not a tick's"),
        (Answer(200, b'{"ran": false, "reason": "private"}', JSON), "not a tick's"),
        (Answer(200, b'[{"ran": true}]', JSON), "not a tick's"),
        (summary(dead="private"), "not a tick's"),
        (summary(claimed=-1), "not a tick's"),
        (summary(claimed=True), "not a tick's"),
        (summary(more="yes"), "not a tick's"),
        (summary(warnings=None), "not a tick's"),
        (summary(errors=["private"]), "not a tick's"),
        (summary(late_seconds="private"), "not a tick's"),
        (summary(late_seconds=10**4000), "not a tick's"),
        (summary(claimed=10**4299), "not a tick's"),
        (summary(would_run=5), "not a tick's"),
        (summary(would_run=None), "not a tick's"),
    ],
)
def test_what_is_no_tick_is_an_error_at_once(
    runner: Runner, http_receiver: HttpReceiver, answer: Answer, said: str
) -> None:
    http_receiver.otherwise = answer
    told = runner.run(http_receiver.url)
    assert told.status == 1
    (error,) = told.commands("error")
    assert said in error
    assert len(http_receiver.requests) == 1
    assert told.outputs["ran"] == "false"
    assert "private" not in told.log + told.page
    assert "\x1b" not in told.log


def test_a_chunk_of_negative_size_is_an_answer_that_was_lost(runner: Runner, http_receiver: HttpReceiver) -> None:
    # Of two lengths that contradict each other, that of the chunks holds (RFC 9112, 6.3).
    http_receiver.otherwise = Answer(200, b"-5\r\n{}\r\n", {**JSON, "transfer-encoding": "chunked"})
    told = runner.run(http_receiver.url, TICK_MAX_RETRIES="0")
    (error,) = told.commands("error")
    assert (told.status, "no answer, " in error, told.outputs["ran"]) == (1, True, "false")


@pytest.mark.parametrize("reason", ["busy", "paused"])
def test_a_server_that_lets_nothing_run_is_no_error_and_is_not_asked_again(
    runner: Runner, http_receiver: HttpReceiver, reason: str
) -> None:
    http_receiver.otherwise = Answer(200, json.dumps({"ran": False, "reason": reason}).encode(), JSON)
    told = runner.run(http_receiver.url)
    assert told.status == 0
    assert told.commands("notice") == [f"the tick ran nothing: crontick is {reason}"]
    assert (told.outputs["ran"], len(http_receiver.requests)) == ("false", 1)


@pytest.mark.parametrize(
    "first",
    [
        Answer(503, b"", {"retry-after": "2"}),
        Answer(500, b"private", HTML),
        Answer(502, b"<html>private</html>", HTML),
        Answer(408),
        Answer(429),
        Answer(close=True),
        Answer(200, b"half", {"content-length": "400"}),
    ],
)
def test_what_may_pass_is_tried_again(runner: Runner, http_receiver: HttpReceiver, first: Answer) -> None:
    http_receiver.answers.append(first)
    http_receiver.otherwise = summary(claimed=1, succeeded=1)
    told = runner.run(http_receiver.url)
    assert (told.status, told.outputs["succeeded"], len(http_receiver.requests)) == (0, "1", 2)
    assert "trying again in" in told.lines[0]
    assert "private" not in told.log


def test_what_does_not_pass_is_an_error_after_so_many_tries(runner: Runner, http_receiver: HttpReceiver) -> None:
    http_receiver.otherwise = Answer(503, b"private", {"content-type": "application/problem+json"})
    told = runner.run(http_receiver.url, TICK_MAX_RETRIES="1")
    (error,) = told.commands("error")
    assert error.startswith("the answer was 503, application/problem+json, and no better after 2 tries")
    assert (told.status, len(http_receiver.requests)) == (1, 2)


@pytest.mark.parametrize(
    ("retry_after", "at_least", "at_most"),
    [("2", 2, 3), ("86400", 60, 75), ("Fri, 01 Jan 2100 00:00:00 GMT", 60, 75), ("soon", 1, 2), ("-5", 1, 2)],
)
def test_retry_after_is_honoured_within_bounds(
    runner: Runner, http_receiver: HttpReceiver, retry_after: str, at_least: int, at_most: int
) -> None:
    http_receiver.otherwise = Answer(503, b"", {"retry-after": retry_after})
    child = runner.start(http_receiver.url)
    said = child.line()
    child.kill()
    assert at_least <= int(said.removesuffix(" s").rpartition(" ")[2]) <= at_most


def test_an_app_that_is_not_up_yet_is_tried_again(runner: Runner) -> None:
    port = free_port()
    child = runner.start(f"http://127.0.0.1:{port}")
    assert child.line().startswith("no answer, ConnectionRefusedError: trying again in")
    with receivers.http_receiver(port=port) as receiver:
        receiver.otherwise = summary()
        assert runner.end(child).status == 0
