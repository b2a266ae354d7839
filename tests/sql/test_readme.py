"""What README shows of order does as it says there."""

import re
from pathlib import Path

from tests.sql.conftest import Sql

README = (Path(__file__).parents[2] / "README.md").read_text()


def test_the_examples_of_order_give_one_job_for_each_key_and_two_for_the_group(sql: Sql) -> None:
    [example] = re.findall(r"## Keep an order\n\n```sql\n(.*?)```", README, re.DOTALL)
    for _ in range(2):
        sql.rows(example)
    counts = sql.rows(
        "select kind, count(*), count(unique_key), count(group_key) from crontick.jobs group by 1 order by 1"
    )
    assert counts == [("reindex", 1, 1, 0), ("send_digest", 1, 1, 0), ("sync_invoice", 2, 0, 2)]
    assert sql.one("select count(*) from crontick.jobs where kind = 'reindex' and run_at > crontick.now()") == 1
