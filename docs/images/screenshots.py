"""Screenshots of the start page, the control panel and the reference page, for the README."""

import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, "tests/browser")

from server import Server  # noqa: E402

FOLDER = Path("docs/images")

# Owner, label, scopes and days until expiry.
TOKENS = [
    ("alice", "laptop", "all", "90"),
    ("bob", "feed reader", "forums:read,threads:read,posts:read", ""),
    ("carol", "mobile app", "all", "30"),
    ("mod", "spam filter", "posts:read,posts:write,search:read", "365"),
    ("admin", "weekly statistics", "forums:read,members:read", "7"),
]


def take(browser: Browser, server: Server, folder: Path) -> None:
    """Takes each screenshot of a new demo board."""
    for owner, label, scopes, days in TOKENS:
        expiry = ["--expires-in-days", days] if days else []
        server.command(
            "token", "issue", "--owner", owner, "--label", label, "--scopes", scopes, *expiry,
            "--password-stdin", given=f"{server.password}\n",
        )
    for scheme in ("light", "dark"):
        page = browser.new_page(base_url=server.address, color_scheme=scheme)
        panel(page, server.password, folder / f"panel-{scheme}.png")
        reference(page, folder / f"reference-{scheme}.png")
        page.context.close()
    page = browser.new_page(base_url=server.address)
    forum(page, server.token, folder)
    page.context.close()


def main(program: str) -> None:
    with Server(program) as server, sync_playwright() as playwright:
        # The sandbox of Chromium is not available to root.
        chromium = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        take(chromium, server, FOLDER)
        chromium.close()


def panel(page: Page, password: str, picture: Path) -> None:
    page.set_viewport_size({"width": 1100, "height": 720})
    page.goto("/panel/tokens")
    page.get_by_label("Username", exact=True).fill("admin")
    page.get_by_label("Password", exact=True).fill(password)
    page.locator("main button[type=submit]").click()
    page.get_by_text("spam filter", exact=True).first.wait_for()
    page.screenshot(path=picture)


def forum(page: Page, token: str, folder: Path) -> None:
    """A thread with a member's vote, and its requests, in both schemes."""
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto("/#/threads/16")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Use token").click()
    page.get_by_label("Green tea").check()
    page.get_by_role("button", name="Vote").click()
    page.get_by_text("your vote").wait_for()
    page.goto("/#/")
    page.get_by_role("heading", name="Forums").wait_for()
    page.goto("/#/threads/16")
    page.get_by_text("your vote").wait_for()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=folder / f"forum-{scheme}.png")


def reference(page: Page, picture: Path) -> None:
    page.set_viewport_size({"width": 1440, "height": 943})
    page.goto("/docs#listPosts")
    page.locator("nav a[aria-current]", has_text="List posts").wait_for()
    page.screenshot(path=picture)


if __name__ == "__main__":
    main(sys.argv[1])
