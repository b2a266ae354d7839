"""What somebody on call does, in a real browser; and what others try."""

import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from crontick.handler.dashboard.session import COOKIE, LASTS_SECONDS, Sessions
from tests.dashboard.acme import SCRIPT
from tests.dashboard.conftest import Site, log_in
from tests.door.serving import ADMIN

AXE = Path(__file__).parent / "axe" / "node_modules" / "axe-core" / "axe.min.js"
PAGES = (
    *(
        "",
        "/jobs",
        "/alerts",
        "/dead",
        "/doubts",
        "/schedules",
        "/reminders",
        "/endpoints",
        "/limits",
        "/groups",
        "/pauses",
    ),
    *("/reports", "/ticks", "/audit"),
)


def test_an_error_is_searched_and_its_job_opened(page: Page) -> None:
    page.get_by_role("navigation").get_by_role("link", name="Jobs").click()
    page.get_by_label("Text in the error").fill("BEING MAINTAINED")
    page.get_by_role("button", name="Search").click()
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(10)
    expect(rows.first).to_contain_text("503 from crm.example")
    rows.first.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("sync_to_crm")
    expect(page.locator(".why")).to_contain_text("dead since")
    expect(page.get_by_role("table", name="Attempts that are kept")).to_contain_text("github-actions")


def test_dead_letters_of_one_error_are_requeued_together_after_a_preview(page: Page, site: Site) -> None:
    page.goto(f"{site.home}/dead")
    page.get_by_role("link", name="10 jobs").click()
    page.get_by_role("button", name="Requeue").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Requeue 10 dead letters?")
    assert site.one("select count(*) from crontick.dead_letters where kind = 'sync_to_crm'") == 10
    page.get_by_label("Copies that come due a minute").fill("60")
    page.get_by_label("Reason").fill("the CRM is back")
    page.get_by_role("button", name="Requeue 10 jobs").click()
    expect(page.get_by_role("status")).to_contain_text("10 of 10 dead letters requeued.")
    asked = "select distinct by, reason from crontick.audit where action = 'requeue'"
    assert site.rows(asked) == [("ann", "the CRM is back")]
    spread = (
        "select extract(epoch from max(run_at) - min(run_at))::int from crontick.jobs where requeued_from is not null"
    )
    assert site.one(spread) == 9


def test_no_more_is_done_than_was_shown(page: Page, site: Site) -> None:
    page.goto(f"{site.home}/dead?error=declined")
    page.get_by_role("button", name="Ignore").click()
    page.get_by_label("Why nothing has to be done").fill("they paid by invoice")
    site.rows("update crontick.finished_jobs set last_error = 'declined' where kind = 'sync_to_crm' returning id")
    page.get_by_role("button", name="Ignore 2 jobs").click()
    expect(page.locator(".wrong")).to_contain_text("12 jobs match, and 2 were confirmed: nothing was done")


def test_those_that_are_ticked_are_ignored_with_a_reason(page: Page, site: Site) -> None:
    page.goto(f"{site.home}/dead")
    page.get_by_role("link", name="10 jobs").click()
    ticked = [int(box.get_attribute("value") or 0) for box in page.locator("td input[type=checkbox]").all()[:2]]
    for job in ticked:
        page.get_by_label(f"Job {job}", exact=True).check()
    page.get_by_role("button", name="Ignore").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Ignore 2 dead letters?")
    page.get_by_role("button", name="Ignore 2 jobs").click()  # the browser asks for the reason first
    expect(page.get_by_role("heading", level=1)).to_have_text("Ignore 2 dead letters?")
    page.get_by_label("Why nothing has to be done").fill("test orders")
    page.get_by_role("button", name="Ignore 2 jobs").click()
    expect(page.get_by_role("status")).to_contain_text("2 of 2 dead letters ignored.")
    ignored = "select id, resolved_by, resolved_reason from crontick.jobs where resolution = 'ignored' order by id desc"
    assert site.rows(ignored) == [(job, "ann", "test orders") for job in ticked]


def test_a_dead_job_is_requeued_with_another_payload_and_keeps_its_secret(page: Page, site: Site) -> None:
    dead = site.one("select min(id) from crontick.dead_letters where kind = 'charge_card'")
    page.goto(f"{site.home}/jobs/{dead}")
    expect(page.locator("pre").first).to_contain_text('"note": "•••"')
    assert "4000-0000" not in page.content()
    page.get_by_text("Requeue with another payload").click()
    assert page.get_by_label("Payload, as JSON").input_value() == '{\n  "note": "•••",\n  "order_id": 20\n}'
    page.get_by_label("Payload, as JSON").fill('{"order_id": 4711, "note": "•••"}')
    page.get_by_role("button", name="Requeue with this payload").click()
    expect(page.get_by_role("status")).to_contain_text(f"Job {dead} is requeued as job")
    expect(page.locator("pre").first).to_contain_text('"order_id": 4711')
    payload = site.one("select payload::text from crontick.jobs where requeued_from = %s", dead)
    assert "$sealed" in payload
    assert "•••" not in payload


def test_a_payload_that_is_no_json_is_refused_in_a_sentence(page: Page, site: Site) -> None:
    dead = site.one("select min(id) from crontick.dead_letters where kind = 'charge_card'")
    page.goto(f"{site.home}/jobs/{dead}")
    page.get_by_text("Requeue with another payload").click()
    page.get_by_label("Payload, as JSON").fill('{"order_id": ')
    page.get_by_role("button", name="Requeue with this payload").click()
    expect(page.locator(".wrong")).to_contain_text("the payload is no JSON")
    assert site.one("select resolution from crontick.jobs where id = %s", dead) is None


def test_a_queue_is_paused_and_resumed(page: Page, site: Site) -> None:
    page.goto(f"{site.home}/pauses")
    page.get_by_label("named").fill("mail")
    page.get_by_label("Reason, for the audit", exact=True).fill("the provider is down")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("status")).to_have_text("queue mail: paused.")
    row = page.get_by_role("row").filter(has_text="the provider is down")
    row.locator("summary").click()
    row.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("status")).to_have_text("queue mail: resumed.")
    assert site.rows("select action, by from crontick.audit where target = 'queue mail' order by id") == [
        ("pause", "ann"),
        ("resume", "ann"),
    ]


def test_a_schedule_is_run_now(page: Page, site: Site) -> None:
    page.goto(f"{site.home}/schedules")
    page.locator("summary", has_text="Run now").click()
    page.get_by_role("button", name="Run now").click()
    expect(page.get_by_role("status")).to_contain_text("is due at once")
    assert site.one("select kind from crontick.jobs order by id desc limit 1") == "send_receipt"


def test_a_doubt_is_decided(page: Page, site: Site) -> None:
    page.goto(f"{site.home}/doubts")
    page.locator("summary", has_text="It was sent").click()
    page.get_by_role("button", name="It was sent").click()
    expect(page.get_by_role("status")).to_contain_text("was sent.")
    assert site.rows("select state from crontick.markers where kind = 'announce'") == [("sent",)]


def test_an_alert_is_silenced_and_told_again(page: Page, site: Site) -> None:
    page.goto(f"{site.home}/alerts")
    row = page.get_by_role("row").filter(has_text="nobody knows whether")
    row.locator("summary").click()
    row.get_by_label("For so many hours").fill("2")
    row.get_by_role("button", name="Silence").click()
    expect(page.get_by_role("status")).to_have_text("doubts:announce: silent for 2 h.")
    page.locator("summary", has_text="Tell again").click()
    page.get_by_role("button", name="Tell again").click()
    expect(page.get_by_role("status")).to_have_text("doubts:announce: told again.")
    assert site.one("select count(*) from crontick.alert_silences where until > crontick.now()") == 0


def test_a_breaker_is_closed(page: Page, site: Site) -> None:
    page.goto(f"{site.home}/endpoints")
    page.locator("summary", has_text="Close").click()
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("status")).to_contain_text("endpoint:crm: called again")
    assert site.one("select count(*) from crontick.breakers where state <> 'closed'") == 0


def test_a_failed_job_is_hurried_and_a_queued_one_cancelled(page: Page, site: Site) -> None:
    failed = site.one("select id from crontick.jobs where status = 'failed' and group_key is not null")
    page.goto(f"{site.home}/jobs/{failed}")
    page.locator("summary", has_text="Run now").click()
    page.get_by_role("button", name="Run now").click()
    expect(page.get_by_role("status")).to_contain_text(f"Job {failed} has its time now")
    page.locator("summary", has_text="Cancel").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("status")).to_have_text(f"Job {failed} is cancelled.")


def test_what_a_payload_and_an_error_say_is_text_and_nothing_else(page: Page, site: Site) -> None:
    """Were it markup, the policy would still forbid the script; but there is no such element to forbid."""
    for job in (
        site.one("select min(id) from crontick.dead_letters where kind = 'charge_card'"),
        site.one("select max(id) from crontick.jobs where status = 'queued' and kind = 'send_receipt'"),
    ):
        page.goto(f"{site.home}/jobs/{job}")
        expect(page.get_by_text(SCRIPT).first).to_be_visible()
        assert page.locator("[onclick]").count() == 0
        assert page.locator("script").count() == 1
        assert page.title() == f"Job {job} · crontick"
    page.goto(f"{site.home}/jobs?error={SCRIPT}&kind=%22%3E%3Cb%3E")
    assert page.get_by_label("Text in the error").input_value() == SCRIPT
    assert page.locator("main b").count() == 0


def test_a_wrong_secret_stays_outside_and_the_right_one_comes_in_and_goes(visitor: Page, site: Site) -> None:
    visitor.goto(f"{site.home}/dead")
    log_in(visitor, "not the secret")
    expect(visitor.get_by_role("alert")).to_contain_text("is not CRONTICK_ADMIN_SECRET")
    log_in(visitor)
    expect(visitor.get_by_role("heading", level=1)).to_have_text("Dead letters")
    visitor.get_by_role("button", name="Log out").click()
    expect(visitor.get_by_role("heading", level=1)).to_have_text("Log in")
    visitor.goto(f"{site.home}/dead")
    expect(visitor.get_by_role("heading", level=1)).to_have_text("Log in")


def test_a_cookie_that_has_expired_leads_to_the_login_and_back(page: Page, context: BrowserContext, site: Site) -> None:
    before = Sessions((ADMIN,), clock=lambda: time.time() - LASTS_SECONDS).login(ADMIN, "ann") or ""
    value = before.partition("=")[2].partition(";")[0]
    context.add_cookies([{"name": COOKIE, "value": value, "domain": "127.0.0.1", "path": "/dashboard", "secure": True}])
    page.goto(f"{site.home}/schedules")
    expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
    log_in(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Schedules")


def test_a_form_on_another_site_does_nothing(page: Page, site: Site) -> None:
    other = site.home.replace("127.0.0.1", "localhost")
    page.goto(f"{other}/static/mark.svg")  # another site, as browsers see it, where a form can stand
    page.goto("about:blank")
    page.set_content(
        f'<form method="post" action="{site.home}/pauses/pause">'
        '<input name="what" value="all"><button>win</button></form>'
    )
    page.get_by_role("button").click()
    page.wait_for_url(f"{site.home}/pauses/pause")
    expect(page.locator(".wrong")).to_be_visible()
    assert site.one("select count(*) from crontick.pauses where what = 'all'") == 0


def test_a_link_on_another_site_leads_to_its_page(page: Page, site: Site) -> None:
    """Its request brings no cookie that is SameSite=Strict: alerts would lead to the login each time."""
    other = f"{site.home.replace('127.0.0.1', 'localhost')}/login"
    page.goto(other)
    page.set_content(f'<a href="{site.home}/dead">out</a>')
    page.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Dead letters")


def test_all_of_it_works_with_scripts_off(browser: Browser, site: Site) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site.home)
    log_in(page)
    page.goto(f"{site.home}/dead")
    page.get_by_role("link", name="2 jobs").click()
    page.get_by_role("button", name="Requeue").click()
    page.get_by_role("button", name="Requeue 2 jobs").click()
    expect(page.get_by_role("status")).to_contain_text("2 of 2 dead letters requeued")
    page.goto(f"{site.home}/schedules")
    page.locator("summary", has_text="Pause").click()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("status")).to_have_text("schedule nightly_receipts: paused.")
    context.close()


def test_all_boxes_of_a_page_are_ticked_at_once(page: Page, site: Site) -> None:
    page.goto(f"{site.home}/dead?error=being+maintained")
    page.get_by_label("All of this page").check()
    assert page.locator("td input:checked").count() == 10


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_serious_fault_of_accessibility(page: Page, site: Site, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    dead = site.one("select min(id) from crontick.dead_letters where kind = 'charge_card'")
    asked = [*PAGES, f"/jobs/{dead}", "/dead?error=declined", "/login", "/nowhere"]
    found = {path: _faults(page, f"{site.home}{path}") for path in asked}
    assert {path: faults for path, faults in found.items() if faults} == {}


def test_no_page_scrolls_sideways_on_a_small_phone(page: Page, site: Site) -> None:
    page.set_viewport_size({"width": 360, "height": 640})
    dead = site.one("select min(id) from crontick.dead_letters where kind = 'charge_card'")
    for path in (*PAGES, f"/jobs/{dead}", "/dead?error=declined", "/login"):
        page.goto(f"{site.home}{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
    page.goto(site.home)
    page.get_by_text("Menu", exact=True).click()
    page.get_by_role("link", name=re.compile("Dead letters")).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Dead letters")


def test_the_keyboard_reaches_the_content_and_every_decision(page: Page, site: Site) -> None:
    page.goto(f"{site.home}/schedules")
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("To the content")
    page.keyboard.press("Enter")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "SUMMARY":
            break
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("by hand")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("is due at once")


def _faults(page: Page, url: str) -> list[str]:
    if not AXE.exists():
        pytest.skip("axe-core is not here: npm ci --prefix tests/dashboard/axe")
    page.goto(url)
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run()")
    return [
        f"{one['id']}: {node['html'][:120]} {node['failureSummary']}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]
