"""A browser window that checks every request, response, console message and dialog."""

from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request, Response

PANEL = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
DOCS = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; "
    "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)

READER = PANEL.replace("img-src 'self'", "connect-src 'self'; img-src")

# The content security policy of each response, by the first segment of its path. The API sends none.
POLICIES = {"": READER, "reader.js": PANEL, "reader.css": PANEL, "panel": PANEL, "sign-in": PANEL, "sign-out": PANEL, "docs": DOCS}

# The browser logs this for each page with a status of 4xx. The tasks assert the statuses themselves.
REFUSED = "Failed to load resource: the server responded with a status of 4"


# Firefox reports violations of the policy to the page only.
VIOLATIONS = "addEventListener('securitypolicyviolation', event => console.error(event.violatedDirective, event.blockedURI))"


class Window:
    """An isolated browser window. Closing it fails if a page broke a rule."""

    def __init__(self, browser: Browser, address: str, **options: Any) -> None:
        self.address, self.faults = address, list[str]()
        # In Firefox, a preference permits the clipboard.
        if browser.browser_type.name == "chromium":
            options["permissions"] = ["clipboard-read", "clipboard-write"]
        self.context = browser.new_context(base_url=address, locale="en-GB", **options)
        self.context.add_init_script(VIOLATIONS)
        self.context.set_default_timeout(20_000)
        self.context.on("request", self._on_request)
        self.context.on("response", self._on_response)
        self.context.on("console", self._on_console)
        self.context.on("weberror", lambda error: self.faults.append(f"{error.error}"))
        self.context.on("dialog", self._on_dialog)
        self.page: Page = self.context.new_page()

    def __enter__(self) -> Page:
        return self.page

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind:
            print("at", self.page.url, "\n", self.page.locator("body").inner_text()[:2000])
        self.context.close()
        assert kind or not self.faults, self.faults

    def _on_dialog(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith((f"{self.address}/", "data:image/svg+xml,")):
            self.faults.append(f"request to another host: {request.url}")

    def _on_response(self, response: Response) -> None:
        area = urlsplit(response.url).path.split("/")[1]
        found = response.headers.get("content-security-policy")
        if found != POLICIES.get(area):
            self.faults.append(f"{response.url} has the policy {found}")

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(REFUSED):
            self.faults.append(f"{message.type} at {message.page and message.page.url}: {message.text}")
