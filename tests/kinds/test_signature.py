"""Signatures equal the specification's, byte for byte."""

import base64
from datetime import UTC, datetime
from typing import Any

import pytest
from standardwebhooks import Webhook

from crontick.jobs.kinds.signature import SecretError, fault, new_secret, signature, signing_key
from tests.kinds.cases import cases


@pytest.mark.parametrize("case", cases("signatures"))
def test_a_signature_is_the_known_one(case: dict[str, Any]) -> None:
    signed = signature(case["secrets"], case["id_sent"], case["timestamp"], case["body"].encode())
    assert signed == case["signature"]


@pytest.mark.parametrize("body", [b"", b"{}", '{"name":"Zoë 😀"}'.encode(), b'{"a":1}\r\n', bytes(range(256))])
def test_the_reference_library_signs_alike(body: bytes) -> None:
    secret, at = "whsec_" + base64.b64encode(bytes(range(32))).decode(), datetime(2026, 11, 30, tzinfo=UTC)
    text = body.decode("latin-1")
    expected = Webhook(secret).sign("msg_1", at, text)
    assert signature([secret], "msg_1", int(at.timestamp()), text.encode()) == expected


@pytest.mark.parametrize(
    "secret",
    [
        "",
        "whsec_",
        "whsec_!!!notbase64!!!",
        "whsec_c2hvcnQ=",
        "whsec_" + base64.b64encode(bytes(65)).decode(),
        "é" * 32,
    ],
)
def test_what_cannot_be_a_secret_is_refused_without_being_quoted(secret: str) -> None:
    with pytest.raises(SecretError, match="crontick webhook secret") as raised:
        signing_key(secret)
    assert len(secret) < 8 or secret.removeprefix("whsec_") not in str(raised.value)


@pytest.mark.parametrize("case", cases("deliveries"))
def test_a_delivery_is_believed_only_when_it_is_whole_and_fresh(case: dict[str, Any]) -> None:
    headers = (case["id_sent"], case["timestamp"], case["signatures"])
    assert (fault([case["secret"]], headers, case["body"].encode(), now=case["now"]) is None) == case["valid"]


def test_while_rotating_one_good_signature_of_either_side_is_enough() -> None:
    old, new = new_secret(), new_secret()
    sent = ("msg_1", "100", signature([new, old], "msg_1", 100, b"{}"))
    for known in ([old], [new], [new, old]):
        assert fault(known, sent, b"{}", now=100) is None
    assert fault([new_secret()], sent, b"{}", now=100) is not None


def test_an_id_with_a_dot_in_it_is_not_believed() -> None:
    secret = new_secret()
    sent = ("a.1", "5", signature([secret], "a.1", 5, b"{}"))
    assert fault([secret], sent, b"{}", now=5) is not None
