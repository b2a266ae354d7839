"""Sealing and opening the fields of a payload loses nothing, whatever JSON they hold."""

import json
import os
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crontick.jobs import kind
from crontick.jobs.payload import encode_json
from crontick.jobs.sealing import KeyMissing, Keyring, SealingError
from crontick.jobs.secret_fields import open_fields, reseal_fields, seal_edited, seal_fields, secret_values, shown
from crontick.jobs.testing import drain, enqueued

RING = Keyring({"k1": os.urandom(32)})
NEW = Keyring({"k2": os.urandom(32), **RING.keys})
TEXTS = st.text(st.characters(codec="utf-8"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=10,
)
FIELDS = st.sampled_from(["token", "pair", "to", "•••", ""])
PAYLOADS = st.dictionaries(FIELDS, VALUES)


@given(PAYLOADS, st.sets(FIELDS), st.booleans())
def test_any_payload_comes_back(payload: dict[str, Any], fields: set[str], spaced: bool) -> None:  # noqa: FBT001
    text = json.dumps(payload, ensure_ascii=spaced, separators=None if spaced else (",", ":"))
    sealed = seal_fields(text, "login", fields, RING)
    clear, opened = open_fields(sealed, "login", RING)
    assert json.loads(clear) == payload
    assert opened == fields & payload.keys()
    for field in opened:
        assert json.loads(sealed)[field].startswith("k1:")
    resealed = reseal_fields(sealed, "login", fields, NEW)
    assert json.loads(open_fields(resealed, "login", NEW)[0]) == payload
    assert '"k1:' not in resealed or not opened


@given(PAYLOADS, st.sets(FIELDS))
def test_what_is_shown_hides_the_fields_and_nothing_else(payload: dict[str, Any], fields: set[str]) -> None:
    wanted = {name: "•••" if name in fields else value for name, value in payload.items()}
    text = json.dumps(payload)
    assert json.loads(shown(text, fields)) == wanted
    assert json.loads(shown(seal_fields(text, "login", fields, RING))) == wanted


@pytest.mark.parametrize("text", ["[]", '"token"', "7", "null", '["token"]', "{}", '{"to": "ada"}', "[" * 5000])
def test_what_has_no_secret_field_is_left_as_it_is(text: str) -> None:
    assert seal_fields(text, "login", ["token"], RING) is text
    assert reseal_fields(text, "login", ["token"], RING) is text
    assert open_fields(text, "login", None) == (text, frozenset())
    assert shown(text, ["token"]) is text


@pytest.mark.parametrize("text", ["ä" * 32_000, "漢" * 21_000, "\U0001f600" * 16_000], ids=["ä", "漢", "emoji"])
def test_a_secret_of_nearly_64_kib_is_sealed_at_a_third_more(text: str) -> None:
    sealed = seal_fields(encode_json({"token": text}), "login", ["token"], RING)
    assert len(sealed) < 98_304, "what insert_job takes of a sealed payload"
    assert json.loads(open_fields(sealed, "login", RING)[0]) == {"token": text}


def test_numbers_that_python_cannot_hold_stay_as_they_are_written() -> None:
    text = '{"token": 1e4300, "n": 12345678901234567890.000100}'
    sealed = seal_fields(text, "login", ["token"], RING)
    assert "12345678901234567890.000100" in sealed
    assert "1e4300" in open_fields(sealed, "login", RING)[0]


def test_fields_of_one_payload_may_lie_under_two_keys() -> None:
    half = seal_fields('{"token": 1, "pin": 2}', "login", ["token"], RING)
    whole = seal_fields(half, "login", ["token", "pin"], NEW)
    assert (json.loads(whole)["token"][:3], json.loads(whole)["pin"][:3]) == ("k1:", "k2:")
    assert json.loads(open_fields(whole, "login", NEW)[0]) == {"token": 1, "pin": 2}
    with pytest.raises(KeyMissing, match="k2"):
        open_fields(whole, "login", RING)


def test_an_edited_payload_keeps_what_it_hides(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "k1:" + "A" * 43 + "="
    monkeypatch.setenv("CRONTICK_ENCRYPTION_KEYS", key)
    ring = Keyring({"k1": bytes(32)})
    before = seal_fields('{"token": "t", "pin": 2}', "login", ["token", "pin"], ring)
    edited = seal_edited('{"token": "•••", "pin": 3, "to": "•••"}', before, "login", ["token"])
    assert json.loads(open_fields(edited, "login", ring)[0]) == {"token": "t", "pin": 3, "to": "•••"}
    assert "3" not in str(json.loads(edited)["pin"])[:3], "a field that was sealed stays secret"


def test_an_empty_keyring_names_the_key() -> None:
    sealed = seal_fields('{"token": 1}', "login", ["token"], RING)
    with pytest.raises(KeyMissing, match="k1"):
        open_fields(sealed, "login", None)
    with pytest.raises(SealingError, match="the secret field token"):
        open_fields(sealed.replace('"token":"k1:', '"token":"k1!'), "login", None)


def test_every_leaf_of_a_secret_field_is_a_secret_value() -> None:
    text = '{"token": {"a": ["x", 7, null, true]}, "to": "ada"}'
    assert sorted(secret_values(text, ["token", "gone"])) == ["7", "x"]
    assert secret_values("{", ["token"]) == ["{"]


@kind("login", secret=["token"])
def login(payload: dict[str, Any]) -> None:
    assert payload == {"to": "ada", "token": "hunter2"}


@pytest.mark.usefixtures("key")
def test_a_test_of_one_s_own_sees_what_was_enqueued_and_drains_it(database: str) -> None:
    with psycopg.connect(database) as conn:
        login.enqueue(conn, {"to": "ada", "token": "hunter2"})
        assert enqueued(conn, login) == [{"to": "ada", "token": "hunter2"}]
        assert enqueued(conn) == [{"to": "ada", "token": "hunter2"}]
        assert drain(conn, kinds=[login]).succeeded == 1
        conn.rollback()
