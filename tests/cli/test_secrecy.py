"""Secret fields on the command line: sealed on the way in, hidden on the way out, sealed afresh under a new key."""

import base64
import os
from pathlib import Path

import psycopg
import pytest

from crontick.jobs.sealing import KEYS
from tests.cli.conftest import Command

SECRET = "hunter2-correct-horse"
PAYLOAD = f'{{"to": "ada", "token": "{SECRET}"}}'
REMINDER = f"""
[[reminder]]
name = "soon"
lead = "24h"
kind = "login"
query = '''select 7 as item, now() + interval '1 hour' as item_at, '{PAYLOAD}'::jsonb as payload where :from < :to'''
"""
Conn = psycopg.Connection[tuple[object, ...]]


def new_key(name: str) -> str:
    return f"{name}:{base64.b64encode(os.urandom(32)).decode()}"


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    key = new_key("k1")
    monkeypatch.setenv(KEYS, key)
    monkeypatch.delenv(f"{KEYS}_FROM", raising=False)
    return key


@pytest.fixture
def vault(cli: Command, key: str, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("CRONTICK_MODULES", "tests.cli.vault")
    cli("tick")
    return cli


def resting(conn: Conn) -> str:
    rows = conn.execute("select payload::text, coalesce(result::text, '') from crontick.jobs").fetchall()
    return str(rows)


def test_enqueue_seals_and_show_hides(vault: Command, sync_conn: Conn) -> None:
    job = vault("enqueue", "login", PAYLOAD).out.strip()
    assert SECRET not in resting(sync_conn)
    assert vault("show", job, "--json").json["payload"] == {"to": "ada", "token": "•••"}
    assert '"token":"•••"' in vault("show", job).out
    assert "$sealed" not in vault("show", job).out
    assert vault("tick", "--json").json["succeeded"] == 1
    assert vault("show", job, "--json").json["result"] == {"to": "ada", "token": "[redacted]"}
    assert SECRET not in resting(sync_conn)


def test_show_hides_what_still_lies_in_clear(vault: Command, sync_conn: Conn) -> None:
    row = sync_conn.execute("select crontick.enqueue('login', %s::jsonb)", (PAYLOAD,)).fetchone()
    assert row is not None
    assert SECRET not in vault("show", str(row[0])).out


def test_enqueue_is_refused_without_a_key(vault: Command, sync_conn: Conn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEYS)
    answer = vault("enqueue", "login", PAYLOAD)
    assert (answer.status, "login has secret fields (token)" in answer.err) == (2, True)
    assert resting(sync_conn) == "[]"


def test_an_edited_payload_keeps_what_is_hidden_and_seals_what_is_new(vault: Command, sync_conn: Conn) -> None:
    dead = vault("enqueue", "login", PAYLOAD.replace("{", '{"die": true, ', 1)).out.strip()
    assert vault("tick", "--json").json["dead"] == 1
    shown = vault("dead", "show", dead, "--json").json
    assert SECRET not in str(shown)
    assert "[redacted] is refused" in shown["last_error"]
    vault("dead", "requeue", dead, "--payload", '{"to": "bob", "token": "•••"}')
    assert SECRET not in resting(sync_conn)
    [summary] = [vault("tick", "--json").json]
    assert summary["succeeded"] == 1
    row = sync_conn.execute("select result::text from crontick.jobs where status = 'succeeded'").fetchone()
    assert row == ('{"to": "bob", "token": "[redacted]"}',)


def test_rotation_seals_everything_afresh_and_says_when_the_old_key_can_go(
    vault: Command, sync_conn: Conn, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        vault("enqueue", "login", PAYLOAD)
    vault("tick", "--limit", "1")
    monkeypatch.setenv(KEYS, f"{new_key('k2')},{key}")
    answer = vault("rotate-keys", "--json")
    assert (answer.status, answer.json["sealed"], answer.json["key"]) == (0, 3, "k2")
    assert resting(sync_conn).count('"k2:') == 3
    assert '"k1:' not in resting(sync_conn)
    assert vault("rotate-keys", "--json").json["sealed"] == 0, "a second run finds nothing to do"
    assert "keys after the first can be removed" in vault("rotate-keys").out
    monkeypatch.setenv(KEYS, os.environ[KEYS].partition(",")[0])
    assert vault("tick", "--json").json["succeeded"] == 2


def test_rotation_names_the_key_that_is_missing(vault: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    vault("enqueue", "login", PAYLOAD)
    monkeypatch.setenv(KEYS, new_key("k2"))
    answer = vault("rotate-keys")
    assert answer.status == 1
    assert "1 are sealed with the key k1, which is not in CRONTICK_ENCRYPTION_KEYS" in answer.out


def test_rotation_seals_what_was_finished_before_its_field_was_secret(vault: Command, sync_conn: Conn) -> None:
    sync_conn.execute("update crontick.kinds set secret = '{}' where name = 'login'")
    sync_conn.execute("select crontick.enqueue('login', %s::jsonb)", (PAYLOAD,))
    sync_conn.execute("select crontick.cancel(1, 'ada', 'x')")
    sync_conn.execute("update crontick.kinds set secret = '{token}' where name = 'login'")
    assert SECRET in resting(sync_conn)
    assert vault("rotate-keys", "--json").json["sealed"] == 1
    assert SECRET not in resting(sync_conn)


def test_a_missing_key_is_told_by_status_and_why(vault: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    job = vault("enqueue", "login", PAYLOAD).out.strip()
    monkeypatch.setenv(KEYS, new_key("k2"))
    summary = vault("tick", "--json").json
    assert (summary["handed_back"], "sealed with the key k1" in str(summary["warnings"])) == (1, True)
    assert "sealed with the key k1, which no tick since has had: add it" in vault("why", job).out
    status = vault("status")
    assert (status.status, "key which no tick had: 1" in status.out, "key:k1" in status.out) == (1, True, True)


def test_check_wants_keys_for_secret_fields(vault: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert vault("check").status == 0
    monkeypatch.delenv(KEYS)
    answer = vault("check")
    assert answer.status == 1
    assert "login has secret fields (token), and CRONTICK_ENCRYPTION_KEYS is not set: make one with" in answer.out
    monkeypatch.setenv(KEYS, base64.b64encode(bytes(16)).decode())
    answer = vault("check")
    assert answer.status == 1
    assert "has 16 bytes, and a key has 32: make one with `openssl rand -base64 32`" in answer.out


def test_a_preview_of_reminders_hides_them_and_what_a_reminder_enqueues_is_sealed(
    vault: Command, sync_conn: Conn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "crontick.toml"
    path.write_text(REMINDER)
    monkeypatch.setenv("CRONTICK_CONFIG", str(path))
    answer = vault("reminders", "preview", "--json")
    assert answer.json[0]["payload"] == {"to": "ada", "token": "•••"}
    assert vault("tick", "--json").json["succeeded"] == 1
    assert SECRET not in resting(sync_conn)


def test_a_field_that_the_file_marks_is_secret_too(
    vault: Command, sync_conn: Conn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "crontick.toml"
    path.write_text('[kinds.login]\nsecret = ["to"]\n')
    monkeypatch.setenv("CRONTICK_CONFIG", str(path))
    vault("migrate")
    job = vault("enqueue", "login", PAYLOAD).out.strip()
    assert "ada" not in resting(sync_conn)
    assert vault("show", job, "--json").json["payload"] == {"to": "•••", "token": "•••"}
    assert vault("tick", "--json").json["succeeded"] == 1


def test_the_key_of_a_marker_cannot_be_marked_secret(
    vault: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "crontick.toml"
    path.write_text('[kinds.send_email]\nsecret = ["dedupe_key"]\n')
    monkeypatch.setenv("CRONTICK_CONFIG", str(path))
    answer = vault("check")
    assert answer.status == 1
    assert "[kinds.send_email] secret names dedupe_key, the key of its markers, which is kept in clear" in answer.out
