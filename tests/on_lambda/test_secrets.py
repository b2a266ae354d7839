"""Secrets that AWS keeps are fetched inside the first invocation: before it, AWS's extension answers nobody."""

import json

from tests.on_lambda import events
from tests.on_lambda.events import TOKEN
from tests.on_lambda.world import World
from tests.worlds.aws_extension import AwsExtension
from tests.worlds.waiting import until


def test_url_and_token_come_from_aws_at_the_first_call(world: World, extension: AwsExtension) -> None:
    extension.secrets = {"app": json.dumps({"url": world.url, "cron": TOKEN})}
    extension.answer = 400, b"not ready to serve traffic, please wait"
    child = world.start(
        CRONTICK_DATABASE_URL="",
        CRON_SECRET="",
        CRONTICK_DATABASE_URL_FROM="aws-secretsmanager:app#url",
        CRON_SECRET_FROM="aws-secretsmanager:app#cron",
        **extension.environ,
    )
    until(lambda: world.api.asked == 1, seconds=30)
    assert extension.asked == []
    extension.answer = None
    assert world.invoke({}).answer["ran"] is True
    assert world.invoke(events.gateway2()).answer["statusCode"] == 200
    assert len(extension.asked) == 2
    assert "cannot tick" not in child.errors


def test_an_extension_that_refuses_is_told_and_asked_again_at_the_next_call(
    world: World, extension: AwsExtension
) -> None:
    world.start(CRONTICK_DATABASE_URL="", CRONTICK_DATABASE_URL_FROM="aws-ssm:/url", **extension.environ)
    assert "may the function's role read it" in world.invoke({}).error["errorMessage"]
    extension.parameters = {"/url": world.url}
    assert world.invoke({}).answer["ran"] is True
