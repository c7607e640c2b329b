"""A client author's session on the reference page."""

import json
import re
from collections.abc import Callable

from playwright.sync_api import Browser, Locator, Page, Route, expect

from accessibility import DESKTOP, PHONE, barriers, check_page
from panel import go
from reader import held
from server import Server

METHODS = ("get", "post", "put", "patch", "delete")


def run(page: Page, server: Server) -> None:
    """The page lists every operation and webhook. A client author finds one, reads samples and sends requests."""
    go(page, "/docs")
    document = json.loads(server.ask("GET", f"{server.api}/openapi.json").text)
    every_operation(page, document)
    search(page)
    samples(page, server)
    requests(page, server)
    links(page)
    on_a_phone(page)
    rate_limit(page, server)


def every_operation(page: Page, document: dict[str, dict[str, dict[str, dict[str, str]]]]) -> None:
    """Each operation and webhook has a section and an entry in the contents. An operation without a body fits on a screen."""
    expect(page.get_by_role("heading", level=1)).to_have_text(document["info"]["title"])
    for section in ("paths", "webhooks"):
        for item in document[section].values():
            for method in (method for method in METHODS if method in item):
                name = item[method]["operationId"]
                expect(page.locator(f"#{name}")).to_have_count(1)
                expect(page.locator(f"nav a[href='#{name}']")).to_have_count(1)
                box = page.locator(f"#{name}").bounding_box()
                if method == "get" and len(item[method]["parameters"]) < 8:
                    assert box and box["height"] <= DESKTOP["height"], (name, box)
    assert not page.evaluate("[...document.querySelectorAll('a[href^=\"#\"]')].filter(a => !document.getElementById(a.hash.slice(1))).length")


def search(page: Page) -> None:
    """The slash moves to the search, which finds operations, chapters, fields and error codes. Enter follows the first result."""
    page.keyboard.press("/")
    box = page.get_by_label("Search the reference")
    expect(box).to_be_focused()
    results = page.locator("nav li:visible")
    page.keyboard.type("reply posts:write")
    expect(results.first).to_have_text("Create postPOST")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#createPost$"))
    expect(page.locator("nav a[aria-current]")).to_have_text("Create postPOST")
    for words, typo, first in (
        ("not_found", "not_fond", "not_foundError code"),
        ("429", "429", "rate_limitedError code"),
        ("webhook signature", "webhook signatrue", "Receiving webhooksWebhooks"),
        ("postId", "postIdd", "Update postPATCH"),
        ("subscribe", "subscribr", "SubscribePOST"),
    ):
        for typed in (words, typo):
            box.fill(typed)
            expect(results.first).to_have_text(first)
    assert not barriers(page)
    box.fill("rate limits")
    expect(results.first).to_have_text("Rate limitsIntroduction")
    box.fill("rate_limited")
    box.press("Enter")
    expect(page.locator("#error-rate_limited")).to_be_in_viewport()
    page.keyboard.press("/")
    box.fill("samovar zyzzyva")
    expect(results).to_have_count(0)
    expect(page.get_by_role("status").filter(has_text="0 matches")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator("nav a[href='#listPosts']")).to_be_visible()


def samples(page: Page, server: Server) -> None:
    """A language applies to all operations. A sample has the URL of this server and can be copied."""
    section = page.locator("#createPost")
    url = f"{server.address}{server.api}/threads/"
    for language, text in (("TypeScript", "await fetch("), ("Python", "requests.post("), ("curl", "curl -X POST")):
        section.get_by_text(language, exact=True).click()
        sample = section.locator(".samples .code:visible")
        expect(sample).to_contain_text(text)
        expect(sample).to_contain_text(url)
        expect(page.locator(f"#listForums input[value='{language}']")).to_be_checked()
    section.locator(".samples").get_by_role("button", name="Copy").locator("visible=true").click()
    expect(section.get_by_role("button", name="Copied")).to_have_count(1)
    assert page.evaluate("navigator.clipboard.readText()").startswith(f"curl -X POST \\\n  '{url}")


def requests(page: Page, server: Server) -> None:
    """A token that is entered once is sent by each form. The page shows status, headers and body."""
    me = try_it(page, "getMe")
    send(me, "401 Unauthorized")
    me.get_by_label("Token").fill(server.token)
    send(me, "200 OK")
    expect(me.locator(".result")).to_contain_text('"username": "alice"')
    expect(me.locator(".result b", has_text='"username"').first).to_be_visible()
    masked_token(page, server)
    waiting = held(page, "**/me")
    button = me.locator("[type=submit]")
    with page.expect_request("**/me") as asked:
        button.click()
    assert asked.value.headers["accept"] == "application/json", asked.value.headers
    expect(button).to_have_text("Sending…")
    expect(button).to_have_attribute("aria-disabled", "true")
    waiting.pop().continue_()
    expect(button).to_have_text("Send request")
    me.get_by_text("Response headers").click()
    expect(me.locator(".result")).to_contain_text("x-ratelimit-remaining: ")
    threads = try_it(page, "listThreads")
    threads.get_by_label("forumId").fill("1")
    threads.get_by_label("limit", exact=True).fill("1")
    send(threads, "200 OK")
    created = try_it(page, "createThread")
    created.get_by_role("button", name="New key").click()
    key = created.get_by_label("Idempotency-Key").input_value()
    expect(page.locator("#createThread .samples .code:visible")).to_contain_text(f"Idempotency-Key: {key}")
    created.get_by_label("forumId").fill("2")
    created.get_by_label("Body", exact=True).fill('{"title": "From the page", "body": "Sent with a form"}')
    send(created, "201 Created")
    expect(created.locator(".result")).to_contain_text('"title": "From the page"')
    check_page(page, "docs")
    assert page.evaluate("localStorage.length + sessionStorage.length") == 0


def masked_token(page: Page, server: Server) -> None:
    """The page shows the token without its secret. A copy has it whole, with the button and with the keyboard."""
    secret = server.token.rsplit("_", 1)[1]
    assert secret not in page.locator("body").inner_text()
    sample = page.locator("#getMe .samples .code:visible")
    expect(sample).to_contain_text(server.token.removesuffix(secret))
    sample.get_by_role("button", name="Copy").click()
    expect(sample.get_by_role("button", name="Copied")).to_have_count(1)
    assert server.token in page.evaluate("navigator.clipboard.readText()")
    page.evaluate("navigator.clipboard.writeText('')")
    sample.locator("code").click(click_count=3)
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+c")
    assert server.token in page.evaluate("navigator.clipboard.readText()")


def links(page: Page) -> None:
    """Links to operations, codes and schemas work with the buttons of the browser."""
    page.goto("/docs#listPosts")
    section = page.locator("#listPosts")
    expect(section).to_be_in_viewport()
    section.get_by_role("link", name="PostPage").click()
    expect(page.locator("#schema-PostPage table")).to_be_in_viewport()
    page.go_back()
    expect(section).to_be_in_viewport()
    section.get_by_role("link", name="not_found").click()
    expect(page.locator("#error-not_found")).to_be_in_viewport()
    # A fragment that cannot be decoded.
    page.goto("/docs#%")
    expect(section).to_have_count(1)


def on_a_phone(page: Page) -> None:
    """On a phone the contents open and close with a button. Enter in a field of a form shows the response."""
    page.set_viewport_size(PHONE)
    go(page, "/docs")
    entry = page.locator("nav a[href='#vote']")
    expect(entry).to_be_hidden()
    page.get_by_text("Contents", exact=True).click()
    entry.click()
    expect(entry).to_be_hidden()
    expect(page.locator("#vote h3")).to_be_in_viewport()
    covered = """buttons => buttons.filter(button => {
        const [box, code] = [button, button.parentElement.querySelector("pre")].map(one => one?.getBoundingClientRect())
        return code && box.bottom > code.top + 1 && box.top < code.bottom && box.width > 0 && code.width > 0
    }).map(button => button.parentElement.innerText)"""
    assert page.locator(".copyable > .copy").evaluate_all(covered) == []
    form = try_it(page, "search")
    form.locator("[name=q]").fill("tea")
    form.locator("[name=q]").press("Enter")
    expect(form.locator(".result .status")).to_be_in_viewport()
    page.set_viewport_size(DESKTOP)


def offline(browser: Browser, server: Server) -> None:
    """A request that is refused for a time, or without a connection, says what to do."""
    page = browser.new_page(base_url=server.address)
    page.goto("/docs")
    form = try_it(page, "listForums")

    def refuse(code: int, wait: str) -> Callable[[Route], None]:
        return lambda route: route.fulfill(status=code, headers={"retry-after": wait}, body="not JSON")

    for code, wait, text in (
        (409, "1", "The first request is in progress. Retry after 1 second."),
        (503, "2", "The board did not run the request. Retry after 2 seconds."),
        (500, "3", "Retry after 3 seconds."),
    ):
        page.route("**/forums", refuse(code, wait), times=1)
        form.get_by_role("button", name="Send request").click()
        expect(form.locator(".alert")).to_have_text(text)
        expect(form.locator(".result pre").last).to_have_text("not JSON")
    page.context.set_offline(True)
    form.get_by_role("button", name="Send request").click()
    expect(form.locator(".alert")).to_contain_text("the server cannot be reached. Check the connection")
    page.context.close()


def rate_limit(page: Page, server: Server) -> None:
    """A rate limit is shown with the time to wait. It does not affect the page."""
    while server.ask("GET", f"{server.api}/forums").status == 200:
        pass
    go(page, "/docs")
    forums = try_it(page, "listForums")
    send(forums, "429 Too Many Requests")
    expect(forums.get_by_text(re.compile(r"^A limit is exceeded\. Retry after \d+ seconds?.$"))).to_be_visible()


def try_it(page: Page, operation: str) -> Locator:
    """Opens the form of an operation."""
    form = page.locator(f"#{operation} .try-it")
    form.locator("> summary").click()
    return form


def send(form: Locator, status: str) -> None:
    form.get_by_role("button", name="Send request").click()
    expect(form.locator(".result .status")).to_have_text(status)
