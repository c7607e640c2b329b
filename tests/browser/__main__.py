"""Runs all parts in Chromium, and parts in Firefox, or only the parts that are named after the example server's program."""

import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from time import monotonic

from playwright.sync_api import Browser, Playwright, expect, sync_playwright

import accessibility
import cors
import forged
import pages
import phone
import pictures
import reader
import reference
import samples
import script
import session
import token_and_webhook_workflow
import usage
from receiver import Receiver
from server import Server
from watch import Window

PROGRAM, *NAMED = sys.argv[1:]

Part = Callable[[Browser], None]
Preferences = Mapping[str, int]


def workflow(browser: Browser) -> None:
    with Server(PROGRAM) as server, Receiver() as receiver, Window(browser, server.address) as page:
        token_and_webhook_workflow.run(page, server, receiver)


def all_pages(browser: Browser) -> None:
    with Server(PROGRAM) as server, Receiver() as receiver, Window(browser, server.address) as page:
        pages.run(page, server, receiver)


def with_local_times(browser: Browser) -> None:
    with Server(PROGRAM) as server, Window(browser, server.address, timezone_id=script.ZONE) as page:
        script.run(page, server)


def at_the_end_of_a_session(browser: Browser) -> None:
    with Server(PROGRAM) as server, Window(browser, server.address) as page:
        session.run(page, server)


def with_requests(browser: Browser) -> None:
    with Server(PROGRAM) as server, Window(browser, server.address) as page:
        usage.run(page, server)


def at_the_reference(browser: Browser) -> None:
    with Server(PROGRAM) as server:
        with Window(browser, server.address) as page:
            reference.run(page, server)
        reference.offline(browser, server)


def with_samples(browser: Browser) -> None:
    for language in samples.RUN:
        with Server(PROGRAM) as server, Window(browser, server.address) as page:
            samples.run(page, server, language)


def at_the_start_page(browser: Browser) -> None:
    with Server(PROGRAM) as server:
        with Window(browser, server.address) as page:
            reader.run(page, server)
        reader.offline(browser, server)
        reader.failures(browser, server)


def without_scripts(browser: Browser) -> None:
    with Server(PROGRAM) as server:
        reader.without_script(browser, server)


def on_a_phone(browser: Browser) -> None:
    with Server(PROGRAM) as server:
        phone.run(browser, server)


def on_a_phone_of_chromium(browser: Browser) -> None:
    with Server(PROGRAM) as server:
        phone.large_text(browser, server)
        phone.without_script(browser, server)
        phone.slow_line(browser, server)


def with_a_long_name(browser: Browser) -> None:
    name = "Das große Forum für Tee und 茶道 und 漢字の長い名前です"
    with Server(PROGRAM, "--board-name", name, "--accent-color", "#e0a800") as server:
        with Window(browser, server.address) as page:
            reader.frame(page, server, name)


def for_the_readme(browser: Browser) -> None:
    with Server(PROGRAM) as server:
        pictures.run(browser, server)


def with_forged_forms(browser: Browser) -> None:
    with Server(PROGRAM) as server, Receiver() as receiver:
        page = browser.new_page()
        forged.run(page, server, receiver)
        page.context.close()


def from_other_origins(browser: Browser) -> None:
    with Server(PROGRAM) as other, Server(PROGRAM, "--cors-origin", other.address) as server:
        page = browser.new_page()
        cors.run(page, server, other.address)
        page.context.close()


# Milliseconds. The timeout is long because the machine may be busy.
expect.set_options(timeout=20_000)

# Each part runs in Chromium.
PARTS = (
    workflow,
    all_pages,
    with_local_times,
    at_the_end_of_a_session,
    with_requests,
    at_the_reference,
    with_samples,
    at_the_start_page,
    without_scripts,
    on_a_phone,
    on_a_phone_of_chromium,
    with_a_long_name,
    with_forged_forms,
    from_other_origins,
    for_the_readme,
)

# Preferences that replace the emulation of media, which Playwright does not have for Firefox.
LIGHT = {"layout.css.prefers-color-scheme.content-override": 1}
DARK = {"layout.css.prefers-color-scheme.content-override": 0}
FORCED = {**LIGHT, "browser.display.document_color_use": 2}

# Parts in Firefox with their preferences, or the reason why Firefox does not run them.
FIREFOX: dict[Part, Preferences | str] = {
    workflow: DARK,
    all_pages: "for its time; the other parts open each kind of page",
    with_local_times: LIGHT,
    at_the_end_of_a_session: LIGHT,
    with_requests: LIGHT,
    at_the_reference: LIGHT,
    with_samples: "its programs run outside of the browser",
    at_the_start_page: DARK,
    without_scripts: "Playwright cannot switch scripts off in Firefox",
    on_a_phone: LIGHT,
    on_a_phone_of_chromium: "size of text, slow lines and switching scripts off are those of Chromium",
    with_a_long_name: FORCED,
    with_forged_forms: LIGHT,
    from_other_origins: LIGHT,
    for_the_readme: "the pictures are those of Chromium",
}


def start(playwright: Playwright, preferences: Preferences | None) -> Browser:
    """Starts Firefox with preferences, or Chromium."""
    if preferences is None:
        # The sandbox of Chromium is not available to root.
        return playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    accessibility.SCHEMES[:] = ["dark" if preferences == DARK else "light"]
    accessibility.seen.clear()
    return playwright.firefox.launch(
        channel="moz-firefox",
        executable_path="/usr/bin/firefox-esr",
        firefox_user_prefs={"dom.events.testing.asyncClipboard": True, **preferences},
    )


def run(part: Part, preferences: Preferences | None) -> str:
    """Runs a part in its own browser and returns its name and duration."""
    began = monotonic()
    with sync_playwright() as playwright:
        browser = start(playwright, preferences)
        part(browser)
        browser.close()
    return f"{browser.browser_type.name}, {part.__name__}: {monotonic() - began:.1f} s"


if __name__ == "__main__":
    chosen = [part for part in PARTS if not NAMED or part.__name__ in NAMED]
    for part in chosen:
        if isinstance(reason := FIREFOX[part], str):
            print(f"not in firefox, {part.__name__}: {reason}")
    for (browser, path), reason in accessibility.NOT_CHECKED.items():
        print(f"not in {browser}, axe at {path}: {reason}")
    runs: list[tuple[Part, Preferences | None]] = [(part, None) for part in chosen]
    runs += [(part, preferences) for part in chosen if not isinstance(preferences := FIREFOX[part], str)]
    with ProcessPoolExecutor(2, get_context("fork")) as pool:
        for result in pool.map(run, *zip(*runs)):
            print(result, flush=True)
