"""What docs/waking.md tells beside its configurations: the trigger of plain SQL, and every setting."""

import re
from typing import Any

import psycopg
import pytest

from crontick.jobs.outward_sections import WakeSettings
from tests.wake.services import DOCUMENT

PG_NET = """
create schema net;
create table net.sent (url text, body jsonb, headers jsonb);
create function net.http_post(url text, body jsonb, headers jsonb) returns bigint language sql as
'insert into net.sent values ($1, $2, $3) returning 1';
create schema vault;
create view vault.decrypted_secrets as select 'cron_secret' as name, 'of-the-test' as decrypted_secret;
"""


def test_the_trigger_calls_once_a_transaction(sync_conn: psycopg.Connection[Any]) -> None:
    sync_conn.execute(PG_NET)
    [trigger] = re.findall(r"```sql\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    sync_conn.execute(trigger.encode())
    many = '[{"kind": "note"}, {"kind": "note"}, {"kind": "note"}]'
    for _ in range(2):
        sync_conn.execute("select crontick.enqueue_many(%s)", (many,))
    sent = sync_conn.execute("select url, body ->> 'trigger', headers ->> 'Authorization' from net.sent").fetchall()
    assert sent == [("https://app.example/cron/tick", "pg_net", "Bearer of-the-test")] * 2


@pytest.mark.parametrize("setting", WakeSettings.__struct_fields__)
def test_each_setting_is_told(setting: str) -> None:
    assert re.search(rf"\b{setting}\b", DOCUMENT.read_text()), setting
