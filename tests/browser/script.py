"""The script of the control panel: copy buttons and local times."""

from datetime import datetime, timezone
from zoneinfo import ZoneInfo

from playwright.sync_api import Page, expect

from panel import fill_in_token, go, revealed, send, sign_in
from server import Server

# Time zone of the browser. It is never UTC.
ZONE = "America/New_York"


def run(page: Page, server: Server) -> None:
    """A token is copied with a button. Times are local, and their titles are in UTC."""
    token = issue(page, server)
    page.get_by_role("button", name="Copy token").click()
    expect(page.get_by_text("Copied", exact=True)).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == token
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})")
    expect(page.get_by_text("Copied", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Copy token").click()
    expect(page.get_by_text("Copied", exact=True)).to_be_visible()
    expect(page.get_by_text("Copied", exact=True)).to_have_count(0)
    refused = "{value: {writeText: () => Promise.reject()}, configurable: true}"
    page.evaluate(f"Object.defineProperty(navigator, 'clipboard', {refused})")
    page.get_by_role("button", name="Copy token").click()
    expect(page.get_by_text("Not copied: press Ctrl+C", exact=True)).to_be_visible()
    assert page.evaluate("getSelection().toString()") == token
    go(page, "/panel/audit")
    instant, utc, shown = times(page)
    assert utc == f"{instant:%Y-%m-%d %H:%M:%S} UTC", utc
    local = instant.astimezone(ZoneInfo(ZONE))
    assert shown.startswith(f"{local:%Y-%m-%d %H:%M:%S} ") and not shown.endswith("UTC"), shown
    filters(page)


def filters(page: Page) -> None:
    """A filter shows local times and sends times in UTC."""
    go(page, "/panel/deliveries?from=2026-01-31T12:00")
    begin = page.get_by_label(f"Queued from ({ZONE})", exact=True)
    expect(begin).to_have_value("2026-01-31T07:00")
    begin.fill("2026-07-01T20:30")
    send(page, "Filter", 200)
    assert "from=2026-07-02T00%3A30&to=" in page.url, page.url
    expect(begin).to_have_value("2026-07-01T20:30")


def issue(page: Page, server: Server) -> str:
    """Signs in and issues a token. Returns it."""
    go(page, "/panel/tokens/new")
    sign_in(page, "admin", server.password)
    fill_in_token(page, server.password)
    send(page, "Create token", 200)
    return revealed(page)


def times(page: Page) -> tuple[datetime, str, str]:
    """Returns the first time on the page: its value, its title and its exact text."""
    element = page.locator("main time").first
    instant = datetime.fromisoformat(element.get_attribute("datetime") or "").astimezone(timezone.utc)
    return instant, element.get_attribute("title") or "", element.inner_text()
