"""A browser's windows, of which every request, answer and complaint is watched."""

from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request, Response

PANEL = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
DOCS = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)

# The policy of each answer, by where it is.
POLICIES = {"panel": PANEL, "sign-in": PANEL, "sign-out": PANEL, "docs": DOCS}

# A browser says this of each page whose status is none of success; each task asserts the status that it gets.
REFUSED = "Failed to load resource: the server responded with a status of 4"


class Window:
    """A window of a browser that knows nothing of others; what it may not do is found when it is closed."""

    def __init__(self, browser: Browser, address: str, **options: Any) -> None:
        self.address, self.faults = address, list[str]()
        self.context = browser.new_context(base_url=address, locale="en-GB", **options)
        self.context.set_default_timeout(20_000)
        self.context.on("request", self._asked)
        self.context.on("response", self._answered)
        self.context.on("console", self._said)
        self.context.on("weberror", lambda error: self.faults.append(f"{error.error}"))
        self.context.on("dialog", self._asks)
        self.page: Page = self.context.new_page()

    def __enter__(self) -> Page:
        return self.page

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind:
            print("at", self.page.url, "\n", self.page.locator("body").inner_text()[:2000])
        self.context.close()
        assert kind or not self.faults, self.faults

    def _asks(self, dialog: Dialog) -> None:
        self.faults.append(f"a dialog says: {dialog.message}")
        dialog.dismiss()

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((f"{self.address}/", "data:,")):
            self.faults.append(f"another host was asked: {request.url}")

    def _answered(self, response: Response) -> None:
        area = urlsplit(response.url).path.split("/")[1]
        found = response.headers.get("content-security-policy")
        if found != POLICIES.get(area):
            self.faults.append(f"{response.url} has the policy {found}")

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(REFUSED):
            self.faults.append(f"{message.type} at {message.page and message.page.url}: {message.text}")
