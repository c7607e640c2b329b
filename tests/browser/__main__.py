"""Runs the whole afternoon; the one argument is the example server's program."""

import sys
from time import monotonic

from playwright.sync_api import Browser, sync_playwright

import afternoon
from look import look
from receiver import Receiver
from server import Server
from watch import Window

PROGRAM = sys.argv[1]


def with_scripts(browser: Browser) -> None:
    with Server(PROGRAM) as server, Receiver() as receiver, Window(browser, server.address) as page:
        afternoon.spend(page, server, receiver, look)


def without_scripts(browser: Browser) -> None:
    with (
        Server(PROGRAM) as server,
        Receiver() as receiver,
        Window(browser, server.address, java_script_enabled=False) as page,
    ):
        afternoon.spend(page, server, receiver, lambda *_: None)


with sync_playwright() as playwright:
    # Its sandbox cannot be had by root.
    chromium = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    for part in (with_scripts, without_scripts):
        began = monotonic()
        part(chromium)
        print(f"{part.__name__}: {monotonic() - began:.1f} s", flush=True)
    chromium.close()
