"""An administrator's session: each task of the control panel, with JavaScript and without."""

import json
from collections.abc import Callable
from datetime import datetime

from playwright.sync_api import Page, expect

from panel import (
    EXPIRES,
    PASSWORD,
    add_endpoint,
    delivery_becomes,
    fill_in_token,
    go,
    reason,
    revealed,
    send,
    sign_in,
    state_of,
)
from receiver import Receiver
from server import Server

# Valid values of "Expires in (days)" with the lifetime of the token in days, and invalid values.
GOOD = {"": None, "1": 1, "36500": 36500, "  30 ": 30, "007": 7}
BAD = ["0", "-1", "+1", "1.5", "1e3", "ten", "١", "36501", "9" * 400, "1 day", "0x10", "1_000", "NaN"]

CheckPage = Callable[[Page, str], None]


def run(page: Page, server: Server, receiver: Receiver, check_page: CheckPage) -> None:
    """Runs all tasks. Each new page is passed to `check_page`."""
    enter(page, server, check_page)
    issue(page, server, check_page)
    revoke(page, server, check_page)
    deliver(page, receiver, check_page)
    redeliver(page, receiver, check_page)
    rotate(page, receiver, check_page)
    tidy(page, receiver, check_page)
    guess(page, server, check_page)
    leave(page, check_page)


def enter(page: Page, server: Server, check_page: CheckPage) -> None:
    """A visitor who is not signed in is sent to the sign-in page and afterwards to the requested page."""
    go(page, "/panel/webhooks")
    check_page(page, "sign-in")
    page.get_by_label("Username", exact=True).fill("admin")
    page.get_by_label("Password", exact=True).fill("wrong")
    send(page, "Sign in", 401)
    expect(page.get_by_role("alert")).to_have_text("Incorrect username or password.")
    expect(page.get_by_label("Username", exact=True)).to_have_value("admin")
    expect(page.get_by_label("Password", exact=True)).to_have_value("")
    check_page(page, "sign-in-wrong")
    sign_in(page, "admin", server.password)
    expect(page.get_by_role("heading", level=1)).to_have_text("Webhooks")
    for name in ("webhooks", "deliveries", "usage"):
        go(page, f"/panel/{name}")
        expect(page.locator(".empty").first).to_be_visible()
        check_page(page, f"{name}-empty")


def issue(page: Page, server: Server, check_page: CheckPage) -> None:
    """Each valid expiry gives a working token, and each invalid one an error."""
    go(page, "/panel/tokens")
    page.get_by_role("link", name="Issue a token").click()
    check_page(page, "tokens-new")
    presets(page, check_page)
    before = server.command("token", "list")
    for number, days in enumerate(BAD):
        fill_in_token(page, server.password, label=f"bad {number}", days=days)
        send(page, "Create token", 422)
        assert "36500" in reason(page, EXPIRES), reason(page, EXPIRES)
        expect(page.get_by_label(EXPIRES, exact=True)).to_have_value(days)
        expect(page.get_by_label("Label", exact=True)).to_have_value(f"bad {number}")
        expect(page.get_by_role("checkbox", name="members:read")).to_be_checked()
        expect(page.get_by_label(PASSWORD, exact=True)).to_have_value("")
    check_page(page, "tokens-new-bad-expiry")
    fill_in_token(page, "wrong", owner="ghost")
    page.get_by_role("checkbox", name="members:read").uncheck()
    send(page, "Create token", 422)
    assert reason(page, PASSWORD) == "Incorrect password."
    assert reason(page, "Owner") == "No member has this username."
    check_page(page, "tokens-new-all-wrong")
    assert server.command("token", "list") == before, "no token was issued"
    for days, expected in GOOD.items():
        go(page, "/panel/tokens/new")
        fill_in_token(page, server.password, label=f"for {days.strip() or 'ever'}", days=days)
        send(page, "Create token", 200)
        assert lifetime(server, revealed(page)) == expected, days
        check_page(page, "tokens-issued")
    with page.expect_navigation() as again:
        page.reload()
    assert again.value.status == 409, "the token is shown once"
    check_page(page, "tokens-sent-again")


def presets(page: Page, check_page: CheckPage) -> None:
    """Buttons fill in scopes and expiry and keep the other fields. The Enter key does not press them."""
    page.get_by_label("Label", exact=True).fill("robot")
    send(page, "All scopes", 200)
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(13)
    send(page, "Read only", 200)
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(7)
    for button, days in (("1 year", "365"), ("Never", ""), ("30 days", "30")):
        send(page, button, 200)
        expect(page.get_by_label(EXPIRES, exact=True)).to_have_value(days)
    expect(page.get_by_label("Label", exact=True)).to_have_value("robot")
    check_page(page, "tokens-new-presets")
    with page.expect_navigation() as navigation:
        page.get_by_label("Label", exact=True).press("Enter")
    assert navigation.value.status == 422
    for box in page.get_by_role("checkbox").all():
        box.uncheck()


def lifetime(server: Server, token: str) -> int | None:
    """Returns the lifetime in days of a working token; None if it never expires."""
    answer = server.me(token)
    assert answer.status == 200, answer.text
    info = json.loads(answer.text)["token"]
    if info["expiresAt"] is None:
        return None
    return (datetime.fromisoformat(info["expiresAt"]) - datetime.fromisoformat(info["createdAt"])).days


def revoke(page: Page, server: Server, check_page: CheckPage) -> None:
    """A revoked token stops working."""
    go(page, "/panel/tokens/new")
    fill_in_token(page, server.password, label="lost phone", days="30")
    send(page, "Create token", 200)
    token = revealed(page)
    page.get_by_role("link", name="Done").click()
    check_page(page, "tokens")
    assert server.me(token).status == 200
    find_token(page, check_page)
    page.get_by_role("link", name="lost phone", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("API token")
    page.get_by_label("Label", exact=True).fill("two\u202elines")
    send(page, "Save changes", 422)
    assert "100 characters" in reason(page, "Label")
    check_page(page, "token-wrong-label")
    page.get_by_label("Label", exact=True).fill("stolen phone")
    send(page, "Save changes", 200)
    expect(page.get_by_role("status")).to_have_text("Changes saved.")
    check_page(page, "token")
    go(page, "/panel/tokens")
    page.get_by_role("link", name="Revoke stolen phone").click()
    check_page(page, "token-revoke")
    page.get_by_role("link", name="Cancel").click()
    page.get_by_role("link", name="Revoke", exact=True).click()
    assert server.me(token).status == 200, "nothing is revoked before the confirmation"
    send(page, "Revoke", 200)
    expect(page.get_by_role("status")).to_contain_text("Token revoked.")
    expect(page.get_by_text("stolen phone")).to_have_count(0)
    page.get_by_label("State", exact=True).select_option("revoked")
    send(page, "Filter", 200)
    assert state_of(page, "stolen phone") == "revoked"
    assert server.me(token).status == 401
    check_page(page, "tokens-revoked")
    page.get_by_role("link", name="stolen phone", exact=True).click()
    expect(page.get_by_role("link", name="Revoke", exact=True)).to_have_count(0)
    check_page(page, "token-revoked")


def find_token(page: Page, check_page: CheckPage) -> None:
    """A token is found by its label; a search without a result says so."""
    page.get_by_label("Label, lookup or owner", exact=True).fill("nothing")
    send(page, "Filter", 200)
    expect(page.locator(".empty")).to_contain_text("No tokens match these filters.")
    check_page(page, "tokens-none-found")
    page.get_by_label("Label, lookup or owner", exact=True).fill("LOST")
    page.get_by_label("Owner", exact=True).fill("alice")
    send(page, "Filter", 200)
    expect(page.locator("tbody tr")).to_have_count(1)


def deliver(page: Page, receiver: Receiver, check_page: CheckPage) -> None:
    """An added endpoint receives a signed ping."""
    go(page, "/panel/webhooks")
    page.get_by_label("URL", exact=True).fill("http://169.254.169.254/")
    page.get_by_label("Secret", exact=True).fill("short")
    send(page, "Add endpoint", 422)
    assert "16" in reason(page, "Secret")
    check_page(page, "webhooks-wrong-secret")
    page.get_by_label("Secret", exact=True).fill("")
    send(page, "Add endpoint", 422)
    assert reason(page, "URL")
    check_page(page, "webhooks-wrong-address")
    receiver.secret = add_endpoint(page, f"{receiver.address}/hook")
    check_page(page, "endpoint-new")
    send(page, "Send ping", 200)
    expect(page.get_by_role("heading", level=1)).to_have_text("Delivery")
    receiver.next_ping(receiver.secret)
    expect(page.get_by_role("status")).to_have_text("Ping delivered. The endpoint responded with 200.")
    check_page(page, "delivery-pinged")
    delivery_becomes(page, "delivered")
    check_page(page, "delivery-delivered")


def redeliver(page: Page, receiver: Receiver, check_page: CheckPage) -> None:
    """A dead delivery is found, redelivered, and arrives."""
    receiver.answers(500, "<script>alert(1)</script> out of order")
    open_endpoint(page, receiver)
    send(page, "Send ping", 200)
    first = receiver.next_ping(receiver.secret)
    for _ in range(5):
        assert receiver.next_ping(receiver.secret) == first
    delivery_becomes(page, "dead")
    page.get_by_role("link", name="Deliveries").click()
    check_page(page, "deliveries")
    page.get_by_label("State", exact=True).select_option("dead")
    send(page, "Filter", 200)
    expect(page.locator("tbody tr")).to_have_count(1)
    check_page(page, "deliveries-dead")
    page.locator("tbody a").first.click()
    expect(page.locator(".timeline li")).to_have_count(6)
    answer = page.get_by_role("group", name="Response body of attempt 6", exact=True)
    expect(answer).to_have_text("<script>alert(1)</script> out of order")
    request = page.get_by_role("group", name="Request headers of attempt 6", exact=True)
    expect(request).to_contain_text(f"x-forum-delivery: {first}")
    expect(page.get_by_role("group", name="Request body", exact=True)).to_contain_text('"topic": "ping"')
    check_page(page, "delivery-dead")
    page.locator(".timeline summary").last.click()
    expect(page.get_by_role("group", name="Response body of attempt 1", exact=True)).to_be_visible()
    check_page(page, "delivery-attempts")
    go(page, "/panel/webhooks")
    expect(page.get_by_text("failing", exact=True)).to_be_visible()
    check_page(page, "webhooks-failing")
    go(page, "/panel/deliveries")
    page.get_by_label("Response", exact=True).select_option("5xx")
    page.get_by_label("Queued from (UTC)", exact=True).fill("2020-01-31T12:00")
    send(page, "Filter", 200)
    expect(page.get_by_label("Queued from (UTC)", exact=True)).to_have_value("2020-01-31T12:00")
    expect(page.locator("tbody tr")).to_have_count(1)
    check_page(page, "deliveries-filtered")
    page.get_by_label("Queued until (UTC)", exact=True).fill("2020-02-01T00:00")
    send(page, "Filter", 200)
    expect(page.get_by_text("No deliveries match these filters.")).to_be_visible()
    check_page(page, "deliveries-none")
    go(page, f"/panel/deliveries/{first}")
    receiver.answers(200, "thank you")
    send(page, "Redeliver this delivery", 200)
    assert receiver.next_ping(receiver.secret) == first
    delivery_becomes(page, "delivered")
    check_page(page, "delivery-after-all")


def rotate(page: Page, receiver: Receiver, check_page: CheckPage) -> None:
    """A new secret is pending until it is activated."""
    open_endpoint(page, receiver)
    send(page, "Rotate secret", 200)
    new = revealed(page)
    check_page(page, "endpoint-new-secret")
    page.get_by_role("link", name="Done").click()
    check_page(page, "endpoint-pending")
    send(page, "Send ping", 200)
    receiver.next_ping(receiver.secret, not_by=new)
    open_endpoint(page, receiver)
    send(page, "Activate new secret", 200)
    expect(page.get_by_role("status")).to_have_text("The new secret is active.")
    send(page, "Send ping", 200)
    receiver.next_ping(new, not_by=receiver.secret)
    receiver.secret = new


def tidy(page: Page, receiver: Receiver, check_page: CheckPage) -> None:
    """An endpoint is changed and disabled, its dead deliveries are redelivered, and it is deleted."""
    open_endpoint(page, receiver)
    for box in page.get_by_role("checkbox").all():
        box.uncheck()
    send(page, "Save changes", 422)
    check_page(page, "endpoint-no-topic")
    page.get_by_role("checkbox", name="poll.voted").check()
    page.get_by_label("URL", exact=True).fill("http://169.254.169.254/")
    page.get_by_label("Owner", exact=True).fill("ghost")
    send(page, "Save changes", 422)
    assert reason(page, "Owner") == "No member has this username."
    check_page(page, "endpoint-wrong-owner")
    page.get_by_label("Owner", exact=True).fill("alice")
    send(page, "Save changes", 422)
    assert reason(page, "URL")
    page.get_by_label("URL", exact=True).fill(f"{receiver.address}/changed")
    send(page, "Save changes", 200)
    expect(page.get_by_role("status")).to_have_text("Changes saved.")
    expect(page.get_by_label("Owner", exact=True)).to_have_value("alice")
    check_page(page, "endpoint-changed")
    receiver.answers(500, "")
    for _ in range(2):
        open_endpoint(page, receiver)
        send(page, "Send ping", 200)
        delivery_becomes(page, "dead")
    open_endpoint(page, receiver)
    send(page, "Disable", 200)
    check_page(page, "endpoint-disabled")
    send(page, "Enable", 200)
    go(page, "/panel/usage")
    check_page(page, "usage")
    receiver.answers(200, "")
    open_endpoint(page, receiver)
    page.get_by_role("link", name="All deliveries of this endpoint").click()
    check_page(page, "deliveries-of-endpoint")
    send(page, "Redeliver all failed", 200)
    page.locator("tbody a").first.click()
    delivery_becomes(page, "delivered")
    send(page, "Remove this delivery", 200)
    expect(page.get_by_role("status")).to_have_text("Delivery removed.")
    open_endpoint(page, receiver)
    page.get_by_text("Delete this endpoint").click()
    check_page(page, "endpoint-removal")
    send(page, "Delete endpoint", 200)
    expect(page.locator("tbody tr")).to_have_count(0)


def open_endpoint(page: Page, receiver: Receiver) -> None:
    go(page, "/panel/webhooks")
    page.get_by_role("link", name=receiver.address).click()


def guess(page: Page, server: Server, check_page: CheckPage) -> None:
    """Five wrong passwords lock issuing, also for the correct one. The bad expiries may have counted one of them."""
    before = server.command("token", "list")
    go(page, "/panel/tokens/new")
    for _ in range(4):
        fill_in_token(page, "wrong")
        send(page, "Create token", 422)
    fill_in_token(page, "wrong")
    with page.expect_navigation() as fifth:
        page.get_by_role("button", name="Create token", exact=True).click()
    assert fifth.value.status in (422, 429), fifth.value.status
    fill_in_token(page, server.password)
    headers = send(page, "Create token", 429)
    assert 1 <= int(headers["retry-after"]) <= 300
    expect(page.get_by_role("alert")).to_contain_text("Try again in ")
    assert server.command("token", "list") == before
    check_page(page, "tokens-new-locked")


def leave(page: Page, check_page: CheckPage) -> None:
    """After signing out the panel requires a new sign-in."""
    go(page, "/panel/nothing", 404)
    check_page(page, "absent")
    go(page, "/panel/usage")
    send(page, "Sign out", 200)
    go(page, "/panel/usage")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
