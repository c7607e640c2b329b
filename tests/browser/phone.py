"""Phones and small windows: large text, a table in a post, the focus, a slow line, and pages without their script."""

from playwright.sync_api import Browser, Page, expect

from accessibility import PHONE, fits, too_wide
from panel import go, sign_in
from server import Server

TABLE = "| day | tea | cups |\n|---|---|---|\n| Mon | **Assam** | 3 |\n| Tue | Sencha | 2 |"
CODE = "```\n" + "tea " * 100 + "\n```"

# Default sizes of text in pixels: Android's "largest", and 200 %.
LARGE = (24, 32)

# The highest score of layout shifts that is "good".
MAX_SHIFT = 0.1

# Sums the layout shifts of a page.
SHIFTS = """
    window.shift = 0
    new PerformanceObserver((list) => list.getEntries().forEach(({ value }) => (window.shift += value)))
        .observe({ type: "layout-shift", buffered: true })
"""

# The audit entries whose time and action are printed over each other.
OVERLAPS = """rows => rows.filter(row => {
    const [time, action] = ["time", "[data-label=Action] code"].map((part) => {
        const range = document.createRange()
        range.selectNodeContents(row.querySelector(part))
        return range.getBoundingClientRect()
    })
    return time.right > action.left && time.left < action.right && time.bottom > action.top && time.top < action.bottom
}).map(row => row.innerText)"""

# Words of buttons and links of the header that are broken into two lines.
BROKEN_WORDS = """() => [...document.querySelectorAll("button, .menu, .pages a, .filter label")].flatMap((element) => {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
    const broken = []
    while (texts.nextNode()) {
        for (const { index, 0: word } of texts.currentNode.data.matchAll(/\\w+/g)) {
            const range = document.createRange()
            range.setStart(texts.currentNode, index)
            range.setEnd(texts.currentNode, index + word.length)
            if (range.getClientRects().length > 1 && !element.closest(".visually-hidden")) broken.push(word)
        }
    }
    return broken
})"""


def run(browser: Browser, server: Server) -> None:
    context = browser.new_context(base_url=server.address, viewport=PHONE)
    page = context.new_page()
    table(page, server)
    focus(page)
    audit(page, server)
    context.close()


def table(page: Page, server: Server) -> None:
    """A table in a post keeps its rows. What scrolls sideways can have the focus."""
    created = server.post("/forums/2/threads", {"title": "A table", "body": f"{TABLE}\n\n{CODE}"})
    page.goto(f"/#/threads/{created['threadId']}")
    expect(page.locator(".body tr")).to_have_count(3)
    for width in (PHONE["width"], 900, 1280):
        page.set_viewport_size({"width": width, "height": 740})
        tops = "rows => rows.map(row => new Set([...row.cells].map(cell => cell.getBoundingClientRect().top)).size)"
        assert page.locator(".body tr").evaluate_all(tops) == [1, 1, 1], width
        assert fits(page), too_wide(page)
    for scroller in (".body pre", ".body .table"):
        expect(page.locator(scroller)).to_have_attribute("tabindex", "0")
    page.set_viewport_size(PHONE)


def focus(page: Page) -> None:
    """The bar of the requests does not cover what has the focus. Escape closes the drawer."""
    page.goto("/#/forums/2")
    expect(page.get_by_role("heading", name="General")).to_be_visible()
    page.locator("#main").focus()
    covered = """() => {
        const { activeElement } = document
        const isOutside = activeElement.closest("#api") || activeElement === document.body
        const bar = document.querySelector("#api").getBoundingClientRect().top
        return !isOutside && activeElement.getBoundingClientRect().bottom > bar + 1 && activeElement.innerText
    }"""
    for _ in range(25):
        page.keyboard.press("Tab")
        assert not page.evaluate(covered), page.evaluate(covered)
    drawer = page.locator("#drawer")
    drawer.click()
    expect(page.locator("#calls")).to_be_visible()
    page.locator("#calls a").first.focus()
    page.keyboard.press("Escape")
    expect(page.locator("#calls")).to_be_hidden()
    # The Tab key may have left the page of Firefox, which then has no focus for Playwright.
    page.wait_for_function("() => document.activeElement.id === 'drawer'")


def audit(page: Page, server: Server) -> None:
    """Time and action of an entry are beside each other, or below each other."""
    for name in ("bob", "carol"):
        server.command("member", "password", name, "--password-stdin", given="correct horse\n")
    go(page, "/panel/audit")
    sign_in(page, "admin", server.password)
    expect(page.locator("tbody tr").first).to_be_visible()
    for width in (320, 360, 390, 412, 430):
        page.set_viewport_size({"width": width, "height": 740})
        assert page.locator("tbody tr").evaluate_all(OVERLAPS) == [], width
    page.set_viewport_size(PHONE)


def large_text(browser: Browser, server: Server) -> None:
    """With large text no page is wider than a phone, and no word of a control is broken."""
    server.command("webhook", "add", "--url", "http://127.0.0.1:9/a/long/path")
    [endpoint] = server.command("webhook", "list")
    [token, *_] = server.command("token", "list")
    paths = [
        "/",
        "/#/threads/16",
        "/docs",
        "/panel/tokens",
        f"/panel/tokens/{token['lookup']}",
        f"/panel/tokens/{token['lookup']}/revoke",
        "/panel/webhooks",
        f"/panel/webhooks/{endpoint['id']}",
        "/panel/deliveries",
        "/panel/audit",
    ]
    for size in LARGE:
        large = browser.browser_type.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", f"--blink-settings=defaultFontSize={size}"]
        )
        page = large.new_page(base_url=server.address, viewport=PHONE)
        page.goto("/sign-in")
        assert fits(page), (size, too_wide(page))
        sign_in(page, "admin", server.password)
        for path in paths:
            page.goto(path)
            expect(page.get_by_role("heading", level=1)).to_be_visible()
            assert fits(page), (size, path, too_wide(page))
            assert page.evaluate(BROKEN_WORDS) == [], (size, path)
        large.close()


def without_script(browser: Browser, server: Server) -> None:
    """The contents of the reference page do not cover the section that was chosen."""
    page = browser.new_page(base_url=server.address, java_script_enabled=False, viewport=PHONE)
    page.goto("/docs")
    page.get_by_text("Contents", exact=True).click()
    page.get_by_role("navigation", name="Contents").get_by_role("link", name="Rate limits").click()
    heading = page.get_by_role("heading", name="Rate limits")
    expect(heading).to_be_in_viewport()
    heading.click(trial=True)
    page.context.close()


def slow_line(browser: Browser, server: Server) -> None:
    """While the script loads, nothing that is shown moves. If the script does not arrive, the page says what to do."""
    page = browser.new_page(base_url=server.address, viewport=PHONE)
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    line = {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 50_000}
    session.send("Network.emulateNetworkConditions", line)
    page.add_init_script(SHIFTS)
    for path in ("/", "/#/threads/16"):
        page.goto("about:blank")
        page.goto(path)
        expect(page.locator(".items").first).to_be_visible()
        page.wait_for_load_state("networkidle")
        assert page.evaluate("shift") <= MAX_SHIFT, (path, page.evaluate("shift"))
    page.context.close()
    page = browser.new_page(base_url=server.address)
    page.route("**/reader.js", lambda route: route.abort())
    page.goto("/")
    expect(page.get_by_text("Loading…")).to_be_visible()
    expect(page.get_by_role("link", name="Load the page again")).to_be_visible()
    expect(page.locator("#view").get_by_role("link", name="List of forums")).to_be_visible()
    page.context.close()
