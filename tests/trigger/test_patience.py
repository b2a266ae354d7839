"""A call has an end, whatever the server does; what it may still be doing there is no reason not to call again."""

import pytest

from tests.trigger.calling import Runner, summary
from tests.worlds.http_receiver import Answer, HttpReceiver

SLOW = Answer(200, summary().body, drip_seconds=0.3)


@pytest.mark.parametrize("slow", [Answer(hang=True), SLOW], ids=["silent", "dripping"])
def test_a_call_that_takes_too_long_is_given_up_and_made_again(
    runner: Runner, http_receiver: HttpReceiver, slow: Answer
) -> None:
    http_receiver.answers.append(slow)
    http_receiver.otherwise = summary(claimed=1, succeeded=1)
    told = runner.end(runner.start_impatient(http_receiver.url))
    assert told.lines[0].startswith("no answer, TimeoutError: trying again in")
    assert (told.status, told.outputs["succeeded"]) == (0, "1")


def test_a_server_that_never_answers_is_an_error(runner: Runner, http_receiver: HttpReceiver) -> None:
    http_receiver.otherwise = Answer(hang=True)
    told = runner.end(runner.start_impatient(http_receiver.url, TICK_MAX_RETRIES="1"))
    (error,) = told.commands("error")
    assert error == "no answer, TimeoutError, and no better after 2 tries: is the app up? Its log has more"
    assert (told.status, len(http_receiver.requests)) == (1, 2)


def test_a_name_that_nobody_knows_is_an_error(runner: Runner) -> None:
    told = runner.run("http://nowhere.invalid", TICK_MAX_RETRIES="0")
    (error,) = told.commands("error")
    assert error.startswith("no answer, gaierror, and no better after 1 tries")
