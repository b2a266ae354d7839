"""What is wrong with a report is told at start, with its line."""

import pytest

from crontick.jobs.config import read_config
from crontick.jobs.config_error import ConfigError
from crontick.jobs.settings import Settings, SettingsError
from tests.reports.conftest import SALES


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (SALES.replace('key = "id"\n', ""), "crontick.toml:2: report: "),
        (SALES.replace("from sales", "from sales where id > :least"), "query has :least, and parameters has no least"),
        (SALES + 'parameters = { least = "integer" }', "parameters has least, and query has no :least"),
        (SALES + 'parameters = { started_at = "date" }', "started_at is when the run began"),
        (
            SALES.replace("from sales", "from sales where id > :n") + 'parameters = { n = "bigint" }',
            "report.parameters",
        ),
        (SALES.replace("chunk_rows = 10", "chunk_rows = 0"), "crontick.toml:6: report.chunk_rows: "),
        (SALES + 'format = "xlsx"', "crontick.toml:7: report.format: "),
        (SALES + 'expires = "10s"', "expires is a minute at least"),
        (SALES + SALES, "sales was there before"),
        (SALES.replace('"sales"', '"../sales"'), "crontick.toml:3: report.name: "),
        (SALES + "keys = 1", "there is no keys (did you mean key?)"),
        ("[report]", "must be an array of tables: write [[report]]"),
    ],
)
def test_a_wrong_report_is_refused(config: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_config(config)
    assert said in str(refused.value)


def test_a_colon_that_names_nothing_is_left_alone() -> None:
    query = "select id::text as id, a[1:2], ':x', \\\":y\\\" -- :z\\nfrom sales where at < :started_at"
    assert read_config(SALES.replace("select id, buyer, amount from sales", query)).report[0].parameters == {}


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("https://app.example", "https://app.example"),
        ("https://app.example/crontick/", "https://app.example/crontick"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("", None),
    ],
)
def test_links_begin_with_the_public_url(given: str, read: str | None) -> None:
    assert Settings.from_environ({"CRONTICK_PUBLIC_URL": given}).public_url == read


@pytest.mark.parametrize(
    "given", ["app.example", "ftp://app.example", "https://u:p@app.example", "https://app.example/?a=1", "https://a b"]
)
def test_what_no_link_can_begin_with_is_refused(given: str) -> None:
    with pytest.raises(SettingsError, match="CRONTICK_PUBLIC_URL must be a URL that links can begin with"):
        Settings.from_environ({"CRONTICK_PUBLIC_URL": given})
