"""``crontick.toml`` is checked whole, and each fault is told with its line."""

from datetime import timedelta
from pathlib import Path

import pytest

from crontick.jobs.config import ConfigError, load_config, read_config
from crontick.jobs.sections import Config, Exponential

GOOD = '''
strict_kinds = true

[email]
provider = "smtp"
url_env = "SMTP_URL"
from = "Acme <hi@acme.example>"

[[reminder]]
name = "booking_24h"
lead = "24h"
kind = "send_email"
query = """
select b.id as item   -- [not a table]
name = "not a key"
"""

[[reminder]]
name = "booking_1h"
lead = "90m"
late = "45s"
kind = "send_email"
priority = 20
query = 'select 1'

[kinds.resize_image]
queue = "slow"
priority = -10
timeout = 20
needs = "5s"
max_attempts = 3
backoff = [60, "5m", "2h"]

[kinds."sync.crm"]
backoff = { base = "1m", factor = 3, cap = "6h" }

[retention]
succeeded = "3d"

[http]
allow = ["crm.internal"]
'''


def faults(text: str, **options: object) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as raised:
        read_config(text, **options)  # type: ignore[arg-type]
    return raised.value.sentences


def test_no_file_is_the_defaults() -> None:
    config = load_config(None)
    assert config == Config() == read_config("")
    assert config.retention.succeeded == timedelta(days=7)
    assert config.strict_kinds is False


def test_a_whole_file_is_read() -> None:
    config = read_config(GOOD, kinds={"send_email", "resize_image", "sync.crm"})
    assert config.strict_kinds is True
    assert [(reminder.lead, reminder.late) for reminder in config.reminder] == [
        (timedelta(hours=24), None),
        (timedelta(minutes=90), timedelta(seconds=45)),
    ]
    assert config.reminder[0].priority == 10
    resize = config.kinds["resize_image"]
    assert (resize.timeout, resize.needs) == (timedelta(seconds=20), timedelta(seconds=5))
    assert resize.backoff == (timedelta(minutes=1), timedelta(minutes=5), timedelta(hours=2))
    assert config.kinds["sync.crm"].backoff == Exponential(base=timedelta(minutes=1), factor=3, cap=timedelta(hours=6))
    assert config.retention.succeeded == timedelta(days=3)
    assert config.http.allow == ("crm.internal",)


def test_every_fault_is_told_with_its_line_in_the_order_of_the_file() -> None:
    text = GOOD.replace('lead = "24h"', "lead = 24").replace("priority = 20", "priority = 200\nprioritty = 1")
    text = text.replace("max_attempts = 3", "max_attempts = 0").replace('url_env = "SMTP_URL"', 'url = "smtp://x"')
    told = faults(text)
    assert [int(sentence.split(":")[1]) for sentence in told] == [6, 11, 23, 24, 32]


def test_no_fault_hides_another() -> None:
    text = (
        '[queues.slow]\nseats = "two"\n'
        + DAILY
        + 'tz = "Mars"\n'
        + SQL_JOB.replace('{ at = "date" }', "{ a = 1, b = 2 }")
    )
    told = faults(text + '[[report]]\nname = "r"\n')
    assert [sentence.partition(": ")[2][:34] for sentence in told] == [
        "queues.slow.seats: must be a whole",
        "schedule.tz: 'Mars' is no time zon",
        "sql_job.parameters.a: must be a te",
        "sql_job.parameters.b: must be a te",
        "report: key is missing",
        "report: query is missing",
    ]


def test_an_unknown_name_has_a_suggestion() -> None:
    told = faults('[[reminder]]\nname = "a"\nlead = "1h"\nkind = "x"\nquerry = "select 1"\n[retentoin]\n')
    assert told == (
        "crontick.toml:5: reminder.querry: there is no querry (did you mean query?)",
        "crontick.toml:6: retentoin: there is no such table or setting (did you mean retention?)",
    )


DAILY = "[[schedule]]\nname = 'x'\nkind = 'x'\ncron = '0 0 * * *'\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = \n", "crontick.toml:1: Invalid value: a text stands in quotes"),
        ('x = 1\ny = "a\n', "crontick.toml:2: a text in quotes does not end on its line: close it"),
        ("[http]\n[http]\n", "crontick.toml:2: [http] stands twice: put both into one"),
        ("x = 1\nx = 2\n", "crontick.toml:2: this name stands twice in its table"),
        ("x = [1,", "crontick.toml: at its end: Invalid value"),
        ("x = 1\n\n[y\n", "crontick.toml:3: "),
        ('x = """', "crontick.toml: "),
        ("strict_kinds = 1", "strict_kinds: must be true or false"),
        ("[reminder]\nname='a'", "must be an array of tables: write [[reminder]]"),
        ("reminder = 3", "must be an array of tables: write [[reminder]]"),
        ("reminder = [1]", "must be an array of tables: write [[reminder]]"),
        ("[[email]]", "must be a table: write [email]"),
        ("kinds = 3", "must be a table: write [kinds]"),
        ("[kinds]\nx = 3", "must be a table: write [kinds.x]"),
        ("[kinds.x]\ntimeout = 0", "timeout must be longer than nothing"),
        ("[kinds.x]\ntimeout = 901", "at most 900 s"),
        ("[kinds.x]\nbackoff = []", "crontick.toml:2: kinds.x.backoff: must not be empty"),
        ("[queues.x]\nseats = 0", "queues.x.seats: must be a whole number, 1 at least"),
        ("[kinds.x]\nbackoff = [-1]", "-1 is not a number of seconds"),
        ("[kinds.x]\ntimeout = nan", "nan is not a number of seconds"),
        ("[kinds.x]\nbackoff = ['1 minute']", "'1 minute' is not a length of time: write 45s, 90m, 24h or 7d"),
        ("[kinds.x]\nqueue = 'Mail'", "crontick.toml:2: kinds.x.queue: is no name: lower-case letters"),
        ("[kinds.x]\nneeds = '99999999d'", "is not a length of time"),
        ("[retention]\nsucceeded = 7", "retention.succeeded: 7 has no unit: write 7s, 7m, 7h or 7d"),
        ("[retention]\nticks = '30s'", "an hour is the least"),
        ("[http]\nallow = 'x'", "crontick.toml:2: http.allow: must be a list, not a text in quotes"),
        ("[heartbeat]\nurl = 'https://x'", "there is no url: write url_env = the name of the variable that has it"),
        ("[heartbeat]\nurl_env = 'https://x'", "heartbeat.url_env: is not the name of a variable, such as CRM_SECRET"),
        ("[[schedule]]\nname = 'x'", "crontick.toml:1: schedule: cron is missing"),
        (DAILY + "tz = 1", "crontick.toml:5: schedule.tz: must be a text in quotes, not a whole number"),
        (DAILY + "catch_up = 'lates'", "catch_up: 'lates' is none of all, latest, none (did you mean latest?)"),
        (DAILY + "at_most = 101", "crontick.toml:5: schedule.at_most: must be a whole number, 100 at most"),
        (DAILY + "timezone = 'UTC'", "schedule.timezone: there is no timezone (did you mean tz?)"),
        (DAILY + "late = 5", "schedule.late: 5 has no unit"),
        (DAILY + "spread = '2d'", "spread is at most a day"),
        (DAILY + DAILY, "crontick.toml:6: schedule.name: x was there before"),
        ("[wake]", "crontick.toml:1: wake: provider is missing"),
    ],
)
def test_what_is_wrong_is_told(text: str, said: str) -> None:
    assert any(said in sentence for sentence in faults(text)), faults(text)


REMINDER = '[[reminder]]\nname = "a"\nlead = "24h"\nkind = "send_email"\nquery = "select 1"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (REMINDER + 'late = "25h"\n', "late must not be longer than lead"),
        (REMINDER.replace('"24h"', '"0s"'), "lead must be longer than nothing"),
        (REMINDER.replace('query = "select 1"\n', ""), "reminder: query is missing"),
        (REMINDER + REMINDER, "crontick.toml:7: reminder.name: a was there before"),
        (REMINDER + "quiet_hours = '22-7'\n", "there is no quiet_hours"),
    ],
)
def test_a_reminder_that_cannot_work_is_told(text: str, said: str) -> None:
    assert any(said in sentence for sentence in faults(text)), faults(text)


SQL_JOB = """
[[sql_job]]
name = "purge"
statement = "delete from carts where at < :at::date"
parameters = { at = "date" }
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SQL_JOB + SQL_JOB, "crontick.toml:8: sql_job.name: purge was there before"),
        (SQL_JOB.replace("{ at", "{ to"), "statement has :at, and parameters has no at"),
        (SQL_JOB.replace("{ at", '{ to = "date", at'), "parameters has to, and statement has no :to"),
        (SQL_JOB.replace('"date"', '"dat"'), "sql_job.parameters.at: 'dat' is none of boolean, date, integer"),
        (SQL_JOB.replace("delete from", "VACUUM"), "runs in a transaction"),
        (SQL_JOB.replace("delete from", "\\n commit;"), "runs in a transaction"),
        (SQL_JOB + "timeout = 0", "timeout must be longer than nothing"),
        (SQL_JOB + "cron = '* * * * *'", "crontick.toml:6: sql_job.cron: there is no cron"),
        (SQL_JOB.replace('name = "purge"\n', ""), "sql_job: name is missing"),
    ],
)
def test_an_sql_job_that_cannot_work_is_told(text: str, said: str) -> None:
    assert any(said in sentence for sentence in faults(text)), faults(text)


def test_a_kind_that_this_deployment_lacks_is_told_where_it_is_named() -> None:
    text = REMINDER + "[kinds.resize_imgae]\npriority = 1\n"
    assert faults(text, kinds={"resize_image"}) == (
        "crontick.toml:4: reminder.kind: this deployment has no kind send_email: name its module in CRONTICK_MODULES",
        "crontick.toml:6: kinds.resize_imgae: this deployment has no kind resize_imgae (did you mean resize_image?)",
    )


URL = '[kinds.resize_image]\nurl = "https://app.example/jobs/resize"\n'


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("app.example/jobs", "a whole one"),
        ("ftp://app.example/", "a whole one"),
        ("https://", "a whole one"),
        ("https://[", "a whole one"),
        ("https://app.example:99999/", "a whole one"),
        ("https://app.example/a b", "a whole one"),
        ("https://app.example\\\\@evil.example/", "a whole one"),
        ("", "a whole one"),
        ("https://ada:secret@app.example/", "no secret stands in this file"),
        ("http://93.184.216.34/", "write https://"),
        ("http://169.254.169.254/", "metadata"),
        ("https://[fd00:ec2::254]/", "metadata"),
    ],
)
def test_a_url_that_no_request_will_go_to_is_told_with_its_line(url: str, said: str) -> None:
    [sentence] = faults(f'[kinds.x]\nurl = "{url}"\n')
    assert sentence.startswith("crontick.toml:")
    assert said in sentence
    assert "secret@" not in sentence


@pytest.mark.parametrize(
    "url", ["http://app:3000/x", "http://10.0.0.4/", "http://[::1]:3000/", "https://app.example/?k=v"]
)
def test_a_url_that_may_be_reached_is_taken(url: str) -> None:
    assert read_config(f'[kinds.x]\nurl = "{url}"\n', kinds=()).kinds["x"].url == url


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (URL + "retries = 3\n", "crontick.toml:3: kinds.resize_image.retries: there is no retries"),
        (URL.replace("resize_image", "send_email"), "crontick.toml:2: kinds.send_email.url: a kind of this name has"),
        (URL.replace("resize_image", '"Resize Image"'), "crontick.toml:1: kinds.Resize Image: is no name of a kind"),
        (URL + "url = 3\n", "crontick.toml:3: "),
        (URL + 'timeout = "16m"\n', "at most 900 s"),
    ],
)
def test_a_kind_at_a_url_that_cannot_be_one_is_told_with_its_line(text: str, said: str) -> None:
    assert any(said in sentence for sentence in faults(text, kinds={"send_email"})), faults(text, kinds={"send_email"})


def test_a_kind_at_a_url_can_be_named_like_any_other() -> None:
    config = read_config(URL + REMINDER.replace("send_email", "resize_image"), kinds=())
    assert config.reminder[0].kind == "resize_image"


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    path = tmp_path / "crontick.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="cannot be read as text in UTF-8"):
        load_config(path)
    with pytest.raises(ConfigError, match="FileNotFoundError"):
        load_config(tmp_path / "none.toml")


def test_the_name_of_the_file_stands_before_the_line(tmp_path: Path) -> None:
    path = tmp_path / "other.toml"
    path.write_text("strict_kinds = 0")
    with pytest.raises(ConfigError, match=r"other\.toml:1: strict_kinds"):
        load_config(path)
