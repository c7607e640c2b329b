"""Every page of the control panel: empty, with errors, with content, and with texts of any length."""

from playwright.sync_api import Page, expect

from accessibility import check_page
from panel import (
    EXPIRES,
    PASSWORD,
    add_endpoint,
    arrived,
    delivery_becomes,
    fill_in_token,
    follow,
    go,
    reason,
    revealed,
    send,
    sign_in,
)
from receiver import Receiver
from server import Server

# Texts that a page has to show as they are and without exceeding the screen.
TEXTS = {"long": "W" * 10_000, "mixed": "\"'><img src=x onerror=alert(1)>" + "wide words " * 900 + "end"}


def run(page: Page, server: Server, receiver: Receiver) -> None:
    """Opens each page in each of its states."""
    signed_out(page, server)
    empty(page)
    for name, text in TEXTS.items():
        token(page, server, name, text)
        endpoint(page, server, receiver, name, text)
    lists(page)
    secrets_and_removal(page)


def signed_out(page: Page, server: Server) -> None:
    """A visitor is sent to the sign-in page and afterwards to the requested page."""
    go(page, "/panel/webhooks")
    check_page(page, "sign-in")
    for name, text in TEXTS.items():
        page.get_by_label("Username", exact=True).fill(text)
        page.get_by_label("Password", exact=True).fill("wrong")
        send(page, "Sign in", 401)
        expect(page.get_by_role("alert")).to_have_text("Incorrect username or password.")
        expect(page.get_by_label("Username", exact=True)).to_have_value(text)
        expect(page.get_by_label("Password", exact=True)).to_have_value("")
        check_page(page, f"sign-in-{name}")
    sign_in(page, "admin", server.password)
    expect(page.get_by_role("heading", level=1)).to_have_text("Webhooks")


def empty(page: Page) -> None:
    for area in ("webhooks", "deliveries", "usage"):
        go(page, f"/panel/{area}")
        check_page(page, f"{area}-empty")
    go(page, "/panel/nothing", 404)
    check_page(page, "absent")


def token(page: Page, server: Server, name: str, text: str) -> None:
    """A rejected form keeps its values and announces its errors. An accepted one issues a token."""
    go(page, "/panel/tokens/new")
    check_page(page, "tokens-new")
    fill_in_token(page, "wrong", owner=text, label=text, days=text)
    # The Enter key presses no button that fills in fields.
    with page.expect_navigation() as navigation:
        page.get_by_label("Label", exact=True).press("Enter")
    arrived(navigation.value, 422)
    for field in ("Owner", "Label", EXPIRES):
        assert reason(page, field)
        expect(page.get_by_label(field, exact=True)).to_have_value(text)
    assert reason(page, PASSWORD) == "Incorrect password."
    expect(page.get_by_label(PASSWORD, exact=True)).to_have_value("")
    check_page(page, f"tokens-new-{name}")
    fill_in_token(page, server.password, label=text[:100])
    send(page, "Create token", 200)
    check_page(page, "tokens-issued")
    follow(page.get_by_role("link", name="Page of this token"))
    check_page(page, f"token-{name}")
    follow(page.get_by_role("link", name="Revoke", exact=True))
    check_page(page, f"token-revoke-{name}")


def endpoint(page: Page, server: Server, receiver: Receiver, name: str, text: str) -> None:
    """A rejected form keeps its values. A delivery shows the response of the receiver."""
    go(page, "/panel/webhooks")
    follow(page.get_by_role("link", name="Add an endpoint"))
    check_page(page, "webhooks-new")
    for field in ("URL", "Owner"):
        page.get_by_label(field, exact=True).fill(text)
    send(page, "Add endpoint", 422)
    assert reason(page, PASSWORD) == "Enter your password."
    for field in ("URL", "Owner"):
        expect(page.get_by_label(field, exact=True)).to_have_value(text)
    check_page(page, f"webhooks-{name}")
    receiver.answers(410, text)
    secret = add_endpoint(page, server.password, f"{receiver.address}/{text}".replace(" ", "-")[:2000])
    check_page(page, f"endpoint-{name}")
    send(page, "Send ping", 200)
    receiver.next_ping(secret)
    delivery_becomes(page, "gone")
    shown = page.get_by_role("group", name="Response body of attempt 1", exact=True).inner_text()
    assert text.startswith(shown.rstrip()) and len(shown) > 20, shown
    check_page(page, f"delivery-{name}")


def lists(page: Page) -> None:
    for area in ("tokens", "webhooks", "deliveries", "usage", "audit"):
        go(page, f"/panel/{area}")
        check_page(page, area)
    for filters in ("state=gone", "state=dead"):
        go(page, f"/panel/deliveries?{filters}")
        check_page(page, f"deliveries-{filters}")
    go(page, "/panel/audit")
    follow(page.locator("tbody a").first)
    check_page(page, "audit-entry")
    go(page, "/panel/tokens?search=nothing")
    check_page(page, "tokens-none")


def secrets_and_removal(page: Page) -> None:
    """The page of an endpoint while a secret is pending, with errors, disabled, and before its removal."""
    go(page, "/panel/webhooks")
    follow(page.locator("tbody a").first)
    send(page, "Rotate secret", 200)
    revealed(page)
    check_page(page, "endpoint-secret")
    follow(page.get_by_role("link", name="Done"))
    check_page(page, "endpoint-pending")
    for box in page.get_by_role("checkbox").all():
        box.uncheck()
    send(page, "Save changes", 422)
    check_page(page, "endpoint-no-topic")
    page.reload()
    send(page, "Disable", 200)
    page.get_by_text("Delete this endpoint").click()
    check_page(page, "endpoint-removal")
