"""The start page: the board, read and written through its API."""

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Locator, Page, Route, expect

from accessibility import DESKTOP, PHONE, SCHEMES, barriers, check_page, fits
from panel import sign_in
from server import Server

# The facts that the page shows of a request.
CALL = re.compile(
    r"(?P<method>[A-Z]+) (?P<path>\S+) (?P<status>\d+)\s+cost (?P<cost>\d+) (?:· [\d,]+ units remain )?· \d+ ms · (?P<operation>\w+)"
)

RUNNING = {"error": {"code": "conflict", "message": "Still running.", "requestId": "1"}}
REVOKED = {"error": {"code": "unauthorized", "message": "Unknown token.", "requestId": "1"}}
MARKUP = "# Not a title\n\n> quoted\n\n- item\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nCrème brûlée"
REPLIES = 22

# The addresses of requests for which a view of a thread does not wait.
LATE = re.compile(r"/(poll|forums|subscriptions\?limit=100)$")

# The position and the colours of the header, as a text.
FRAME = """header => {
    const [row, board] = [".frame", ".board"].map((name) => header.querySelector(name).getBoundingClientRect())
    const { backgroundColor, borderBottomColor } = getComputedStyle(header)
    return [row.left, row.width, row.height, board.left, board.top, backgroundColor, borderBottomColor].join()
}"""

# Delays the next request for a path until `release` is called.
HOLD = """path => {
    const { fetch } = window
    window.release = null
    window.fetch = async (address, options) => {
        if (new RegExp(path).test(address)) {
            window.fetch = fetch
            await new Promise((resolve) => (window.release = resolve))
        }
        return fetch(address, options)
    }
}"""


def run(page: Page, server: Server) -> None:
    """A guest reads; a member reads, writes and searches. The page shows each request with its cost."""
    costs = {operation["operationId"]: operation["x-ratelimit-cost"] for operation in operations(page)}
    page.goto("/")
    expect(status(page)).to_have_text("Forums, 3 forums")
    check_page(page, "reader-forums")
    forums(page)
    page.get_by_role("link", name="General").click()
    expect(page.get_by_role("heading", name="General")).to_be_focused()
    threads(page)
    expect(page.get_by_role("link", name="Help")).to_be_visible()
    check_page(page, "reader-forum")
    page.get_by_role("link", name="Which tea for a rainy afternoon?").click()
    expect(page.get_by_role("group", name="What goes into the pot when it rains?")).to_be_visible()
    for forbidden in ("Vote", "Reply", "Subscribe", "Quote"):
        expect(page.get_by_role("button", name=forbidden)).to_have_count(0)
    expect(page.locator("#view").get_by_role("link", name="How to get a token")).to_have_attribute("href", "/docs#about-authentication")
    expect(page.locator("#intro")).to_contain_text("Each click here is a request to its API")
    expect(page.locator("#intro").get_by_role("link")).to_have_text(["REST API", "control panel", "How to get a token"])
    expect(page.locator("#view .facts").last).to_have_text("How to get a token to write, vote and subscribe.")
    guest(page)
    stored(page)
    show(page, "/#/threads/16")
    tokens(page, server)
    expect(page.locator("#intro")).to_be_hidden()
    reply(page, server)
    vote(page, costs)
    check_page(page, "reader-thread")
    long_thread(page, server)
    drafts(page, server)
    folded_drafts(page)
    quote(page)
    typing(page)
    late_parts(page)
    deleted_target(page, server)
    stale_draft(page, server)
    own_thread(page)
    check_costs(page, costs, {"createThread", "createPost", "updatePost", "deletePost", "subscribe", "unsubscribe"})
    people(page, server)
    check_costs(page, costs, {"rateMember", "sendMessage", "createThread", "updatePoll"})
    unread(page, server)
    erased(page, server)
    late_tokens(page, server)
    removed_tokens(page, server)
    names(page)
    directions(page, server)
    check_costs(page, costs, {"search"})
    hits(page)
    refusals(page, server)
    show(page, "/#/threads/none")
    expect(page.get_by_role("alert").filter(has_text="There is no such page")).to_be_visible()
    assert page.locator("main small").inner_text().startswith("Request ")
    expect(page.get_by_role("status")).to_have_count(1)
    drawer(page)
    check_ids(page)


def forums(page: Page) -> None:
    """A forum has the numbers of its threads and posts. Its sub-forums follow it."""
    items = page.request.get("/api/v1/forums").json()["items"]
    ordered = [
        one
        for top in items
        if top["parentId"] is None
        for one in (top, *(child for child in items if child["parentId"] == top["forumId"]))
    ]
    numbers = [f"{counted(one['threadCount'], 'thread')}, {counted(one['postCount'], 'post')}" for one in ordered]
    expect(page.locator("#view .item small")).to_have_text(numbers)


def threads(page: Page) -> None:
    """A thread of a list has its author, the number of its replies, and a link to the newest one."""
    items = page.request.get("/api/v1/forums/2/threads").json()["items"]
    expect(status(page)).to_have_text(f"General, {counted(len(items), 'thread')}")
    shown = page.locator("#view .item small", has_text="started by").all_inner_texts()
    for text, item in zip(shown, items, strict=True):
        replies = counted(item["replyCount"], "reply", "replies")
        assert text.startswith(f"started by {item['author']['username']}, {replies}, last activity "), (text, item)
        assert text.endswith(" · Newest reply") == (item["replyCount"] > 0), (text, item)


def counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def stored(page: Page) -> None:
    """A response that has not changed is shown with its status and the stored JSON."""
    show(page, "/#/forums/2")
    expect(page.get_by_role("link", name="Which tea for a rainy afternoon?")).to_be_visible()
    read = page.locator("#calls li", has_text="listThreads").first
    expect(read.locator(".status")).to_have_text("304")
    read.get_by_text("JSON of the stored response", exact=True).click()
    expect(read.locator("pre")).to_contain_text('"threadId": "16"')


def check_costs(page: Page, costs: dict[str, int], expected: set[str]) -> None:
    """Each request that the page shows has its cost, and there are requests of these operations."""
    shown = calls(page)
    assert all(int(call["cost"]) == costs[call["operation"]] for call in shown), shown
    assert {call["operation"] for call in shown} >= expected, shown


def tokens(page: Page, server: Server) -> None:
    """A wrong token changes nothing but its field. A valid token shows its owner until it is forgotten or revoked."""
    field = page.get_by_label("Token")
    enter(page, "forum_pat_wrong")
    expect(page.get_by_role("alert").filter(has_text="This token is not valid.")).to_be_visible()
    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("group", name="What goes into the pot when it rains?")).to_be_visible()
    assert page.evaluate("sessionStorage.token") is None
    check_page(page, "reader-wrong-token")
    enter(page, server.token)
    expect(page.locator("#who")).to_have_text(re.compile(r"^alice · 13 scopes · Messages( \(\d+\))? Remove token$"))
    page.reload()
    page.get_by_role("button", name="Remove token").click()
    expect(status(page)).to_have_text("The token was removed from this tab.")
    expect(field).to_be_focused()
    expect(page.get_by_label("Reply")).to_have_count(0)
    assert page.evaluate("sessionStorage.token") is None
    for scopes in ("members:read,threads:read", "threads:read"):
        issued = server.command(
            "token", "issue", "--owner", "bob", "--scopes", scopes, "--password-stdin", given=server.password + "\n"
        )
        enter(page, issued["token"])
        expect(page.locator("#who")).to_have_text(re.compile(r"^(bob · 2 scopes|A token) Remove token$"))
        expect(page.get_by_label("Reply")).to_have_count(0)
        server.command("token", "revoke", issued["lookup"])
        page.reload()
        expect(page.get_by_role("alert").filter(has_text="The token is no longer valid.")).to_be_visible()
        expect(page.get_by_role("heading", name="Which tea for a rainy afternoon?")).to_be_visible()
    enter(page, server.token)
    expect(page.get_by_label("Reply")).to_be_visible()


def reply(page: Page, server: Server) -> None:
    """A refused reply keeps its text and the focus. A repeated one takes effect once. Its request can be copied."""
    text = "A *second* pot.\n\n" + MARKUP
    page.get_by_label("Reply").fill(text)
    sent = json.dumps({"body": text}, separators=(",", ":"), ensure_ascii=False)
    page.route("**/posts", lambda route: hide_success(route, sent), times=1)
    button = page.get_by_role("button", name="Reply")
    button.click()
    expect(page.get_by_role("alert").filter(has_text="Still running.")).to_have_text("Still running. Try again in 1 s.")
    expect(button).to_be_focused()
    with page.expect_response("**/posts") as replied:
        button.click()
    assert replied.value.headers["idempotency-replayed"] == "true"
    posted(page, "second")
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    expect(page.get_by_role("heading", name="Not a title", level=3)).to_be_visible()
    first = {call["path"] for call in calls(page)[:4]}
    assert f"{server.api}/threads/16/posts?from={replied.value.json()['postId']}" in first, first
    created = page.locator("#calls li").filter(has_text="createPost").first
    assert CALL.search(created.inner_text())["status"] == "201"  # type: ignore[index]
    created.get_by_text("JSON of the response").click()
    expect(created.locator("pre")).to_contain_text('"threadId": "16"')
    created.get_by_role("button", name="Copy as curl").click()
    expect(created.get_by_role("button", name="Copied")).to_be_visible()
    command = page.evaluate("navigator.clipboard.readText()")
    repeated = subprocess.run(["bash", "-c", f"{command} -s"], capture_output=True, text=True, check=True)
    assert json.loads(repeated.stdout)["postId"] == replied.value.json()["postId"], repeated.stdout
    authorization = f"-H 'authorization: Bearer {server.token}'"
    read = page.locator("#calls li", has_text="getThread").first
    read.get_by_role("button", name="Copy as curl").click()
    expect(read.get_by_role("button", name="Copied")).to_be_visible()
    command = f"curl '{server.address}{server.api}/threads/16' \\\n  {authorization}"
    assert page.evaluate("navigator.clipboard.readText()") == command
    # A page without TLS has no clipboard.
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})")
    listed = page.locator("#calls li", has_text="listPosts").first
    listed.get_by_role("button", name="Copy as curl").click()
    expect(listed.locator("pre")).to_contain_text(authorization)
    page.evaluate("delete navigator.clipboard")
    page.get_by_label("Reply").fill("Too soon.")
    button.click()
    expect(page.get_by_role("alert").filter(has_text="15 seconds")).to_have_text(re.compile("^15 seconds"))
    expect(page.get_by_label("Reply")).to_have_value("Too soon.")


def hide_success(route: Route, sent: str) -> None:
    """The server creates the reply, and the browser receives another response. Firefox gives no body to the route."""
    route.fetch(post_data=sent)
    route.fulfill(status=409, headers={"retry-after": "1"}, json=RUNNING)


def vote(page: Page, costs: dict[str, int]) -> None:
    """After a vote that cannot be changed, the poll shows the result and the member's own vote."""
    page.get_by_label("Green tea").check()
    page.get_by_role("button", name="Vote").click()
    poll = page.get_by_role("group", name="What goes into the pot when it rains?")
    expect(poll).to_be_focused()
    expect(poll.get_by_text("Green tea 1 vote")).to_contain_text("your vote")
    expect(page.get_by_role("button", name="Vote")).to_have_count(0)
    widths = [share.bounding_box() for share in poll.locator(".share").all()]
    assert [bool(box and box["width"]) for box in widths] == [False, True, False, False], widths
    shares = poll.locator(".share").evaluate_all("shares => shares.map((share) => share.style.width)")
    assert shares == ["0%", "100%", "0%", "0%"], shares
    expect(poll.locator("> small")).to_have_text("1 member voted.")
    check_costs(page, costs, {"vote", "createPost"})
    page.reload()
    expect(poll.get_by_text("your vote")).to_be_visible()
    expect(page.get_by_role("radio")).to_have_count(0)


def long_thread(page: Page, server: Server) -> None:
    """A thread with several pages: a reply and a hit of the search lead to their posts and what precedes them, and the link to
    the newest reply to the last page."""
    server.command("setting", "post.interval_seconds", "0")
    headers = {"authorization": f"Bearer {server.token}", "content-type": "application/json"}
    for number in range(REPLIES):
        answer = server.ask("POST", f"{server.api}/threads/16/posts", headers, json.dumps({"body": f"Cup {number}"}))
        assert answer.status == 201, answer.text
    page.goto("/#/threads/16")
    page.reload()
    expect(page.get_by_text("Cup 1", exact=True)).to_be_visible()
    expect(page.get_by_text("Cup 21")).to_have_count(0)
    expect(page.locator("#view .facts").first).not_to_contain_text("posts #")
    page.get_by_role("link", name="Next page").click()
    expect(page.get_by_text("Cup 21")).to_be_visible()
    expect(page.locator("#view .facts").first).to_contain_text(" · posts #21 to #")
    page.get_by_role("link", name="Earlier posts").first.click()
    expect(page.get_by_text("Cup 1", exact=True)).to_be_visible()
    page.get_by_role("link", name="Newest reply").first.click()
    expect(page.locator(".item", has_text="Cup 21")).to_be_focused()
    expect(page.get_by_text("Cup 3", exact=True)).to_be_visible()
    expect(page.locator("ol.items > .item")).to_have_count(20)
    check_page(page, "reader-newest")
    page.get_by_role("link", name="Earlier posts").first.click()
    expect(page.get_by_text("Cup 1", exact=True)).to_be_visible()
    expect(page.get_by_text("Cup 21", exact=True)).to_have_count(0)
    page.get_by_role("link", name="First page").first.click()
    expect(page.get_by_role("link", name="First page")).to_have_count(0)
    page.get_by_label("Reply").fill("The very last cup of Crème brûlée, not ΚΑΦΕΣ")
    page.get_by_role("button", name="Reply").click()
    posted(page, "The very last cup")
    page.get_by_label("Search").fill("creme last καφές -tea")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("heading", name="Results for")).to_be_focused()
    expect(page.locator("mark")).to_have_text(["last", "Crème", "ΚΑΦΕΣ"])
    check_page(page, "reader-search")
    page.get_by_role("link", name="Which tea").first.click()
    hit = page.locator(".item", has_text="The very last cup")
    expect(hit).to_be_focused()
    expect(hit.locator("mark")).to_have_text(["last", "Crème", "ΚΑΦΕΣ"])
    expect(page.get_by_text("Cup 21", exact=True)).to_be_visible()
    expect(page.locator("ol.items > .item")).to_have_count(11)


def drafts(page: Page, server: Server) -> None:
    """A draft remains in other views, after a reload and without a token, and is sent once."""
    area = page.get_by_label("Reply")
    show(page, "/#/threads/16")
    area.fill("A draft")
    page.get_by_role("link", name="Next page").last.click()
    expect(page.get_by_text("Cup 21", exact=True)).to_be_visible()
    expect(area).to_have_value("A draft")
    page.go_back()
    expect(page.get_by_text("Cup 1", exact=True)).to_be_visible()
    expect(area).to_have_value("A draft")
    page.get_by_role("button", name="Subscribe").click()
    expect(status(page)).to_have_text("Subscribed")
    expect(status(page)).not_to_have_class(re.compile("visually-hidden"))
    expect(area).to_have_value("A draft")
    page.get_by_role("button", name="Unsubscribe").click()
    expect(status(page)).to_have_text("Unsubscribed")
    page.locator(".item", has_text="Cup 1").first.get_by_role("button", name="Quote").click()
    expect(area).to_be_focused()
    expect(area).to_have_value("A draft\n\n> Cup 1\n\n")
    page.reload()
    expect(area).to_have_value("A draft\n\n> Cup 1\n\n")
    page.get_by_role("button", name="Remove token").click()
    expect(page.get_by_text("Your reply is kept in this tab.")).to_be_visible()
    enter(page, server.token)
    expect(page.get_by_text(re.compile("^In reply to #"))).to_be_visible()
    answered = page.locator("#reply [name=inReplyTo]").input_value()
    sent = json.dumps({"body": area.input_value(), "inReplyTo": answered}, separators=(",", ":"))
    page.route("**/posts", lambda route: hide_success(route, sent), times=1)
    page.get_by_role("button", name="Reply").click()
    expect(page.get_by_role("alert").filter(has_text="Still running.")).to_be_visible()
    page.reload()
    with page.expect_response(lambda answer: answer.request.method == "POST") as created:
        page.get_by_role("button", name="Reply").dblclick()
    assert created.value.headers["idempotency-replayed"] == "true"
    posted(page, "A draft")
    expect(page.get_by_role("link", name=re.compile("^in reply to"))).to_be_visible()
    expect(area).to_have_value("")
    expect(page.locator(".item", has_text="A draft")).to_have_count(1)


def folded_drafts(page: Page) -> None:
    """A draft of a folded form is shown after a reload, with its check box, until it is as it was at first."""
    show(page, "/#/members/@bob")
    page.locator("summary", has_text="Send a message").click()
    page.get_by_label("Subject").fill("Tea")
    page.get_by_label("Ask for a receipt").check()
    page.reload()
    expect(page.get_by_label("Subject")).to_have_value("Tea")
    expect(page.get_by_label("Ask for a receipt")).to_be_checked()
    expect(page.get_by_label("Comment")).to_be_hidden()
    page.get_by_label("Subject").fill("")
    page.get_by_label("Ask for a receipt").uncheck()
    page.reload()
    expect(page.get_by_role("heading", name="bob")).to_be_visible()
    expect(page.get_by_label("Subject")).to_be_hidden()
    show(page, "/#/forums/2")
    page.get_by_text("Start a thread").click()
    page.get_by_label("Title").fill("A draft")
    page.reload()
    expect(page.get_by_label("Title")).to_have_value("A draft")
    page.get_by_label("Title").fill("")


def quote(page: Page) -> None:
    """The focus is in the reply after its quoted post is removed. What a request said does not remain beside the next one."""
    show(page, "/#/threads/16")
    area = page.get_by_label("Reply")
    page.get_by_role("button", name="Quote").first.click()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(area).to_be_focused()
    area.fill("Once more.")
    page.get_by_role("button", name="Reply").click()
    posted(page, "Once more.")
    area.fill(" ")
    page.get_by_role("button", name="Reply").click()
    expect(page.get_by_role("alert").filter(has_text=re.compile("."))).to_be_visible()
    expect(area).to_have_attribute("aria-invalid", "true")
    expect(status(page)).to_have_text("")
    area.fill("")
    expect(area).not_to_have_attribute("aria-invalid", "true")


def typing(page: Page) -> None:
    """A member who writes while a view or a response loads goes on in the same field, at the same position."""
    area, search, comment = (page.get_by_label(label) for label in ("Reply", "Search", "Comment"))
    show(page, "/#/threads/16")
    with replaced(page):
        during(page, "/posts\\?after=", page.get_by_role("link", name="Next page").last.click, lambda: write(area, "Ho"))
    expect(page.get_by_text("Cup 21", exact=True)).to_be_visible()
    expect(area).to_be_focused()
    page.keyboard.type("ell")
    expect(area).to_have_value("Hello")
    with replaced(page):
        during(page, "/threads/16$", page.get_by_role("link", name="First page").last.click, lambda: search.fill("te"))
    expect(page.get_by_text("Cup 1", exact=True)).to_be_visible()
    expect(search).to_be_focused()
    during(page, "/subscriptions$", page.get_by_role("button", name="Subscribe").click, lambda: area.fill("Hi"))
    expect(status(page)).to_have_text("Subscribed")
    expect(area).to_be_focused()
    area.fill("One cup")
    during(page, "/posts$", page.get_by_role("button", name="Reply").click, lambda: area.fill("One cup, and another"))
    posted(page, "One cup")
    expect(area).to_have_value("One cup, and another")
    area.fill("")
    show(page, "/#/members/@bob")
    bob = page.request.get("/api/v1/members/@bob").json()["userId"]
    with replaced(page):
        during(page, f"/members/{bob}$", lambda: page.goto(f"/#/members/{bob}"), lambda: write(comment, "God"))
    expect(comment).to_be_focused()
    page.keyboard.type("o")
    expect(comment).to_have_value("Good")
    comment.fill("")


def write(field: Locator, text: str) -> None:
    """Enters a text, and moves before its last letter. Opens what is folded around the field."""
    field.evaluate("field => { if (field.closest('details')) field.closest('details').open = true }")
    field.fill(text)
    field.press("ArrowLeft")


def during(page: Page, path: str, ask: Callable[[], object], meanwhile: Callable[[], object]) -> None:
    """Calls `meanwhile` while the request for a path, which `ask` causes, has no response."""
    page.evaluate(HOLD, path)
    ask()
    # The content security policy of the page refuses an expression that is evaluated more than once.
    page.wait_for_function("() => !!window.release")
    meanwhile()
    page.evaluate("window.release()")


def late_parts(page: Page) -> None:
    """What is loaded after a view does not move its posts, so that a click meets the link under the pointer."""
    show(page, "/#/threads/16")
    address = page.get_by_role("link", name="Next page").last.get_attribute("href")
    waiting: list[Route] = []
    is_held = True
    page.route(LATE, lambda route: waiting.append(route) if is_held else route.continue_())
    page.goto("about:blank")
    page.goto(f"/{address}")
    post = page.locator(".item").first
    expect(post).to_be_visible()
    before = post.bounding_box()
    is_held = False
    for route in waiting:
        route.continue_()
    expect(page.locator("summary", has_text="Poll: ")).to_be_visible()
    expect(page.get_by_role("button", name="Subscribe")).to_be_visible()
    expect(page.get_by_role("navigation", name="Breadcrumb").get_by_role("link")).to_have_text(["Forums", "General"])
    after = post.bounding_box()
    page.unroute(LATE)
    assert after == before, (before, after)


def deleted_target(page: Page, server: Server) -> None:
    """The address of a post that was deleted shows the thread. Back restores the position."""
    headers = {"authorization": f"Bearer {server.token}", "content-type": "application/json"}
    created = server.ask("POST", f"{server.api}/threads/16/posts", headers, json.dumps({"body": "To be deleted"}))
    post = json.loads(created.text)
    show(page, "/#/threads/16")
    poll = page.get_by_role("group", name="What goes into the pot when it rains?")
    expect(poll).to_be_visible()
    page.evaluate("scrollTo(0, 700)")
    server.ask("DELETE", f"{server.api}/threads/16/posts/{post['postId']}", headers)
    show(page, f"/#/{urlsplit(post['webUrl']).fragment.removeprefix('/')}")
    expect(page.get_by_text("This post is no longer there.")).to_be_visible()
    expect(page.get_by_text("Cup 21", exact=True)).to_be_visible()
    page.go_back()
    expect(page.get_by_text("Cup 1", exact=True)).to_be_visible()
    expect(poll).to_be_visible()
    position = page.evaluate("scrollY")
    assert abs(position - 700) < 1, position


def stale_draft(page: Page, server: Server) -> None:
    """The draft of an edit can be saved after another edit, which the page names."""
    headers = {"authorization": f"Bearer {server.token}", "content-type": "application/json"}
    created = server.ask("POST", f"{server.api}/threads/16/posts", headers, json.dumps({"body": "To be edited"}))
    post = json.loads(created.text)
    show(page, f"/#/{urlsplit(post['webUrl']).fragment.removeprefix('/')}")
    item = page.locator(f"#post-{post['postId']}")
    expect(item.get_by_title("Link to this post")).to_have_attribute("href", post["webUrl"])
    item.get_by_text("Edit", exact=True).click()
    item.get_by_label("Text of the post").fill("Mine")
    changed = server.ask("PATCH", f"{server.api}/threads/16/posts/{post['postId']}", headers, json.dumps({"body": "Theirs"}))
    assert changed.status == 200, changed
    item.get_by_role("button", name="Save").click()
    expect(item.get_by_role("alert")).to_contain_text("changed in the meantime")
    page.reload()
    expect(item.get_by_label("Text of the post")).to_have_value("Mine")
    expect(item.get_by_text("This post has changed since")).to_be_visible()
    item.get_by_role("button", name="Save").click()
    expect(status(page)).to_have_text("Saved")


def people(page: Page, server: Server) -> None:
    """Profiles, ratings, private messages and a poll with a thread."""
    show(page, "/#/threads/16")
    page.locator(".item").first.get_by_role("link", name="bob").or_(page.locator(".item strong a").first).first.click()
    expect(page.get_by_text(re.compile("reputation"))).to_be_visible()
    show(page, "/#/members/@bob")
    expect(page.get_by_role("heading", name="bob")).to_be_visible()
    check_page(page, "reader-profile")
    edges = "() => new Set(['.board', '#search', 'main'].map((part) => document.querySelector(part).getBoundingClientRect().left)).size"
    for width in (320, 500, 800, 1280):
        page.set_viewport_size({"width": width, "height": 720})
        assert page.evaluate(edges) == 1, width
    large_numbers(page)
    page.locator("summary", has_text="Rate").click()
    page.get_by_label("Comment").fill("Good tea.")
    page.get_by_role("button", name="Rate").click()
    expect(status(page)).to_have_text(re.compile("^Rated"))
    bob = page.request.get("/api/v1/members/@bob").json()
    reputation = f"{bob['reputation']:,}"
    expect(status(page)).to_have_text(f"Rated. The reputation is {reputation}.")
    facts = f"{counted(bob['postCount'], 'post')} · reputation {reputation} · joined "
    expect(page.locator("#view .facts").first).to_contain_text(facts)
    page.get_by_role("link", name="Posts of bob").click()
    expect(page.get_by_role("heading", name="Posts of bob")).to_be_focused()
    page.go_back()
    page.locator("summary", has_text="Send a message").click()
    page.get_by_label("Subject").fill("Tea")
    page.get_by_label("Message").fill("At *five*?")
    page.get_by_role("button", name="Send message").click()
    expect(status(page)).to_have_text("Sent")
    expect(page.locator(".body em")).to_have_text("five")
    page.get_by_role("link", name="Messages").last.click()
    page.get_by_role("link", name="Sent", exact=True).click()
    expect(page.get_by_role("heading", name="Sent messages")).to_be_visible()
    expect(page.locator("main a[aria-current=page]")).to_have_text("Sent")
    expect(page.get_by_role("link", name="Tea", exact=True).first).to_be_visible()
    check_page(page, "reader-messages")
    page.get_by_role("link", name="Forums").first.click()
    page.get_by_role("link", name="General").click()
    page.get_by_text("Start a thread").click()
    page.get_by_label("Title").fill("Pots")
    page.get_by_label("Text").fill("Which?")
    page.get_by_text("Add a poll").click()
    page.get_by_label("Question").fill("Clay or glass?")
    page.get_by_label("Options, one on each line").fill("Clay\n\nGlass\n")
    page.get_by_role("button", name="Start thread").click()
    posted(page, "Which?")
    expect(page.get_by_role("group", name="Clay or glass?").locator(".option")).to_have_count(2)
    page.get_by_text("Edit the poll").click()
    page.get_by_label("Question").fill("Clay or steel?")
    page.get_by_role("button", name="Save the poll").click()
    expect(page.get_by_role("group", name="Clay or steel?")).to_be_focused()


def unread(page: Page, server: Server) -> None:
    """The number of unread messages is that after a message was opened."""
    headers = {"authorization": f"Bearer {issue(server, 'bob')}", "content-type": "application/json"}
    alice = json.loads(server.me(server.token).text)["owner"]["userId"]
    for subject in ("First", "Second"):
        message = {"to": [alice], "subject": subject, "body": "Hello"}
        answer = server.ask("POST", f"{server.api}/messages", headers, json.dumps(message))
        assert answer.status == 201, answer.text
    link = page.locator("#who").get_by_role("link", name="Messages")
    show(page, "/#/messages")
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    number = json.loads(server.me(server.token).text)["unreadMessages"]
    expect(link).to_have_text(f"Messages ({number})")
    expect(page.locator("#view .item", has_text="Second").locator(".badge")).to_have_text("unread")
    page.get_by_role("link", name="Second", exact=True).click()
    expect(page.get_by_role("heading", name="Second")).to_be_visible()
    expect(link).to_have_text(f"Messages ({number - 1})")
    expect(page.locator("#view .facts").first).to_contain_text("from bob, ")
    page.get_by_text("Answer", exact=True).click()
    expect(page.get_by_label("Subject")).to_have_value("Re: Second")


def erased(page: Page, server: Server) -> None:
    """A post of an erased member is shown without a link to a profile."""
    server.command("member", "add", "dora", "--groups", "members")
    headers = {"authorization": f"Bearer {issue(server, 'dora', 'posts:write')}", "content-type": "application/json"}
    created = server.ask("POST", f"{server.api}/threads/16/posts", headers, json.dumps({"body": "A cup of mine"}))
    assert created.status == 201, created.text
    server.command("member", "erase", "dora", "--yes")
    show(page, f"/#/threads/16/posts/{json.loads(created.text)['postId']}")
    author = page.locator(".item", has_text="A cup of mine").locator("strong")
    expect(author).to_have_text("a former member")
    expect(author.get_by_role("link")).to_have_count(0)


def late_tokens(page: Page, server: Server) -> None:
    """The token that was entered last stays, also if the response for an earlier one arrives later."""
    alice, bob = issue(server, "alice"), issue(server, "bob")
    owner = page.locator("#who")
    checks = page.locator("#calls li", has_text="getMe")
    show(page, "/#/threads/16")
    waiting = held(page, "**/me")
    page.reload()
    enter(page, bob)
    expect(owner).to_have_text(re.compile("^bob"))
    expect(checks).to_have_count(1)
    waiting.pop().continue_()
    expect(checks).to_have_count(2)
    expect(owner).to_have_text(re.compile("^bob"))
    assert page.evaluate("sessionStorage.token") == bob
    page.get_by_role("button", name="Remove token").click()
    expect(status(page)).to_have_text("The token was removed from this tab.")
    waiting = held(page, "**/me")
    enter(page, bob)
    enter(page, alice)
    expect(status(page)).to_have_text(re.compile("^alice"))
    expect(checks).to_have_count(1)
    waiting.pop().continue_()
    expect(checks).to_have_count(2)
    expect(owner).to_have_text(re.compile("^alice"))
    assert page.evaluate("sessionStorage.token") == alice


def removed_tokens(page: Page, server: Server) -> None:
    """A response to a removed token changes nothing for the owner of the next one, who does not see the request."""
    bob, mod = issue(server, "bob"), issue(server, "mod")
    thread = {"target": "thread", "targetId": "16"}
    changes = page.locator("#calls li", has_text="POST /api/v1/subscriptions")
    subscribe = page.get_by_role("button", name="Subscribe", exact=True)
    for code, answer in [(401, REVOKED), (201, thread)]:
        replace_token(page, mod)
        waiting = held(page, "**/subscriptions")
        subscribe.click()
        replace_token(page, bob)
        expect(subscribe).to_be_visible()
        with page.expect_response("**/subscriptions"):
            waiting.pop().fulfill(status=code, json=answer)
        # The script handles the responses to later requests after this one.
        show(page, "/#/members/@carol")
        expect(page.get_by_role("heading", name="carol")).to_be_visible()
        show(page, "/#/threads/16")
        expect(subscribe).to_be_visible()
        expect(changes).to_have_count(0)
        expect(page.locator("#who")).to_have_text(re.compile("^bob"))
    replace_token(page, issue(server, "alice"))


def names(page: Page) -> None:
    """A title has the name of the board. The words of a search are those of the results. Unknown members are not found."""
    page.get_by_label("Search").fill("tea")
    page.get_by_role("button", name="Search").click()
    expect(page).to_have_title("Results for “tea” · Forum")
    page.get_by_role("link", name="Forums").first.click()
    expect(page).to_have_title("Forums · Forum")
    expect(page.get_by_label("Search")).to_have_value("")
    expect(page.locator("time")).to_have_count(0)
    show(page, "/#/search?by=999")
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    for query, field in [("q=-tea", "at least one word"), ("q=tea&after=none", "after: expected")]:
        show(page, f"/#/search?{query}")
        expect(page.get_by_role("alert").filter(has_text=field)).to_be_visible()
    show(page, "/#/forums/2")
    expect(page.get_by_text(re.compile("started by .*, last activity ")).first).to_be_visible()
    expect(page.locator("main time").first).to_have_attribute("title", re.compile(r":\d\d:\d\d .*\w"))


def large_numbers(page: Page) -> None:
    """Large numbers are in groups."""

    def enlarge(route: Route) -> None:
        answer = route.fetch()
        limits = {"x-ratelimit-limit": "1000000", "x-ratelimit-remaining": "999999"}
        route.fulfill(response=answer, headers={**answer.headers, **limits}, json={**answer.json(), "postCount": 22504})

    page.route("**/members/*", enlarge, times=1)
    show(page, "/#/members/@carol")
    expect(page.locator("main .facts")).to_contain_text("22,504 posts")
    expect(page.locator("#budget")).to_contain_text("999,999 of 1,000,000 units remain for this token.")
    expect(page.locator("#calls .facts").first).to_contain_text("999,999 units remain")
    show(page, "/#/members/@bob")
    expect(page.get_by_role("heading", name="bob")).to_be_visible()


def directions(page: Page, server: Server) -> None:
    """Each text has its own direction."""
    headers = {"authorization": f"Bearer {server.token}", "content-type": "application/json"}
    new = {"title": "شاي أخضر", "body": "أحب الشاي.\n\nGreen.\n\n![a pot](https://images.example/pot.png) ![a cup](http://[)"}
    created = json.loads(server.ask("POST", f"{server.api}/forums/2/threads", headers, json.dumps(new)).text)
    show(page, f"/#/threads/{created['threadId']}")
    expect(page.get_by_role("heading", level=1)).to_have_css("direction", "rtl")
    expect(page.locator(".body p").nth(0)).to_have_css("direction", "rtl")
    expect(page.locator(".body p").nth(1)).to_have_css("direction", "ltr")
    expect(page.get_by_role("link", name="picture: a pot (images.example)")).to_be_visible()
    expect(page.get_by_text("picture: a cup (invalid address)")).to_be_visible()
    check_page(page, "reader-directions")


def own_thread(page: Page) -> None:
    """A member starts a thread, subscribes, and edits and deletes posts."""
    page.get_by_role("navigation", name="Breadcrumb").get_by_role("link", name="General").click()
    page.get_by_text("Start a thread").click()
    page.get_by_label("Title").fill("Kettles")
    page.get_by_label("Text").fill("Which one?")
    page.get_by_role("button", name="Start thread").click()
    posted(page, "Which one?")
    expect(page.get_by_role("heading", level=1)).to_have_text("Kettles")
    page.get_by_role("button", name="Subscribe").click()
    expect(page.get_by_role("button", name="Unsubscribe")).to_be_focused()
    expect(status(page)).to_have_text("Subscribed")
    page.get_by_role("button", name="Unsubscribe").click()
    expect(status(page)).to_have_text("Unsubscribed")
    page.get_by_label("Reply").fill("The old one.")
    page.get_by_role("button", name="Reply").click()
    posted(page, "The old one.")
    item = page.locator(".item", has_text="The old one.")
    item.get_by_text("Edit", exact=True).click()
    item.get_by_label("Text of the post").fill("The new one.")
    page.get_by_role("button", name="Save").click()
    expect(status(page)).to_have_text("Saved")
    item = page.locator(".item", has_text="The new one.")
    expect(item).to_be_focused()
    expect(item.locator("h2")).to_contain_text(" · edited")
    check_page(page, "reader-own-post")
    item.get_by_text("Delete", exact=True).click()
    expect(page.locator("#replies")).to_have_text("1 reply")
    page.get_by_role("button", name="Delete this post").click()
    expect(status(page)).to_have_text("Deleted")
    expect(item).to_have_count(0)
    expect(page.locator("#replies")).to_have_text("0 replies")
    expect(page.locator(".item")).to_be_focused()


def hits(page: Page) -> None:
    """The pages of a list have links to the first, the previous and the next one. The own profile has no form."""
    paging = page.locator("#view .paging").get_by_role("link")
    show(page, "/#/search?q=cup")
    expect(page.locator("#view .item")).to_have_count(20)
    expect(paging).to_have_text(["Next page"])
    paging.click()
    expect(paging.first).to_have_text("First page")
    expect(paging.nth(1)).to_have_text("Previous page")
    paging.nth(1).click()
    expect(paging).to_have_text(["Next page"])
    show(page, "/#/members/@alice")
    expect(page.get_by_role("heading", name="alice")).to_be_visible()
    expect(page.locator("#view summary")).to_have_count(0)
    page.locator(".skip").press("Enter")
    expect(page.locator("#main")).to_be_focused()


def refusals(page: Page, server: Server) -> None:
    """A refusal names its field. A reply is sent while another view is shown, and is kept if its token was revoked."""
    show(page, "/#/forums/2")
    page.get_by_text("Start a thread").click()
    title, text, area = (page.get_by_label(label) for label in ("Title", "Text", "Reply"))
    title.fill(" ")
    text.fill("Which one?")
    page.get_by_role("button", name="Start thread").click()
    expect(page.get_by_role("alert").filter(has_text=re.compile("^title: "))).to_be_visible()
    expect(title).to_have_attribute("aria-invalid", "true")
    expect(text).not_to_have_attribute("aria-invalid", "true")
    title.fill("")
    text.fill("")
    show(page, "/#/threads/16")
    area.fill("From afar")
    during(page, "/posts$", page.get_by_role("button", name="Reply").click, lambda: show(page, "/#/"))
    expect(status(page)).to_have_text("Sent")
    show(page, "/#/threads/16")
    expect(area).to_have_value("")
    area.fill("Kept")
    page.route("**/posts", lambda route: route.fulfill(status=401, json=REVOKED), times=1)
    page.get_by_role("button", name="Reply").click()
    expect(status(page)).to_have_text("The token is no longer valid. What you wrote is kept in this tab.")
    expect(page.get_by_text("Your reply is kept in this tab. Use a token to go on.")).to_be_visible()
    assert page.evaluate("sessionStorage.token") is None
    enter(page, issue(server, "alice"))
    expect(area).to_have_value("Kept")
    area.fill("")


def guest(page: Page) -> None:
    """A guest learns how to get the token that a page needs, and whose budget the requests spend."""
    budget = page.locator("#budget")
    expect(budget).to_have_text(re.compile(r"^[\d,]+ of [\d,]+ units remain for guests of this network\. What is a unit\?$"))
    expect(budget.get_by_role("link")).to_have_attribute("href", "/docs#about-rate-limits")
    show(page, "/#/messages")
    alert = page.get_by_role("alert").filter(has_text="This page needs a token of your own.")
    expect(alert.get_by_role("link", name="How to get a token")).to_be_visible()


def offline(browser: Browser, server: Server) -> None:
    """Without a connection the view stays, with a button to try again."""
    page = browser.new_page(base_url=server.address)
    page.goto("/#/")
    page.get_by_role("link", name="General").click()
    expect(page.get_by_role("heading", name="General")).to_be_focused()
    page.context.set_offline(True)
    page.get_by_role("link", name="Which tea").click()
    unreachable = "The server cannot be reached. Check the connection, then try again. Try again"
    expect(page.locator("#view [role=alert]")).to_have_text(unreachable)
    expect(page.locator("#calls li").first).to_contain_text("no response")
    expect(page.get_by_role("heading", name="General")).to_be_visible()
    page.context.set_offline(False)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="Which tea")).to_be_focused()
    enter(page, issue(server, "alice"))
    expect(status(page)).to_have_text(re.compile(r" · \d+ scopes"))
    expect(page.locator("#budget")).to_contain_text("units remain for this token.")
    page.context.set_offline(True)
    page.get_by_role("button", name="Remove token").click()
    expect(page.locator("#budget")).to_be_empty()
    page.context.close()


def failures(browser: Browser, server: Server) -> None:
    """A view that fails says when to try again, and how the operator finds the cause."""
    page = browser.new_page(base_url=server.address)

    def fail(code: int, headers: dict[str, str]) -> Callable[[Route], None]:
        error = {"error": {"code": "failed", "message": "Not now.", "requestId": "9"}}
        return lambda route: route.fulfill(status=code, headers=headers, json=error)

    cause = ". The operator of the board can find the cause in the log by this number."
    for code, headers, text, request in [
        (429, {"retry-after": "7"}, "Not now. Try again in 7 s. A token has a budget of its own.", "Request 9"),
        (500, {}, "Not now.", f"Request 9{cause}"),
    ]:
        page.route("**/api/v1/threads/16", fail(code, headers), times=1)
        page.goto("about:blank")
        page.goto("/#/threads/16")
        expect(page.locator("#view [role=alert]")).to_have_text(text)
        expect(page.locator("#view small")).to_have_text(request)
    page.context.close()


def drawer(page: Page) -> None:
    """On a phone the requests are in a drawer, in which nothing is covered."""
    page.set_viewport_size(PHONE)
    button = page.get_by_role("button", name=re.compile(r"^\d+ API requests"))
    expect(page.locator("#calls")).to_be_hidden()
    button.click()
    expect(page.locator("#calls")).to_be_visible()
    expect(button).to_have_attribute("aria-expanded", "true")
    assert not barriers(page)
    button.click()
    expect(page.locator("#calls")).to_be_hidden()
    button.click()
    page.get_by_label("Search").fill("tea")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("heading", name="Results for")).to_be_visible()
    expect(page.locator("#calls")).to_be_hidden()
    page.set_viewport_size(DESKTOP)


def without_script(browser: Browser, server: Server) -> None:
    """Without scripts the page has no form, and says what to do."""
    page = browser.new_page(base_url=server.address, java_script_enabled=False)
    page.goto("/")
    expect(page.locator("form:visible, aside:visible")).to_have_count(0)
    assert "example of forum-api" in page.get_by_role("main").inner_text()
    assert "needs JavaScript" in page.get_by_role("main").inner_text()
    expect(page.get_by_role("main").get_by_role("link", name="API reference")).to_be_visible()
    page.context.close()


def frame(page: Page, server: Server, name: str) -> None:
    """A long name of the board shrinks on every page, and the rest of the header does not."""
    page.goto("/sign-in?back=/panel/tokens")
    sign_in(page, "admin", server.password)
    for path in ("/", "/docs", "/panel/tokens", "/sign-in"):
        page.goto(path)
        pages = page.get_by_role("navigation", name="Pages").get_by_role("link")
        expect(pages).to_have_text(["Board", "API reference", "Panel"])
        expect(page.locator(".board")).to_have_attribute("title", name)
        icon = page.locator("link[rel=icon]").get_attribute("href")
        assert icon and icon.startswith("data:image/svg+xml,"), icon
        for size, height in ((DESKTOP, 64), (PHONE, 100)):
            page.set_viewport_size(size)
            box = page.locator(".frame").bounding_box()
            assert box and box["height"] <= height and fits(page), (path, box)
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            assert not barriers(page), (path, scheme)
        page.emulate_media(forced_colors="active")
        colors = "links => new Set(links.map(link => getComputedStyle(link).borderBottomColor)).size"
        assert pages.evaluate_all(colors) == 2, path
        if path == "/panel/tokens":
            assert page.locator(".bar nav a").evaluate_all(colors) == 2
        page.emulate_media(forced_colors="none", color_scheme="light")
    page.set_viewport_size(DESKTOP)
    frames = set[object]()
    for path in ("/", "/docs", "/panel/tokens", "/sign-in"):
        page.goto(path)
        frames.add(page.locator("header").first.evaluate(FRAME))
    assert len(frames) == 1, frames


@contextmanager
def replaced(page: Page) -> Iterator[None]:
    """Waits until another view replaces the one that is shown, in which the next step must not write or click."""
    former = page.locator("#view > *").first.element_handle()
    yield
    former.wait_for_element_state("hidden")


def show(page: Page, address: str) -> None:
    with replaced(page):
        page.goto(address)


def enter(page: Page, token: str) -> None:
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Use token").click()


def issue(server: Server, owner: str, scopes: str = "all") -> str:
    """Issues a token."""
    issued = server.command(
        "token", "issue", "--owner", owner, "--scopes", scopes, "--password-stdin", given=server.password + "\n"
    )
    return str(issued["token"])


def replace_token(page: Page, token: str) -> None:
    """Removes the token, enters another one, and waits for its view."""
    page.get_by_role("button", name="Remove token").click()
    expect(status(page)).to_have_text("The token was removed from this tab.")
    enter(page, token)
    expect(status(page)).to_have_text(re.compile(r" · \d+ scopes"))


def held(page: Page, path: str | re.Pattern[str]) -> list[Route]:
    """Returns a list of the next request for a path, which has no response before it is continued or fulfilled."""
    waiting: list[Route] = []
    page.route(path, lambda route: waiting.append(route), times=1)
    return waiting


def posted(page: Page, text: str) -> None:
    """Expects that the page shows a new post, with the focus on it."""
    expect(status(page)).to_have_text("Posted")
    expect(page.locator(".item", has_text=text)).to_be_focused()


def status(page: Page):  # type: ignore[no-untyped-def]
    return page.get_by_role("status")


def check_ids(page: Page) -> None:
    """An id in the address of the page is one segment of the path of a request, whatever its characters are."""
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    for view in ["threads", "forums"]:
        for name in ["..\\messages\\3#", "..\\messages\\3%23", "..%5Cmessages%5C3", "..%2Fme%3F", "..", ".", "%2e%2e", "%"]:
            show(page, "/#/")
            expect(page.get_by_role("heading", name="Forums")).to_be_visible()
            show(page, f"/#/{view}/{name}")
            expect(page.get_by_role("heading", name=re.compile("This cannot be shown|Not found"))).to_be_visible()
    show(page, "/#/__proto__/1")
    expect(page.get_by_role("heading", name="Forums")).to_be_visible()
    # Marks the words of a search, and not all words of a link.
    show(page, f"/#/threads/16?q={'+'.join(map(str, range(100_000)))}")
    expect(page.get_by_role("heading", name="Which tea for a rainy afternoon?")).to_be_visible()
    paths = {urlsplit(url).path for url in requested}
    unexpected = [path for path in paths if not re.fullmatch(r"/|/api/v1/forums|/api/v1/(threads/[^/]+(/posts|/poll)?|forums/[^/]+/threads)", path)]
    assert "/api/v1/threads/..%5Cmessages%5C3%23" in paths and not unexpected, paths


def operations(page: Page) -> list[dict[str, int]]:
    document = page.request.get("/api/v1/openapi.json").json()
    return [operation for item in document["paths"].values() for operation in item.values()]


def calls(page: Page) -> list[re.Match[str]]:
    """Returns the requests that the page shows, newest first."""
    texts = page.locator("#calls li").all_inner_texts()
    found = [CALL.search(text) for text in texts]
    assert texts and all(found), texts
    return [match for match in found if match]
