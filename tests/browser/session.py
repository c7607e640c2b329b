"""The end of a session: while a form is open, and by signing out."""

import re

from playwright.sync_api import Page, expect

from panel import fill_in_token, go, send, sign_in
from server import Server


def run(page: Page, server: Server) -> None:
    """A form without a session leads back to its page. Signing out leaves no page behind."""
    go(page, "/panel/tokens/new")
    sign_in(page, "admin", server.password)
    fill_in_token(page, server.password)
    page.context.clear_cookies()
    send(page, "Create token", 200)
    expect(page.get_by_role("status")).to_contain_text("Your session has ended.")
    sign_in(page, "admin", server.password)
    expect(page).to_have_url(re.compile("/panel/tokens/new$"))
    go(page, "/panel/tokens")
    expect(page.get_by_role("link", name="first steps", exact=True)).to_be_visible()
    send(page, "Sign out", 200)
    page.go_back()
    expect(page.get_by_label("Username", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="first steps", exact=True)).to_have_count(0)
