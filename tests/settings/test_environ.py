"""The environment is read whole, and every fault of it is told at once."""

from collections.abc import Callable
from pathlib import Path

import pytest
import rich.pretty

from crontick.jobs.settings import VARIABLES, Settings, SettingsError

CRON = "3f9b1c0de7a24586b1f0"
ADMIN = "a81c5e0f7d2b43968e1f0c7a5d3b2914"
SIGNING = "whsec_" + "C" * 43 + "="
KEY = "D" * 43 + "="


def faults(environ: dict[str, str]) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as raised:
        Settings.from_environ(environ)
    return raised.value.sentences


def test_an_empty_environment_has_the_defaults_of_the_table() -> None:
    settings = Settings.from_environ({})
    assert (settings.limit, settings.budget_seconds, settings.concurrency, settings.environment) == (
        100,
        25,
        20,
        "production",
    )
    assert settings.database_url is None
    assert settings.cron_secrets == ()


def test_an_empty_variable_is_one_that_is_not_set() -> None:
    assert Settings.from_environ({variable.name: "" for variable in VARIABLES}) == Settings.from_environ({})


def test_all_faults_are_told_at_once() -> None:
    told = faults({"CRON_SECRET": "short", "CRONTICK_LIMIT": "0", "CRONTICK_ALLOW_GET": "maybe"})
    assert [sentence.split()[0] for sentence in told] == ["CRON_SECRET", "CRONTICK_LIMIT", "CRONTICK_ALLOW_GET"]


def test_tokens_are_separated_by_commas_so_that_they_can_be_rotated() -> None:
    settings = Settings.from_environ({"CRON_SECRET": f" {CRON} , {ADMIN},"})
    assert settings.cron_secrets == (CRON, ADMIN)


@pytest.mark.parametrize(
    ("secret", "why"),
    [
        ("undefined", "placeholder"),
        ("null", "placeholder"),
        ("${{ secrets.CRON_SECRET }}", "placeholder"),
        ("$CRON_SECRET", "placeholder"),
        ("$(openssl rand -hex 32)", "placeholder"),
        ("<paste your secret here>", "placeholder"),
        ("changeme-changeme-changeme", "example value"),
        ("an-example-secret-of-many-characters", "example value"),
        ("fifteen-chars-1", "shorter than 16"),
        ("sixteen characters and a space", "space"),
        ("schlüssel-schlüssel-schlüssel", "character that a header cannot carry"),
        ("seventeen-chars-1\x00", "character that a header cannot carry"),
        (f"{CRON},short", "value 2 of 2"),
    ],
)
def test_a_secret_that_protects_nothing_is_refused(secret: str, why: str) -> None:
    (told,) = faults({"CRON_SECRET": secret})
    assert told.startswith("CRON_SECRET")
    assert why in told
    assert "openssl rand -hex 32" in told
    assert secret not in told


def test_sixteen_characters_are_enough_for_the_tick_and_too_few_for_the_admin() -> None:
    assert Settings.from_environ({"CRON_SECRET": CRON[:16]}).cron_secrets == (CRON[:16],)
    (told,) = faults({"CRONTICK_ADMIN_SECRET": ADMIN[:31]})
    assert "shorter than 32" in told
    assert Settings.from_environ({"CRONTICK_ADMIN_SECRET": ADMIN}).admin_secrets == (ADMIN,)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("CRON_SECRET", "CRONTICK_ADMIN_SECRET"),
        ("CRON_SECRET", "CRONTICK_ENQUEUE_SECRET"),
        ("CRONTICK_ADMIN_SECRET", "CRONTICK_ENQUEUE_SECRET"),
    ],
)
def test_two_doors_never_share_a_secret(first: str, second: str) -> None:
    assert faults({first: f"{CRON}{CRON},{ADMIN}", second: ADMIN}) == (
        f"{first} and {second} share a value: give each door its own",
    )


def test_no_secret_shows_when_settings_are_printed() -> None:
    settings = Settings.from_environ(
        {
            "CRON_SECRET": CRON,
            "CRONTICK_ADMIN_SECRET": ADMIN,
            "CRONTICK_ENQUEUE_SECRET": CRON[::-1],
            "CRONTICK_SIGNING_SECRET": SIGNING,
            "CRONTICK_ENCRYPTION_KEYS": f"k1:{KEY}",
            "DATABASE_URL": "postgresql://app:hunter2@db/app",
        }
    )
    for shown in (repr(settings), str(settings), f"{settings}", rich.pretty.pretty_repr(settings)):
        assert not any(secret in shown for secret in (CRON, ADMIN, CRON[::-1], SIGNING, KEY, "hunter2"))
        assert "max_budget_seconds=25" in shown


def test_a_secret_may_lie_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "cron_secret"
    path.write_text(f"{CRON}\n")
    assert Settings.from_environ({"CRON_SECRET_FROM": f"file:{path}"}).cron_secrets == (CRON,)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (lambda tmp: f"file:{tmp}/missing", "cannot be read"),
        (lambda tmp: f"file:{tmp}/empty", "is empty"),
        (lambda tmp: f"file:{tmp}/binary", "cannot be read"),
        (lambda _: "file:relative", "must be file:/path"),
        (lambda _: "aws-ssm:/cron/secret", "on Lambda only"),
        (lambda _: CRON, "must be file:/path"),
    ],
)
def test_a_secret_that_cannot_be_fetched_is_told_by_its_variable(
    tmp_path: Path, source: Callable[[Path], str], why: str
) -> None:
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (told,) = faults({"CRON_SECRET_FROM": source(tmp_path)})
    assert told.startswith("CRON_SECRET_FROM")
    assert why in told
    assert CRON not in told


def test_a_secret_given_twice_is_a_question_for_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "cron_secret"
    path.write_text(CRON)
    assert faults({"CRON_SECRET": ADMIN, "CRON_SECRET_FROM": f"file:{path}"}) == (
        "CRON_SECRET and CRON_SECRET_FROM are both set: keep one of them",
    )


def test_cronticks_own_database_url_comes_before_the_apps() -> None:
    app = {"DATABASE_URL": "postgresql://app@db/app"}
    assert Settings.from_environ(app).database_url == "postgresql://app@db/app"
    own = Settings.from_environ(app | {"CRONTICK_DATABASE_URL": "postgresql://own@db/app"})
    assert own.database_url == "postgresql://own@db/app"
    assert own.migrate_url == "postgresql://own@db/app"


def test_a_database_url_nobody_reads_is_not_judged() -> None:
    environ = {"DATABASE_URL": "mysql://app@db/app", "CRONTICK_DATABASE_URL": "postgresql://own@db/app"}
    assert Settings.from_environ(environ).database_url == "postgresql://own@db/app"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CRONTICK_LIMIT", "1001"),
        ("CRONTICK_LIMIT", "10.5"),
        ("CRONTICK_LIMIT", "\u0661\u0660"),
        ("CRONTICK_BUDGET_SECONDS", "0"),
        ("CRONTICK_BUDGET_SECONDS", "901"),
        ("CRONTICK_BUDGET_SECONDS", "nan"),
        ("CRONTICK_BUDGET_SECONDS", "inf"),
        ("CRONTICK_BUDGET_SECONDS", "25s"),
        ("CRONTICK_MAX_PARALLEL_TICKS", "0"),
        ("CRONTICK_MAX_PARALLEL_TICKS", "101"),
        ("CRONTICK_CONCURRENCY", "-1"),
        ("CRONTICK_ENVIRONMENT", "Production!"),
        ("CRONTICK_PREFIX", "crontick"),
        ("CRONTICK_PREFIX", "/crontick/"),
        ("CRONTICK_AROUND", "acme.background"),
        ("CRONTICK_MODULES", "acme/background.py"),
        ("CRONTICK_CONFIG", "/nowhere/crontick.toml"),
        ("CRONTICK_PAUSED", "2"),
    ],
)
def test_a_value_out_of_range_is_told_by_its_variable(name: str, value: str) -> None:
    told = faults({name: value})
    assert told[0].startswith(name)


def test_the_largest_budget_follows_the_budget_and_never_falls_below_it() -> None:
    assert Settings.from_environ({"CRONTICK_BUDGET_SECONDS": "50"}).max_budget_seconds == 50
    (told,) = faults({"CRONTICK_BUDGET_SECONDS": "50", "CRONTICK_MAX_BUDGET_SECONDS": "20"})
    assert told.startswith("CRONTICK_MAX_BUDGET_SECONDS must not be less")


def test_a_host_that_kills_before_the_budget_ends_is_refused() -> None:
    (told,) = faults({"CRONTICK_BUDGET_SECONDS": "30", "CRONTICK_HOST_LIMIT_SECONDS": "30"})
    assert told.startswith("CRONTICK_HOST_LIMIT_SECONDS is 30")


def test_modules_are_separated_by_commas_or_spaces() -> None:
    settings = Settings.from_environ({"CRONTICK_MODULES": "acme.background, acme.mail acme"})
    assert settings.modules == ("acme.background", "acme.mail", "acme")


def test_the_configuration_file_is_found_in_the_deployments_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert Settings.from_environ({}).config_path is None
    (tmp_path / "crontick.toml").touch()
    assert Settings.from_environ({}).config_path == Path("crontick.toml")


def test_the_table_of_variables_has_no_name_twice_and_tells_each_meaning() -> None:
    names = [variable.name for variable in VARIABLES]
    assert len(set(names)) == len(names)
    assert all(variable.meaning for variable in VARIABLES)


def test_every_variable_of_the_table_is_read() -> None:
    class Recording(dict[str, str]):
        def get(self, name: str, default: str = "") -> str:  # type: ignore[override]
            asked.add(name)
            return default

    asked: set[str] = set()
    Settings.from_environ(Recording())
    assert {variable.name for variable in VARIABLES} == {name for name in asked if not name.endswith("_FROM")}
    assert len(VARIABLES) == len(Settings.__struct_fields__) + 1  # DATABASE_URL is the second name of one field


@pytest.mark.parametrize("value", ["whsec_short", "a signing secret", "whsec_" + "C" * 43 + "=,whsec_!"])
def test_a_secret_that_cannot_sign_is_told_and_not_quoted(value: str) -> None:
    with pytest.raises(SettingsError) as raised:
        Settings.from_environ({"CRONTICK_SIGNING_SECRET": value})
    [sentence] = raised.value.sentences
    assert sentence.startswith("CRONTICK_SIGNING_SECRET ")
    assert "crontick webhook secret" in sentence
    assert value not in sentence


def test_several_secrets_sign_while_one_replaces_another() -> None:
    new, old = ("whsec_" + letter * 43 + "=" for letter in "CD")
    settings = Settings.from_environ({"CRONTICK_SIGNING_SECRET": f"{new}, {old}"})
    assert settings.signing_secrets == (new, old)
    assert {new, old} <= set(settings.secrets)
