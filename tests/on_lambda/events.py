"""Events as Lambda gets them: made up, in the shapes that AWS documents."""

from collections.abc import Mapping
from typing import Any

TOKEN = "b7d1f00c5a9e4c3d8e6f7a8b9c0d1e2f"
BEARER = f"Bearer {TOKEN}"
AT = "2026-11-30T01:55:00Z"


def gateway2(path: str = "/cron/tick", *, method: str = "POST", stage: str = "$default", **more: Any) -> dict[str, Any]:
    """Of an HTTP API with payload 2.0, or of a Function URL, which has no other."""
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"authorization": BEARER, "host": "abc.execute-api.eu-west-1.amazonaws.com", "user-agent": "curl/8"},
        "requestContext": {
            "accountId": "111122223333",
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "198.51.100.24"},
            "requestId": "AAAAAEXAMPLE=",
            "stage": stage,
        },
        "isBase64Encoded": False,
        **more,
    }


def gateway1(path: str = "/cron/tick", *, stage: str = "prod", **more: Any) -> dict[str, Any]:
    """Of a REST API, or of an HTTP API with payload 1.0."""
    return {
        "resource": "/cron/tick",
        "path": path,
        "httpMethod": "POST",
        "headers": {"Authorization": BEARER, "Host": "abc.execute-api.eu-west-1.amazonaws.com", "User-Agent": "curl/8"},
        "multiValueHeaders": {"Authorization": [BEARER], "User-Agent": ["curl/8"]},
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "requestContext": {"stage": stage, "path": f"/{stage}/cron/tick", "identity": {"sourceIp": "198.51.100.24"}},
        "body": None,
        "isBase64Encoded": False,
        **more,
    }


def load_balancer(path: str = "/cron/tick", *, method: str = "POST", **headers: Mapping[str, Any]) -> dict[str, Any]:
    """Of an ALB; ``headers=…`` or ``multiValueHeaders=…``, as its target group is set."""
    given = headers or {"headers": {"authorization": BEARER, "host": "lb.elb.amazonaws.com", "user-agent": "curl/8"}}
    group = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/crontick/0123456789abcdef"
    return {
        "requestContext": {"elb": {"targetGroupArn": group}},
        "httpMethod": method,
        "path": path,
        "queryStringParameters": {},
        "body": "",
        "isBase64Encoded": False,
        **given,
    }


def eventbridge(*, source: str = "aws.events", detail: object = None) -> dict[str, Any]:
    """Of a rule with a schedule, or (source aws.scheduler, whose detail is the text {}) of EventBridge Scheduler."""
    return {
        "version": "0",
        "id": "00000000-0000-4000-8000-000000000011",
        "detail-type": "Scheduled Event",
        "source": source,
        "account": "111122223333",
        "time": AT,
        "region": "eu-west-1",
        "resources": ["arn:aws:events:eu-west-1:111122223333:rule/crontick-every-minute"],
        "detail": {} if detail is None else detail,
    }


def scheduler_input(**more: Any) -> dict[str, Any]:
    """An Input of the user's own, with what EventBridge Scheduler fills in."""
    return {"action": "tick", "scheduled_time": AT, "execution_id": "e14", "attempt": "1", **more}


def of_the_guide() -> dict[str, Any]:
    """The sample in AWS's guide, which is not what arrives."""
    event = eventbridge()
    return {name: value for name, value in event.items() if name != "detail-type"} | {"detailType": "Scheduled Event"}


def sqs(*bodies: str) -> dict[str, Any]:
    """A batch of these messages."""
    return {
        "Records": [
            {
                "messageId": f"00000000-0000-4000-8000-{nth:012}",
                "receiptHandle": "AQEBexample",
                "body": body,
                "attributes": {"ApproximateReceiveCount": "4", "SentTimestamp": "1796003700000"},
                "messageAttributes": {},
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:eu-west-1:111122223333:crontick",
                "awsRegion": "eu-west-1",
            }
            for nth, body in enumerate(bodies)
        ]
    }
