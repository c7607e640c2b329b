"""Checks a page in light and dark mode, at desktop and phone size."""

from itertools import product
from os import environ
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize

DESKTOP, PHONE = ViewportSize(width=1280, height=900), ViewportSize(width=360, height=740)

Scheme = Literal["light", "dark"]
# The schemes in which pages are checked. Firefox only has the one that it was started with.
SCHEMES: list[Scheme] = ["light", "dark"]
SIZES = {"desktop": DESKTOP, "phone": PHONE}

# Browsers and paths of pages that axe does not check, with the reason.
NOT_CHECKED = {("firefox", "/docs"): "a check takes 50 s"}

# All rules for WCAG 2.2 AA, some of which are off by default, and the best practices of axe.
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RULES = {"runOnly": {"type": "tag", "values": STANDARDS}, "resultTypes": ["violations"]}

seen = set[str]()


def check_page(page: Page, name: str) -> None:
    """Checks that a page has no accessibility violation and fits the screen. Checks each page name once."""
    if name in seen:
        return
    seen.add(name)
    page.wait_for_load_state()
    for (kind, size), scheme in product(SIZES.items(), SCHEMES):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        photograph(page, f"{name}-{kind}-{scheme}")
        assert fits(page), f"{name} is wider than a {kind}: {too_wide(page)}"
        faults = barriers(page)
        assert not faults, [(name, kind, scheme, fault["id"], fault["nodes"][:3]) for fault in faults]
    page.set_viewport_size(DESKTOP)
    page.emulate_media(color_scheme="light")


def barriers(page: Page) -> list[Any]:
    if page.context.browser and (page.context.browser.browser_type.name, urlsplit(page.url).path) in NOT_CHECKED:
        return []
    return list(Axe().run(page, options=RULES).response["violations"])


def fits(page: Page) -> bool:
    whole = "element => element.scrollWidth <= element.clientWidth"
    return bool(page.evaluate(f"[...document.querySelectorAll('html, #main')].every({whole})"))


def too_wide(page: Page) -> object:
    """Returns the tags of elements that exceed the screen."""
    beyond = "element => element.getBoundingClientRect().right > innerWidth + 1"
    tags = f"[...document.body.querySelectorAll('*')].filter({beyond}).map(element => element.outerHTML.slice(0, 120))"
    return page.evaluate(tags)


def photograph(page: Page, name: str) -> None:
    folder = environ.get("SCREENSHOTS")
    if folder and page.context.browser:
        browser = page.context.browser.browser_type.name
        page.screenshot(path=Path(folder) / f"{name}-{browser}.png", full_page=True)
