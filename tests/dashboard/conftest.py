"""The page over the day of a made-up shop, in one real browser for all tests; each has a database of its own."""

import asyncio
import shutil
from collections.abc import Iterator
from typing import Any, Final

import msgspec
import psycopg
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from crontick.sql.migrate import migrate
from tests.conftest import database_name, made_database
from tests.dashboard.story import tell
from tests.door.serving import ADMIN, SETTINGS, Ticks, app_of, served

KEY: Final = "k1:" + "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVoxMjM0NTY="
PATIENCE_MS: Final = 30_000
"""A busy machine draws a page slowly."""


class Site:
    """Where the page is, and what its database says."""

    def __init__(self, url: str, port: int) -> None:
        self.url = url
        self.home = f"http://127.0.0.1:{port}/dashboard"

    def rows(self, text: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url, autocommit=True) as conn:
            return conn.execute(text.encode(), values or None).fetchall()

    def one(self, text: str, *values: object) -> Any:
        return self.rows(text, *values)[0][0]


@pytest.fixture(scope="session")
def _told(server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with made_database(server) as url:
        with pytest.MonkeyPatch.context() as patch:  # not while it is there: other tests run meanwhile
            patch.setenv("CRONTICK_ENCRYPTION_KEYS", KEY)
            migrate(url, environment="test", test_clock=True)
            asyncio.run(tell(url, tmp_path_factory.mktemp("shop"), KEY))
        yield url


@pytest.fixture
def site(server: str, _told: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("CRONTICK_ENCRYPTION_KEYS", KEY)
    with made_database(server, template=database_name(_told)) as url:
        with served(app_of(Ticks(), msgspec.structs.replace(SETTINGS, database_url=url))) as (_, port):
            yield Site(url, port)


@pytest.fixture(scope="module")
def browser(_told: str) -> Iterator[Browser]:
    """While it is there an event loop runs in this thread: no async test may come between, and the day is over."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("Chromium is not here: apt-get install chromium")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser that knows no cookie yet."""
    made = browser.new_context()
    made.set_default_timeout(PATIENCE_MS)
    yield made
    made.close()


@pytest.fixture
def visitor(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture
def page(visitor: Page, site: Site) -> Page:
    """Somebody who has logged in."""
    visitor.goto(site.home)
    log_in(visitor)
    return visitor


def log_in(page: Page, secret: str = ADMIN, by: str = "ann") -> None:
    page.get_by_label("Your name").fill(by)
    page.get_by_label("Admin secret").fill(secret)
    page.get_by_role("button", name="Log in").click()
