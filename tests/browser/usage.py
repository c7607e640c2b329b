"""The usage page with API requests, and the order of the links of each page."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from time import time

from playwright.sync_api import Page, expect

from accessibility import check_page
from panel import go, sign_in
from server import Server

HOUR = 3_600_000


def run(page: Page, server: Server) -> None:
    """Charts have text alternatives, and their numbers are in tables."""
    go(page, "/panel/usage")
    sign_in(page, "admin", server.password)
    order(page)
    fill(server)
    go(page, "/panel/usage")
    expect(page.get_by_role("img", name=re.compile("requests in 24 hours: .* refused, .* failed"))).to_be_visible()
    check_page(page, "usage-requests")
    page.get_by_text("API request counts by interval", exact=True).click()
    expect(page.locator("details[open] tbody tr")).to_have_count(24)
    check_page(page, "usage-requests-tables")
    operations = page.get_by_role("region", name="API requests by operation")
    expect(operations.get_by_role("link", name="getMe")).to_have_attribute("href", "/docs#getMe")
    tokens = page.get_by_role("region", name="API requests by token")
    expect(tokens.get_by_role("cell", name="Guests")).to_be_visible()
    expect(tokens.get_by_role("columnheader", name="Owner")).to_be_visible()


def order(page: Page) -> None:
    """The keyboard reaches the header of all pages before the areas."""
    reached = []
    for _ in range(11):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.innerText"))
    areas = ["Usage", "API tokens", "Webhooks", "Deliveries", "Audit"]
    header = ["Skip to content", "F\nForum", "Board", "API reference", "Panel", "Sign out"]
    assert reached == [*header, *areas], reached


def fill(server: Server) -> None:
    """Adds usage of the last 24 hours to the database of the server."""
    now = int(time()) * 1000 // HOUR * HOUR
    token = server.token.split("_")[2]
    with closing(sqlite3.connect(Path(server.directory.name) / "forum.db", timeout=20)) as database, database:
        for ago in range(24):
            for number, caller in enumerate(("", token), 1):
                requests = (ago * 7 % 11 + 1) * number * 13
                counts = [requests, 2 * requests, ago % 3, ago % 2 * number, number, ago % 4, ago // 8]
                for table, key in (("forum_api_usage", caller), ("forum_api_operation_usage", ("getMe", "search")[number - 1])):
                    row = [now - ago * HOUR, key, *counts]
                    database.execute(f"REPLACE INTO {table} VALUES (?{', ?' * 8})", row)
