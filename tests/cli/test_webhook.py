"""Webhooks by hand: signing, verifying, and asking the filter, without a database and without sending anything."""

import base64
import io
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest

from crontick.jobs.kinds.signature import new_secret, signing_key
from tests.cli.conftest import Answer, Command
from tests.kinds.cases import cases

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
SIGNED = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
BODY = b'{"test": 2432232314}'
HEADERS = ("--secret-env", "HOOK", "--id", "msg_p5jXN8AQM9LWM0D4loKWxJek", "--timestamp", "1614265330")


@pytest.fixture
def webhook(bare: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """``crontick webhook …`` with a secret in ``HOOK``; the first argument is what stdin holds."""
    monkeypatch.setenv("HOOK", SECRET)
    monkeypatch.chdir(tmp_path)

    def command(body: bytes, *arguments: str) -> Answer:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(body)))
        return bare("webhook", *arguments)

    return command


def test_a_made_secret_is_one_and_no_two_are_the_same(webhook: Command) -> None:
    made = [webhook(b"", "secret").out.strip() for _ in range(2)]
    assert [len(signing_key(one)) for one in made] == [32, 32]
    assert made[0] != made[1]


def test_sign_prints_the_header_for_the_very_bytes(webhook: Command) -> None:
    assert webhook(BODY, "sign", *HEADERS).out == f"{SIGNED}\n"
    assert webhook(BODY + b"\r\n", "sign", *HEADERS).out != f"{SIGNED}\n"
    assert webhook(BODY, "sign", *HEADERS, "--json").json["webhook-signature"] == SIGNED


def test_two_secrets_sign_with_both(webhook: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK", f"{new_secret()},{SECRET}")
    assert webhook(BODY, "sign", *HEADERS).out.split(" ")[1] == f"{SIGNED}\n"


def test_verify_believes_what_is_whole_and_fresh(webhook: Command) -> None:
    given = ("verify", *HEADERS, "--signature", f"v1,x {SIGNED}", "--at", "1614265630")
    assert (webhook(BODY, *given).status, webhook(BODY, *given).out) == (0, "valid\n")
    answer = webhook(b"{}", *given, "--json")
    assert (answer.status, answer.json["valid"]) == (1, False)


def test_verify_tells_an_old_delivery_from_a_wrong_one(webhook: Command) -> None:
    answer = webhook(BODY, "verify", *HEADERS, "--signature", SIGNED)
    assert answer.status == 1
    assert answer.out.startswith("not valid: its timestamp is more than 300 s from now")
    assert webhook(BODY, "verify", *HEADERS, "--signature", SIGNED, "--at", "2021-02-25T15:02:10Z").status == 0


@pytest.mark.parametrize("value", ["", "whsec_", "whsec_!!!notbase64!!!"])
def test_what_cannot_be_a_secret_is_wrong_usage_and_is_not_quoted(
    webhook: Command, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("HOOK", value)
    answer = webhook(BODY, "sign", *HEADERS)
    assert answer.status == 2
    assert "crontick webhook secret" in " ".join(answer.err.replace("│", "").split())
    assert "notbase64" not in answer.err


@pytest.mark.parametrize("webhook_id", ["msg.1614265330", "msg_1\r\nX-Injected: 1", "", "a b"])
def test_an_id_that_could_be_read_in_two_ways_is_refused(webhook: Command, webhook_id: str) -> None:
    assert webhook(BODY, "sign", "--secret-env", "HOOK", "--id", webhook_id, "--timestamp", "1").status == 2


def test_check_url_answers_as_the_filter_does(webhook: Command) -> None:
    told = {}
    wanted = {case.values[0]["name"]: case.values[0]["verdict"] for case in cases("ssrf")}
    for case in [case.values[0] for case in cases("ssrf")]:
        if "\0" in case["url"]:
            continue  # no command line can hold it
        names = {**case.get("dns", {}), "rebind.customer.example": ["10.0.0.1"]}
        named = [part for name, known in names.items() for one in known for part in ("--resolve", f"{name}={one}")]
        told[case["name"]] = webhook(b"", "check-url", *named, "--", case["url"]).status
    expected = {"block": 1, "error": 1, "allow": 0, "not-followed": 0, "must-ignore": 0}
    wrong = {case: told[case] for case in told if told[case] != expected.get(wanted[case], told[case])}
    assert wrong == {}


def test_check_url_says_the_rule_or_the_addresses(webhook: Command) -> None:
    url = "https://crm.example/hook"
    assert (
        webhook(b"", "check-url", url, "--resolve", "crm.example=93.184.216.34").out == "allowed: 93.184.216.34:443\n"
    )
    refused = webhook(b"", "check-url", url, "--resolve", "crm.example=10.0.0.1", "--json")
    assert (refused.status, refused.json["allowed"]) == (1, False)
    assert "not every address of it is public" in refused.json["reason"]
    assert webhook(b"", "check-url", url, "--resolve", "crm.example").status == 2


def test_check_url_knows_the_hosts_that_the_configuration_allows(webhook: Command, tmp_path: Path) -> None:
    (tmp_path / "crontick.toml").write_text('[http]\nallow = ["localhost:9000"]\n')
    assert webhook(b"", "check-url", "http://localhost:9000/", "--resolve", "localhost=127.0.0.1").status == 0
    assert webhook(b"", "check-url", "http://localhost:9001/", "--resolve", "localhost=127.0.0.1").status == 1


def test_check_shows_what_is_allowed_and_which_secret_cannot_sign(
    cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "crontick.toml").write_text(
        '[http]\nallow = ["localhost"]\n'
        '[[webhook_endpoint]]\nname = "crm"\nurl = "https://crm.example"\nsecret_env = "HOOK"\n'
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOOK", f"{SECRET},whsec_")
    answer = cli("check")
    assert answer.status == 1
    assert "- URLs that came with data may reach private hosts: localhost ([http] allow)" in answer.out
    assert "! a secret in HOOK has 0 bytes, a signing secret has 24 to 64" in answer.out
    monkeypatch.setenv("HOOK", SECRET)
    assert cli("check").status == 0


def test_endpoints_are_listed_with_what_they_hold_and_without_their_secrets(
    cli: Command, sync_conn: psycopg.Connection[Any]
) -> None:
    row = sync_conn.execute("select crontick.set_endpoint('crm', 'https://crm.example/hook')").fetchone()
    sync_conn.execute("select crontick.pause('endpoint', 'crm', 'ann', 'deploy')")
    cli("enqueue", "deliver_webhook", '{"endpoint": "crm", "body": {}}')
    cli("tick")
    answer = cli("webhook", "list", "--json")
    [listed] = answer.json
    assert (listed["name"], listed["held"], listed["paused_because"], listed["sealed"]) == ("crm", 1, "deploy", False)
    assert row is not None
    assert row[0] not in answer.out
    assert "paused: endpoint crm since" in cli("status").out


def test_rotation_of_keys_takes_the_endpoints_along(
    cli: Command, sync_conn: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    sync_conn.execute("select crontick.set_endpoint('crm', 'https://crm.example/hook')")
    sync_conn.execute("select crontick.set_endpoint('crm', secret => 'new')")
    keys = {name: f"{name}:{base64.b64encode(name.encode() * 16).decode()}" for name in ("k1", "k2")}
    lying = "select secret || ' ' || old_secret from crontick.webhook_endpoints"
    for given, first in ((keys["k1"], "k1"), (f"{keys['k2']},{keys['k1']}", "k2")):
        monkeypatch.setenv("CRONTICK_ENCRYPTION_KEYS", given)
        answer = cli("rotate-keys", "--json")
        assert (answer.status, answer.json["endpoints"]["sealed"]) == (0, 1)
        row = sync_conn.execute(lying.encode()).fetchone()
        assert row is not None
        assert [text.partition(":")[0] for text in row[0].split(" ")] == [first, first]
    monkeypatch.setenv("CRONTICK_ENCRYPTION_KEYS", keys["k1"])
    answer = cli("rotate-keys")
    assert answer.status == 1
    assert "! 1 endpoints are sealed with the key k2" in answer.out
    assert "can be removed" not in answer.out
