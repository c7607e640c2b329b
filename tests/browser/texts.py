"""Input of any length and content is shown as text."""

from collections.abc import Iterator

from playwright.sync_api import Page, expect

from accessibility import check_page
from panel import EXPIRES, PASSWORD, delivery_becomes, fill_in_token, go, revealed, send, sign_in
from receiver import Receiver
from server import Server

SCRIPT = "<script>alert(1)</script>"
LONG = "W" * 10_000
MIXED = "\"'><img src=x onerror=alert(1)>" + "wide words " * 1_000

# Maximum length of a text in a URL, which contains up to four and must fit into a request head of 32 KiB.
URL_TEXT = 4_000

# URLs that contain arbitrary text.
QUERIES = [
    "deliveries?state={0}&endpoint={0}&topic={0}&after={0}",
    "deliveries?response={0}&from={0}&to={0}",
    "tokens?search={0}&owner={0}&state={0}&after={0}",
    "usage?done={0}",
]


def run(page: Page, server: Server, receiver: Receiver) -> None:
    """Enters scripts and very long texts into every field."""
    into_sign_in(page, server)
    into_urls(page)
    into_tokens(page, server)
    into_endpoints(page)
    from_receivers(page, receiver)


def texts() -> Iterator[tuple[str, str]]:
    yield from (("script", SCRIPT), ("long", LONG), ("mixed", MIXED.strip()))


def into_sign_in(page: Page, server: Server) -> None:
    for name, text in texts():
        go(page, "/sign-in")
        page.get_by_label("Username", exact=True).fill(text)
        page.get_by_label("Password", exact=True).fill(text)
        send(page, "Sign in", 401)
        expect(page.get_by_label("Username", exact=True)).to_have_value(text)
        check_page(page, f"sign-in-{name}")
    page.get_by_label("Username", exact=True).fill("")
    sign_in(page, "admin", server.password)


def into_urls(page: Page) -> None:
    """Text of a URL is not shown."""
    for _, text in texts():
        for query in QUERIES:
            go(page, f"/panel/{query.format(text[:URL_TEXT])}")
            assert text[:20] not in page.locator("body").inner_text()
        for path in (text, f"webhooks/{text}", f"deliveries/{text}"):
            go(page, f"/panel/{path}", 404)


def into_tokens(page: Page, server: Server) -> None:
    for name, text in texts():
        go(page, "/panel/tokens/new")
        fill_in_token(page, text, owner=text, label=text, days=text)
        send(page, "Create token", 422)
        for field in ("Owner", "Label", EXPIRES):
            expect(page.get_by_label(field, exact=True)).to_have_value(text)
        expect(page.get_by_label(PASSWORD, exact=True)).to_have_value("")
        check_page(page, f"tokens-new-{name}")
        fill_in_token(page, server.password, label=label(text))
        send(page, "Create token", 200)
    go(page, "/panel/tokens")
    for _, text in texts():
        expect(page.locator("strong").get_by_text(label(text), exact=True)).to_have_count(1)
    check_page(page, "tokens-texts")
    page.locator("tbody a").first.click()
    check_page(page, "token-texts")


def label(text: str) -> str:
    """Returns the part of the text that fits into a label."""
    return text[:100].strip()


def into_endpoints(page: Page) -> None:
    for name, text in texts():
        go(page, "/panel/webhooks")
        page.get_by_label("URL", exact=True).fill(text)
        page.get_by_label("Owner", exact=True).fill(text)
        send(page, "Add endpoint", 422)
        expect(page.get_by_label("URL", exact=True)).to_have_value(text)
        expect(page.get_by_label("Owner", exact=True)).to_have_value(text)
        check_page(page, f"webhooks-{name}")


def from_receivers(page: Page, receiver: Receiver) -> None:
    """A URL of maximum length, and responses with scripts and long texts."""
    for name, text in texts():
        receiver.answers(410, text)
        go(page, "/panel/webhooks")
        page.get_by_label("URL", exact=True).fill(f"{receiver.address}/{text}".replace(" ", "-")[:2000])
        page.get_by_label("Secret", exact=True).fill(text)
        send(page, "Add endpoint", 200)
        check_page(page, f"endpoint-added-{name}")
        assert revealed(page) == text
        page.get_by_role("link", name="Done").click()
        send(page, "Send ping", 200)
        receiver.next_ping(text)
        delivery_becomes(page, "gone")
        shown = page.get_by_role("group", name="Response body of attempt 1", exact=True).inner_text()
        assert text.startswith(shown.rstrip()) and len(shown) > 20, shown
        check_page(page, f"delivery-{name}")
        page.locator("dl a").click()
        check_page(page, f"endpoint-{name}")
    for area in ("webhooks", "deliveries", "usage"):
        go(page, f"/panel/{area}")
        check_page(page, f"{area}-texts")
