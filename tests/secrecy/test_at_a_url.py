"""A kind at a URL may have secret fields: its app gets them in clear, and nobody else does."""

import base64
import json
from pathlib import Path

import pytest

from crontick.jobs.deployment import load_deployment
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from tests.secrecy.conftest import Vault
from tests.secrecy.logins import SECRET
from tests.worlds.http_receiver import Answer, HttpReceiver

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("status", "fate"), [(200, "succeeded"), (422, "dead"), (503, "failed")])
async def test_the_app_gets_it_in_clear_and_no_table_keeps_it(
    vault: Vault, http_receiver: HttpReceiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, fate: str
) -> None:
    monkeypatch.setenv("CRONTICK_SIGNING_SECRET", "whsec_" + base64.b64encode(bytes([7]) * 32).decode())
    path = tmp_path / "crontick.toml"
    path.write_text(f'[kinds.login]\nurl = "{http_receiver.url}/login"\nsecret = ["token"]\n')
    http_receiver.answers.append(Answer(status, json.dumps({"seen": SECRET}).encode()))
    settings = Settings(
        database_url=vault.url,
        environment="test",
        keep_connection_seconds=0,
        encryption_keys=(vault.key,),
        config_path=path,
    )
    job = await vault.one("select crontick.enqueue('login', jsonb_build_object('token', %s::text))", SECRET)
    await run_tick(load_deployment(settings), TickRequest())
    [request] = http_receiver.requests
    assert json.loads(request.body)["payload"] == {"token": SECRET}
    assert (await vault.status(job))[0] == fate
    assert SECRET not in await vault.lying()
