"""The pictures of docs/dashboard.md are made by this run: `make pictures` puts them there."""

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.dashboard.conftest import Site

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "pictures"
KEPT = os.environ.get("TESTS_PICTURES") == "1"
PICTURES = {
    "overview": ("", 1120, 900, "light"),
    "job-phone": ("/jobs/{job}", 390, 844, "light"),
    "dead-letters-dark": ("/dead?error=being+maintained", 960, 520, "dark"),
}
BYTES_AT_MOST = 150_000


@pytest.mark.parametrize("name", PICTURES)
def test_a_page_has_its_picture(page: Page, site: Site, name: str, tmp_path: Path) -> None:
    site.rows("update crontick.installation set environment = 'production' returning 1")
    path, width, height, scheme = PICTURES[name]
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    job = site.one("select min(id) from crontick.dead_letters where kind = 'charge_card'")
    page.goto(site.home + path.format(job=job))
    file = (FOLDER if KEPT else tmp_path) / f"{name}.png"
    page.screenshot(path=file)
    assert file.stat().st_size < BYTES_AT_MOST


def test_the_pictures_that_are_shown_are_those_that_are_made() -> None:
    shown = re.findall(r"\]\(pictures/([a-z-]+)\.png\)", (ROOT / "docs" / "dashboard.md").read_text())
    assert sorted(shown) == sorted(PICTURES) == sorted(path.stem for path in FOLDER.glob("*.png"))
