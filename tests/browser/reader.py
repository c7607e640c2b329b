"""The start page: a reader of the board through its API."""

import re
from urllib.parse import urlsplit

from playwright.sync_api import Page, expect

from accessibility import check_page
from server import Server

# The operations that the page calls, with the cost that it shows.
CALL = re.compile(r"(?P<status>\d+), cost (?P<cost>\d+), \d+ units remain\. (?P<operation>\w+)")

RUNNING = {"error": {"code": "conflict", "message": "Still running.", "requestId": "1"}}


def run(page: Page, server: Server) -> None:
    """A guest reads and searches; a member replies and votes. Each view shows its requests with their costs."""
    page.goto("/")
    expect(page.get_by_role("heading", name="Forums")).to_be_visible()
    check_page(page, "reader-forums")
    costs = {operation["operationId"]: operation["x-ratelimit-cost"] for operation in operations(page)}
    page.get_by_role("link", name="General").click()
    expect(page.get_by_role("heading", name="General")).to_be_focused()
    check_page(page, "reader-forum")
    page.get_by_role("link", name="Which tea for a rainy afternoon?").click()
    expect(page.get_by_role("group", name="What goes into the pot when it rains?")).to_be_visible()
    expect(page.get_by_role("button", name="Vote")).to_have_count(0)
    expect(page.get_by_label("Reply")).to_have_count(0)

    page.get_by_label("Token").fill(server.token)
    page.get_by_role("button", name="Use token").click()
    page.get_by_label("Reply").fill("A *second* pot.")
    check_page(page, "reader-thread")
    # The server creates the reply, and the browser receives another response.
    page.route("**/posts", lambda route: (route.fetch(), route.fulfill(status=409, headers={"retry-after": "1"}, json=RUNNING)), times=1)
    page.get_by_role("button", name="Reply").click()
    expect(page.get_by_role("status").filter(has_text="Still running.")).to_be_visible()
    with page.expect_response("**/posts") as replied:
        page.get_by_role("button", name="Reply").click()
    assert replied.value.headers["idempotency-replayed"] == "true"
    expect(page.locator("em", has_text="second")).to_have_count(1)
    page.get_by_label("Green tea").check()
    page.get_by_role("button", name="Vote").click()
    expect(page.get_by_text("Green tea 1 vote")).to_be_visible()

    page.get_by_label("Search").fill("bread")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("heading", name="Results for “bread”")).to_be_visible()
    check_page(page, "reader-search")
    shown = calls(page)
    page.go_back()
    expect(page.get_by_label("Reply")).to_be_visible()
    shown += calls(page)
    assert {call["operation"] for call in shown} == {"search", "getThread", "getPoll", "listPosts"}
    assert all(int(call["cost"]) == costs[call["operation"]] for call in shown), shown
    assert "304" in {call["status"] for call in shown}, shown
    page.goto("/#/threads/none")
    expect(page.get_by_role("alert")).to_have_text("Not found.")
    assert page.locator("main small").inner_text().startswith("Request ")
    check_ids(page)


def check_ids(page: Page) -> None:
    """An id in the address of the page is one segment of the path of a request, whatever its characters are."""
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    for view in ["threads", "forums"]:
        for name in ["..\\messages\\3#", "..\\messages\\3%23", "..%5Cmessages%5C3", "..%2Fme%3F", "..", ".", "%2e%2e", "%"]:
            page.goto("/#/")
            expect(page.get_by_role("heading", name="Forums")).to_be_visible()
            page.goto(f"/#/{view}/{name}")
            expect(page.get_by_role("alert")).to_be_visible()
    paths = {urlsplit(url).path for url in requested}
    unexpected = [path for path in paths if not re.fullmatch(r"/|/api/v1/forums|/api/v1/(threads/[^/]+|forums/[^/]+/threads)", path)]
    assert "/api/v1/threads/..%5Cmessages%5C3%23" in paths and not unexpected, paths


def operations(page: Page) -> list[dict[str, int]]:
    document = page.request.get("/api/v1/openapi.json").json()
    return [operation for item in document["paths"].values() for operation in item.values()]


def calls(page: Page) -> list[re.Match[str]]:
    return [match for text in page.locator("#calls li").all_inner_texts() if (match := CALL.search(text))]
