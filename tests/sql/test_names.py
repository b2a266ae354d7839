"""A name that nobody knows is refused where it would hold nothing, and told where it may yet come."""

import pytest

from tests.operate.conftest import ADMIN, Api, app_of, settings_of
from tests.sql.conftest import Sql

KINDS = """[
    {"name": "mail", "queue": "post", "priority": 0, "max_attempts": 3, "breaker": false},
    {"name": "charge", "queue": "post", "priority": 0, "max_attempts": 3, "breaker": true}
]"""


@pytest.fixture
def named(sql: Sql) -> Sql:
    """Kinds with and without a breaker, and an endpoint of a configuration beside one of the database."""
    sql.rows("select crontick.sync_deployment('named', '1', %s, false, p_endpoints => '{billing}')", KINDS)
    sql.rows("select crontick.set_endpoint('crm', 'https://crm.example/hooks')")
    return sql


@pytest.mark.parametrize(
    ("target", "said", "mend"),
    [
        ("kind:mail", "the kind mail has no breaker, so nothing would be held", "`crontick pause kind mail` keeps"),
        ("kind:chrage", "no deployment knows the kind chrage", "`crontick migrate`"),
        ("kind:charges", "no deployment knows the kind charges (did you mean charge?)", "`crontick migrate`"),
        ("kind:deliver_webhook", "deliver_webhook has a breaker for each endpoint or URL", "name endpoint:NAME"),
        ("endpoint:crn", "there is no endpoint crn (did you mean crm?)", "`crontick webhook list`"),
        ("endpoint:biling", "there is no endpoint biling (did you mean billing?)", "`crontick webhook list`"),
    ],
)
def test_a_breaker_that_would_hold_nothing_is_not_opened(named: Sql, target: str, said: str, mend: str) -> None:
    refused = named.refused("select crontick.open_breaker(%s, 'ann')", target)
    assert said in (refused.diag.message_primary or "")
    assert mend in (refused.diag.message_hint or "")
    assert named.rows("select from crontick.breakers") == []


@pytest.mark.parametrize("target", ["kind:charge", "endpoint:crm", "endpoint:billing", "https://new.example/hook"])
def test_a_breaker_of_what_is_known_and_of_any_url_opens(named: Sql, target: str) -> None:
    named.rows("select crontick.open_breaker(%s, 'ann')", target)
    assert named.rows("select target, state from crontick.breakers") == [(target, "open")]


@pytest.mark.parametrize("name", ["crm", "billing"])
def test_a_known_endpoint_is_paused(named: Sql, name: str) -> None:
    named.rows("select crontick.pause('endpoint', %s, 'ann')", name)
    assert named.one("select name from crontick.paused") == name


@pytest.mark.parametrize("what", ["endpoint", "schedule"])
def test_what_has_to_be_declared_first_is_not_paused_before(named: Sql, what: str) -> None:
    refused = named.refused("select crontick.pause(%s, 'crmm', 'ann')", what)
    assert (refused.sqlstate, f"there is no {what} crmm" in str(refused)) == ("CT404", True)
    assert named.rows("select from crontick.paused") == []


@pytest.mark.parametrize(
    ("what", "name", "said"),
    [
        ("kind", "mial", "no deployment knows the kind mial"),
        ("kind", "chargee", "no deployment knows the kind chargee (did you mean charge?)"),
        ("queue", "posts", "no kind, schedule or unfinished job has the queue posts (did you mean post?)"),
    ],
)
def test_what_may_yet_come_is_paused_with_a_warning(named: Sql, what: str, name: str, said: str) -> None:
    named.rows("select crontick.pause(%s, %s, 'ann')", what, name)
    assert named.notices == [f"WARNING: paused, but {said}"]
    assert named.one("select name from crontick.paused") == name


def test_a_queue_that_only_a_job_has_is_known(named: Sql) -> None:
    named.enqueue(queue="slow", run_at="2035-01-01T00:00Z")
    for what, name in (("queue", "slow"), ("queue", "post"), ("kind", "mail"), ("group", "anything"), ("all", "")):
        named.rows("select crontick.pause(%s, %s, 'ann')", what, name)
    assert named.notices == []


async def test_the_api_hands_on_the_warning_and_the_refusal(named: Sql, database: str) -> None:
    api = Api(app_of(settings_of(database)))
    body = {"by": "ann", "what": "queue", "name": "posts"}
    assert "(did you mean post?): `crontick resume queue posts`" in (await api.post("/api/pause", body))["warning"]
    assert (await api.post("/api/pause", {**body, "name": "post"}))["warning"] is None
    answer = await api.ask("POST", "/api/breakers/open", ADMIN, json={"target": "endpoint:crn", "by": "ann"})
    assert (answer.status_code, "did you mean crm?" in answer.text) == (404, True)
