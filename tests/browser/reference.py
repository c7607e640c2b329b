"""A client author's session on the reference page."""

import json

from playwright.sync_api import Page, expect

from look import look
from panel import go
from server import Server

METHODS = ("get", "post", "put", "patch", "delete")


def run(page: Page, server: Server) -> None:
    """The page lists every operation and webhook. An operation is executed with a token."""
    go(page, "/docs")
    document = json.loads(server.ask("GET", f"{server.api}/openapi.json").text)
    listed = [*document["paths"].values(), *document["webhooks"].values()]
    operations = sum(method in METHODS for path in listed for method in path)
    expect(page.locator(".opblock")).to_have_count(operations)
    expect(page.get_by_role("heading", level=1)).to_contain_text(document["info"]["title"])
    authorize(page, server.token)
    operation = page.locator(".opblock", has=page.locator(".opblock-summary-path[data-path='/me']"))
    operation.locator(".opblock-summary-control").click()
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("button", name="Execute").click()
    answer = operation.locator(".live-responses-table")
    expect(answer.locator("tbody .response-col_status")).to_have_text("200")
    expect(answer.locator(".highlight-code")).to_contain_text('"username": "alice"')
    look(page, "docs-tried")


def authorize(page: Page, token: str) -> None:
    """Enters a token."""
    page.get_by_role("button", name="Authorize").click()
    dialog = page.locator(".dialog-ux")
    dialog.get_by_role("textbox").fill(token)
    look(page, "docs-authorize")
    dialog.get_by_role("button", name="Apply credentials").click()
    dialog.get_by_role("button", name="Close").last.click()


def without_scripts(page: Page) -> None:
    """Without JavaScript the page links to the document."""
    go(page, "/docs")
    assert "This page needs JavaScript." in page.locator("body").inner_text()
    with page.expect_navigation() as navigation:
        page.locator("noscript a").click()
    assert navigation.value.status == 200
