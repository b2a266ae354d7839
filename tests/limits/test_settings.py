"""``[limits.NAME]`` and ``[queues.NAME]``: what they may say, and what is told of the rest."""

from pathlib import Path

import msgspec
import pytest

from crontick.jobs import kind
from crontick.jobs.config import ConfigError, read_config
from crontick.jobs.deployment import DeploymentError, load_deployment
from crontick.jobs.limits import limits_json
from crontick.jobs.settings import Settings

KINDS = ("send_email", "deliver_webhook", "call")


def faults(text: str) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as refused:
        read_config(text, kinds=KINDS)
    return refused.value.sentences


@pytest.mark.parametrize(
    ("rate", "spacing_us", "burst"),
    [
        ("10/second", 100_000, 10),
        ("100/minute", 600_000, 100),
        ("1000/hour", 3_600_000, 1000),
        ("5000/day", 17_280_000, 5000),
        ("1/day", 86_400_000_000, 1),
        ("3/second", 333_334, 3),
        ("1000000/second", 1, 1_000_000),
    ],
)
def test_a_rate_is_a_spacing_never_too_short(rate: str, spacing_us: int, burst: int) -> None:
    config = read_config(f'[limits.api]\nkind = "call"\nrate = "{rate}"', kinds=KINDS)
    [told] = msgspec.json.decode(limits_json(config.limits))
    assert (told["spacing_us"], told["burst"]) == (spacing_us, burst)


def test_what_the_database_is_told() -> None:
    text = """
    [email]
    url_env = "SMTP_URL"
    from = "hi@acme.example"
    [limits.mail]
    provider = "smtp"
    rate = "100/minute"
    burst = 5
    [limits.crm]
    endpoint = "crm"
    concurrency = 2
    [limits.tenant]
    queue = "default"
    key = "payload.customer.tenant"
    concurrency = 5
    """
    crm, mail, tenant = msgspec.json.decode(limits_json(read_config(text, kinds=KINDS).limits))
    assert crm == {
        "name": "crm", "kinds": ["deliver_webhook"], "endpoint": "crm", "concurrency": 2, "said": "2 at a time"
    }  # fmt: skip
    assert mail == {
        "name": "mail", "kinds": ["send_email"], "spacing_us": 600_000, "burst": 5, "said": "100 a minute, 5 at once"
    }  # fmt: skip
    assert tenant == {
        "name": "tenant", "queue": "default", "path": ["customer", "tenant"], "concurrency": 5, "said": "5 at a time"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("limits = 3", "must be a table: write [limits]"),
        ("[limits]\napi = 3", "must be a table: write [limits.api]"),
        ("[limits.API]\nkind = 'call'\nconcurrency = 1", "crontick.toml:1: limits.API: is no name"),
        ("[queues.API]\nseats = 1", "crontick.toml:1: queues.API: is no name"),
        ("[limits.api]\nrate = '1/day'", "crontick.toml:1: limits.api: says not what it limits"),
        ("[limits.api]\nkind = 'call'\nqueue = 'q'\nrate = '1/day'", "crontick.toml:3: limits.api.queue: kind and"),
        ("[limits.api]\nkind = 'call'", "crontick.toml:1: limits.api: limits nothing: add a rate"),
        ("[limits.api]\nkind = 'call'\nconcurrency = 1\nburst = 2", "crontick.toml:4: limits.api.burst: belongs"),
        ("[limits.api]\nkind = 'call'\nrate = '10/week'", "crontick.toml:3: limits.api.rate: '10/week' is no rate"),
        ("[limits.api]\nkind = 'call'\nrate = '0/day'", "limits.api.rate: '0/day' is no rate"),
        ("[limits.api]\nkind = 'call'\nrate = '1000001/day'", "1000000 at most"),
        ("[limits.api]\nkind = 'call'\nrate = '1.5/day'", "is no rate"),
        ("[limits.api]\nkind = 'call'\nrate = '-1/day'", "is no rate"),
        ("[limits.api]\nkind = 'call'\nrate = 10", "crontick.toml:3: limits.api.rate: must be a text in quotes"),
        ("[limits.api]\nkind = 'call'\nrate = '1/day'\nburst = 0", "burst: must be a whole number, 1 at least"),
        ("[limits.api]\nkind = 'call'\nconcurrency = 0", "crontick.toml:3: limits.api.concurrency"),
        ("[limits.api]\nkind = 'call'\nconcurrency = 1\nkey = 'tenant'", "crontick.toml:4: limits.api.key: 'tenant'"),
        ("[limits.api]\nkind = 'call'\nconcurrency = 1\nkey = 'payload.'", "is no field of a payload"),
        ("[limits.api]\nkind = 'cal'\nconcurrency = 1", "crontick.toml:2: limits.api.kind: this deployment has no"),
        ("[limits.api]\nprovider = 'resend'\nconcurrency = 1", "crontick.toml:2: limits.api.provider: nothing is sent"),
        ("[limits.api]\nprovider = 'ses'\nconcurrency = 1", "crontick.toml:2: limits.api.provider: 'ses' is none of"),
        ("[limits.api]\nkind = 'call'\nrates = '1/day'", "there is no rates (did you mean rate?)"),
        ("[queues.slow]", "queues.slow: seats is missing"),
        ("[queues.slow]\nseats = 0", "crontick.toml:2: queues.slow.seats"),
        ("[queues]\nslow = 2", "must be a table: write [queues.slow]"),
    ],
)  # fmt: skip
def test_a_limit_that_cannot_work_is_told_with_its_line(text: str, said: str) -> None:
    assert any(said in sentence for sentence in faults(text)), faults(text)


@pytest.mark.parametrize("of", ["kind = 'call'", "queue = 'default'"])
def test_no_limit_counts_by_a_secret_field(tmp_path: Path, of: str) -> None:
    @kind("call", secret=["token"])
    async def call(payload: dict[str, str]) -> None:
        """Never called."""

    path = tmp_path / "crontick.toml"
    path.write_text(f"[limits.api]\n{of}\nkey = 'payload.token'\nconcurrency = 1")
    with pytest.raises(DeploymentError, match=r"\[limits\.api\] counts by payload\.token, a secret field of call"):
        load_deployment(Settings(config_path=path), kinds=[call])
