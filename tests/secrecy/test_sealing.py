"""What is sealed opens with its key, as what it was sealed for, and in no other way."""

import base64
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crontick.jobs.sealing import KEYS, KeyMissing, Keyring, SealingError, key_of, keyring_of, read_keyring

ABOUT = ("send_login", "token", "0f1e")


def made(*ids: str) -> Keyring:
    return Keyring({name: os.urandom(32) for name in ids})


@given(st.text())
def test_what_is_sealed_opens_again(text: str) -> None:
    ring = made("k1")
    try:
        sealed = ring.seal(text, *ABOUT)
    except UnicodeEncodeError:
        return  # half of a surrogate pair, which no payload can hold
    assert ring.open(sealed, *ABOUT) == text
    assert key_of(sealed) == "k1"


def test_two_seals_of_one_text_are_not_alike() -> None:
    ring = made("k1")
    assert ring.seal("hunter2", *ABOUT) != ring.seal("hunter2", *ABOUT)


@pytest.mark.parametrize(
    "about",
    [
        ("send_mail", "token", "0f1e"),
        ("send_login", "password", "0f1e"),
        ("send_login", "token", "0f1f"),
        ("send_login", "token"),
        ("send_logintoken", "0f1e"),
        ("send_login", "token0f1e"),
        (),
    ],
)
def test_what_is_sealed_as_one_thing_does_not_open_as_another(about: tuple[str, ...]) -> None:
    ring = made("k1")
    sealed = ring.seal("hunter2", *ABOUT)
    with pytest.raises(SealingError, match="does not open"):
        ring.open(sealed, *about)


@given(st.data())
def test_no_changed_byte_opens(data: st.DataObject) -> None:
    ring = made("k1")
    raw = bytearray(base64.b64decode(ring.seal("hunter2", *ABOUT)[3:]))
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(SealingError):
        ring.open(f"k1:{base64.b64encode(raw).decode()}", *ABOUT)


@pytest.mark.parametrize(
    "sealed", ["", "hunter2", "k1:", "k1:AAAA", "https://acme.example/" + "a" * 60, "K1:" + "A" * 60]
)
def test_what_is_no_sealed_text_is_told_as_such(sealed: str) -> None:
    assert key_of(sealed) is None
    with pytest.raises(SealingError, match="not sealed"):
        made("k1").open(sealed, *ABOUT)


def test_the_first_key_seals_and_the_others_open() -> None:
    old, new = made("old"), made("new")
    both = Keyring({**new.keys, **old.keys})
    assert both.open(old.seal("hunter2", *ABOUT), *ABOUT) == "hunter2"
    assert key_of(both.seal("hunter2", *ABOUT)) == "new"


def test_a_key_that_is_not_here_is_named() -> None:
    with pytest.raises(KeyMissing, match="sealed with the key old") as raised:
        made("new").open(made("old").seal("hunter2", *ABOUT), *ABOUT)
    assert raised.value.key == "old"


def test_another_key_under_the_same_id_opens_nothing() -> None:
    with pytest.raises(SealingError, match="does not open"):
        made("k1").open(made("k1").seal("hunter2", *ABOUT), *ABOUT)


RAW = bytes(range(200, 232))
STANDARD = base64.b64encode(RAW).decode()


@pytest.mark.parametrize(
    "text", [STANDARD, base64.urlsafe_b64encode(RAW).decode(), STANDARD.rstrip("="), f" {STANDARD} "]
)
def test_a_key_is_read_in_whatever_base64(text: str) -> None:
    [(key, raw)] = read_keyring(text).keys.items()
    assert raw == RAW
    assert key == read_keyring(STANDARD).first, "an id that nobody gave is the key's own"
    assert len(key) == 8


def test_keys_keep_their_ids_and_their_order() -> None:
    ring = read_keyring(
        f"k2026:{STANDARD}, {base64.b64encode(bytes(32)).decode()},k2025:{base64.b64encode(b'x' * 32).decode()}"
    )
    assert list(ring.keys)[::2] == ["k2026", "k2025"]
    assert ring.first == "k2026"
    assert STANDARD not in repr(ring)
    assert str(RAW) not in repr(ring)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (
            base64.b64encode(bytes(16)).decode(),
            "has 16 bytes, and a key has 32: make one with `openssl rand -base64 32`",
        ),
        ("not base64 at all!", "is no base64: make one"),
        (f"K1:{STANDARD}", "an id that is no name"),
        (f"k1:{STANDARD},k1:{base64.b64encode(bytes(32)).decode()}", "key 2 of 2, has the id k1, as another has"),
        (f"{STANDARD},{STANDARD}", "as another has"),
        (" , ", "has no key in it"),
    ],
)
def test_a_wrong_key_is_told_with_the_mend_and_never_quoted(value: str, said: str) -> None:
    with pytest.raises(SealingError, match=said) as raised:
        read_keyring(value)
    assert STANDARD[:20] not in str(raised.value)


def test_keys_come_from_a_file_too(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(f"k1:{STANDARD}\n")
    ring = keyring_of({f"{KEYS}_FROM": f"file:{file}"})
    assert ring is not None
    assert ring.keys == {"k1": RAW}
    assert keyring_of({}) is None


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(SealingError, match=r"CRONTICK_ENCRYPTION_KEYS_FROM: .*gone cannot be read"):
        keyring_of({f"{KEYS}_FROM": f"file:{tmp_path}/gone"})
