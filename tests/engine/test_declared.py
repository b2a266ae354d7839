"""What ``@schedule`` takes, and what it refuses where it stands."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from crontick.jobs import Kind, PayloadError, kind, schedule
from crontick.jobs.config import ConfigError
from crontick.jobs.deployment import DeploymentError, load_deployment
from crontick.jobs.scheduled import slot_of
from crontick.jobs.settings import Settings


class Digest(msgspec.Struct):
    """What is sent, and with what."""

    days: int
    token: str | None = None


def digest() -> Kind[Digest]:
    @kind("digest", secret=["token"])
    async def send(payload: Digest) -> None:
        """A kind to be scheduled."""

    return send


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"payload": {"days": "x"}}, "does not fit"),
        ({}, "missing required field `days`"),
        ({"payload": Digest(1, "s3cret")}, "token is secret, and the payload of a schedule is kept in clear"),
        ({"payload": Digest(1), "name": "Not a name"}, "is no name"),
        ({"payload": Digest(1), "catch_up": "some"}, "catch_up is one of latest, none, all, not 'some'"),
        ({"payload": Digest(1), "overlap": "wait"}, "overlap is one of skip, allow, not 'wait'"),
        ({"payload": Digest(1), "at_most": 0}, "at_most is 1 to 100, not 0"),
        ({"payload": Digest(1), "priority": 101}, "priority is -100 to 100, not 101"),
        ({"payload": Digest(1), "spread": timedelta(days=2)}, "spread is 0 to 1 day, 0:00:00, not 2 days"),
        ({"payload": Digest(1), "late": timedelta(seconds=-1)}, "late is not negative, and -1 day, 23:59:59 is"),
    ],
)
def test_what_cannot_be_is_refused_where_it_stands(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=r"schedule|payload") as refused:
        schedule("0 0 * * *", **options)(digest())
    assert said in str(refused.value)


def test_a_payload_is_an_object() -> None:
    @kind("count")
    async def count(payload: int) -> None:
        """Takes a number."""

    with pytest.raises(PayloadError, match="its payload is an object"):
        schedule("0 0 * * *", payload=3)(count)


def test_it_stands_above_a_kind() -> None:
    async def plain(payload: Digest) -> None:
        """No kind."""

    with pytest.raises(TypeError, match="stands above a kind"):
        schedule("0 0 * * *")(plain)  # type: ignore[arg-type]


def test_a_name_belongs_to_one() -> None:
    twice = schedule("0 0 * * *", payload=Digest(1))(schedule("0 1 * * *", payload=Digest(2))(digest()))
    with pytest.raises(DeploymentError, match="two schedules are called digest: rename one"):
        load_deployment(Settings(), kinds=[twice])


def test_one_in_the_file_has_the_kind_of_the_deployment_and_no_secret(tmp_path: Path) -> None:
    path = tmp_path / "crontick.toml"
    told = '[[schedule]]\nname = "x"\ncron = "0 0 * * *"\nkind = "digest"\npayload = { days = 1, token = "s3cret" }\n'
    path.write_text(told)
    with pytest.raises(DeploymentError, match="token is secret"):
        load_deployment(Settings(config_path=path), kinds=[digest()])
    path.write_text(told.replace('"digest"', '"digst"'))
    with pytest.raises(ConfigError, match=r"crontick.toml:4: .* no kind digst \(did you mean digest\?\)"):
        load_deployment(Settings(config_path=path), kinds=[digest()])


@pytest.mark.parametrize("text", ['{"$schedule": 3}', '{"$schedule": {"nam": "x"}}', "[]", '"$schedule"', "{"])
def test_a_payload_that_only_looks_like_a_schedule_s_is_left_as_it_is(text: str) -> None:
    assert slot_of(text) == (text, None)


def test_numbers_of_a_payload_stay_as_they_are_written() -> None:
    text, slot = slot_of('{"price": 1.10, "big": 12345678901234567890123, "$schedule": {"name": "x"}}')
    assert text == '{"price":1.10,"big":12345678901234567890123}'
    assert slot is not None
    assert (slot.name, slot.slot_at) == ("x", None)
