"""The database did it, and its answer was lost: the caller is told to ask again, and asking again does no harm."""

import pytest

from tests.operate.conftest import Api, Operated, app_of, settings_of
from tests.worlds.proxy import Proxy

pytestmark = pytest.mark.anyio
GREET = {"kind": "greet"}


async def test_an_enqueue_whose_answer_was_lost_is_repeated_under_its_key(operated: Operated, proxy: Proxy) -> None:
    api = Api(app_of(settings_of(proxy.url)))
    proxy.lose_next_answer = True
    await api.enqueue(GREET, key="a", status=503)
    [job] = (await operated.rows("select id from crontick.jobs"))[0]
    assert await api.enqueue(GREET, key="a") == {"jobs": [{"id": job, "created": True}]}
    assert await operated.counts() == {"queued": 1}


async def test_a_bulk_action_whose_answer_was_lost_was_done_whole_and_is_not_done_again(
    operated: Operated, proxy: Proxy
) -> None:
    await operated.dead("a", "b", "c")
    api = Api(app_of(settings_of(proxy.url)))
    asked = {"by": "ann", "matching": {}, "confirmed": 3}
    proxy.lose_next_answer = True
    await api.post("/api/jobs/requeue", asked, status=503)
    assert (await api.post("/api/jobs/requeue", asked))["matched"] == 0
    assert await operated.counts() == {"dead": 3, "queued": 3}


async def test_a_database_that_is_away_is_a_503_that_says_when_to_come_again(operated: Operated) -> None:
    api = Api(app_of(settings_of("postgresql://nobody@127.0.0.1:1/none")))
    answer = await api.ask("GET", "/api/jobs")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "15")
    assert "nobody" not in answer.text
    assert await operated.counts() == {}
