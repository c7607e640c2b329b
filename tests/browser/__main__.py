"""Runs all parts, or only the parts that are named after the example server's program."""

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from time import monotonic

from playwright.sync_api import Browser, expect, sync_playwright

import cors
import forged
import pages
import reader
import reference
import samples
import script
import token_and_webhook_workflow
import usage
from receiver import Receiver
from server import Server
from watch import Window

PROGRAM, *NAMED = sys.argv[1:]


def workflow(browser: Browser) -> None:
    with Server(PROGRAM) as server, Receiver() as receiver, Window(browser, server.address) as page:
        token_and_webhook_workflow.run(page, server, receiver)


def all_pages(browser: Browser) -> None:
    with Server(PROGRAM) as server, Receiver() as receiver, Window(browser, server.address) as page:
        pages.run(page, server, receiver)


def with_local_times(browser: Browser) -> None:
    with Server(PROGRAM) as server, Window(browser, server.address, timezone_id=script.ZONE) as page:
        script.run(page, server)


def with_requests(browser: Browser) -> None:
    with Server(PROGRAM) as server, Window(browser, server.address) as page:
        usage.run(page, server)


def at_the_reference(browser: Browser) -> None:
    with Server(PROGRAM) as server, Window(browser, server.address) as page:
        reference.run(page, server)


def with_samples(browser: Browser) -> None:
    for language in samples.RUN:
        with Server(PROGRAM) as server, Window(browser, server.address) as page:
            samples.run(page, server, language)


def at_the_start_page(browser: Browser) -> None:
    with Server(PROGRAM) as server:
        with Window(browser, server.address) as page:
            reader.run(page, server)
        reader.without_script(browser, server)
        reader.offline(browser, server)


def with_a_long_name(browser: Browser) -> None:
    name = "Das große Forum für Tee und 茶道 und 漢字の長い名前です"
    with Server(PROGRAM, "--board-name", name, "--accent-color", "#e0a800") as server:
        with Window(browser, server.address) as page:
            reader.frame(page, server, name)


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

PARTS = (
    workflow,
    all_pages,
    with_local_times,
    with_requests,
    at_the_reference,
    with_samples,
    at_the_start_page,
    with_a_long_name,
    with_forged_forms,
    from_other_origins,
)


def run(number: int) -> str:
    """Runs a part in its own browser and returns its name and duration."""
    part, began = PARTS[number], monotonic()
    with sync_playwright() as playwright:
        # The sandbox of Chromium is not available to root.
        chromium = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        part(chromium)
        chromium.close()
    return f"{part.__name__}: {monotonic() - began:.1f} s"


if __name__ == "__main__":
    chosen = [number for number, part in enumerate(PARTS) if not NAMED or part.__name__ in NAMED]
    with ProcessPoolExecutor(2, get_context("fork")) as pool:
        for result in pool.map(run, chosen):
            print(result, flush=True)
