"""An operator's afternoon: each task of the control panel, as it is done with JavaScript and without."""

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

# What may be typed as "Expires in (days)", and after how many days the token expires then.
GOOD = {"": None, "1": 1, "36500": 36500, "  30 ": 30, "007": 7}
BAD = ["0", "-1", "+1", "1.5", "1e3", "ten", "١", "36501", "9" * 400, "1 day", "0x10", "1_000", "NaN"]

Look = Callable[[Page, str], None]


def spend(page: Page, server: Server, receiver: Receiver, look: Look) -> None:
    """Does all of it; at each new page there is time for a look."""
    enter(page, server, look)
    issue(page, server, look)
    revoke(page, server, look)
    deliver(page, receiver, look)
    bring_back(page, receiver, look)
    rotate(page, receiver, look)
    tidy(page, receiver, look)
    guess(page, server, look)
    leave(page, look)


def enter(page: Page, server: Server, look: Look) -> None:
    """Who is not signed in is asked to, and comes where they wanted to go."""
    go(page, "/panel/webhooks")
    look(page, "sign-in")
    page.get_by_label("Username", exact=True).fill("admin")
    page.get_by_label("Password", exact=True).fill("wrong")
    send(page, "Sign in", 401)
    expect(page.get_by_role("alert")).to_have_text("Incorrect username or password.")
    expect(page.get_by_label("Username", exact=True)).to_have_value("admin")
    expect(page.get_by_label("Password", exact=True)).to_have_value("")
    look(page, "sign-in-wrong")
    sign_in(page, "admin", server.password)
    expect(page.get_by_role("heading", level=1)).to_have_text("Webhooks")
    for name in ("webhooks", "deliveries", "usage"):
        go(page, f"/panel/{name}")
        expect(page.locator(".empty")).to_be_visible()
        look(page, f"{name}-empty")


def issue(page: Page, server: Server, look: Look) -> None:
    """Each good expiry gives a token that opens the API, and each bad one a reason."""
    go(page, "/panel/tokens")
    page.get_by_role("link", name="Issue a token").click()
    look(page, "tokens-new")
    before = server.command("token", "list")
    for number, days in enumerate(BAD):
        fill_in_token(page, server.password, label=f"bad {number}", days=days)
        send(page, "Create token", 422)
        assert "36500" in reason(page, EXPIRES), reason(page, EXPIRES)
        expect(page.get_by_label(EXPIRES, exact=True)).to_have_value(days)
        expect(page.get_by_label("Label", exact=True)).to_have_value(f"bad {number}")
        expect(page.get_by_role("checkbox", name="members:read")).to_be_checked()
        expect(page.get_by_label(PASSWORD, exact=True)).to_have_value("")
    look(page, "tokens-new-bad-expiry")
    fill_in_token(page, "wrong", owner="nobody")
    page.get_by_role("checkbox", name="members:read").uncheck()
    send(page, "Create token", 422)
    assert reason(page, PASSWORD) == "Incorrect password."
    assert reason(page, "Owner") == "No member has this username."
    look(page, "tokens-new-all-wrong")
    assert server.command("token", "list") == before, "no token was issued"
    for days, expected in GOOD.items():
        go(page, "/panel/tokens/new")
        fill_in_token(page, server.password, label=f"for {days.strip() or 'ever'}", days=days)
        send(page, "Create token", 200)
        assert lifetime(server, revealed(page)) == expected, days
        look(page, "tokens-issued")
    with page.expect_navigation() as again:
        page.reload()
    assert again.value.status == 409, "it is shown once"
    look(page, "tokens-sent-again")


def lifetime(server: Server, token: str) -> int | None:
    """After how many days a token expires that opens the API."""
    answer = server.me(token)
    assert answer.status == 200, answer.text
    told = json.loads(answer.text)["token"]
    if told["expiresAt"] is None:
        return None
    return (datetime.fromisoformat(told["expiresAt"]) - datetime.fromisoformat(told["createdAt"])).days


def revoke(page: Page, server: Server, look: Look) -> None:
    """A token that is revoked opens nothing any more."""
    go(page, "/panel/tokens/new")
    fill_in_token(page, server.password, label="lost phone", days="30")
    send(page, "Create token", 200)
    token = revealed(page)
    page.get_by_role("link", name="Done").click()
    look(page, "tokens")
    assert server.me(token).status == 200
    send(page, "Revoke lost phone", 200)
    expect(page.get_by_role("status")).to_contain_text("Token revoked.")
    assert state_of(page, "lost phone") == "revoked"
    assert server.me(token).status == 401
    look(page, "tokens-revoked")


def deliver(page: Page, receiver: Receiver, look: Look) -> None:
    """An endpoint is added, and a ping arrives there, signed."""
    go(page, "/panel/webhooks")
    page.get_by_label("URL", exact=True).fill("http://169.254.169.254/")
    page.get_by_label("Secret", exact=True).fill("short")
    send(page, "Add endpoint", 422)
    assert "16" in reason(page, "Secret")
    look(page, "webhooks-wrong-secret")
    page.get_by_label("Secret", exact=True).fill("")
    send(page, "Add endpoint", 422)
    assert reason(page, "URL")
    look(page, "webhooks-wrong-address")
    receiver.secret = add_endpoint(page, f"{receiver.address}/hook")
    look(page, "endpoint-new")
    send(page, "Send ping", 200)
    expect(page.get_by_role("heading", level=1)).to_have_text("Delivery")
    receiver.next_ping(receiver.secret)
    delivery_becomes(page, "delivered")
    look(page, "delivery-delivered")


def bring_back(page: Page, receiver: Receiver, look: Look) -> None:
    """A delivery that died is found, sent again, and arrives."""
    receiver.answers(500, "<script>alert(1)</script> out of order")
    open_endpoint(page, receiver)
    send(page, "Send ping", 200)
    first = receiver.next_ping(receiver.secret)
    for _ in range(5):
        assert receiver.next_ping(receiver.secret) == first
    delivery_becomes(page, "dead")
    page.get_by_role("link", name="Deliveries").click()
    look(page, "deliveries")
    page.get_by_label("State", exact=True).select_option("dead")
    send(page, "Filter", 200)
    expect(page.locator("tbody tr")).to_have_count(1)
    look(page, "deliveries-dead")
    page.locator("tbody a").first.click()
    expect(page.locator("tbody tr")).to_have_count(6)
    expect(page.locator("tbody pre").first).to_have_text("<script>alert(1)</script> out of order")
    look(page, "delivery-dead")
    receiver.answers(200, "thank you")
    send(page, "Redeliver this delivery", 200)
    assert receiver.next_ping(receiver.secret) == first
    delivery_becomes(page, "delivered")
    look(page, "delivery-after-all")


def rotate(page: Page, receiver: Receiver, look: Look) -> None:
    """A new secret pends until it is activated."""
    open_endpoint(page, receiver)
    send(page, "Rotate secret", 200)
    new = revealed(page)
    look(page, "endpoint-new-secret")
    page.get_by_role("link", name="Done").click()
    look(page, "endpoint-pending")
    send(page, "Send ping", 200)
    receiver.next_ping(receiver.secret, not_by=new)
    open_endpoint(page, receiver)
    send(page, "Activate new secret", 200)
    expect(page.get_by_role("status")).to_have_text("The new secret is active.")
    send(page, "Send ping", 200)
    receiver.next_ping(new, not_by=receiver.secret)
    receiver.secret = new


def tidy(page: Page, receiver: Receiver, look: Look) -> None:
    """Topics are chosen, an endpoint rests, what died there is sent again, and all of it goes."""
    open_endpoint(page, receiver)
    for box in page.get_by_role("checkbox").all():
        box.uncheck()
    send(page, "Save changes", 422)
    look(page, "endpoint-no-topic")
    page.get_by_role("checkbox", name="poll.voted").check()
    send(page, "Save changes", 200)
    receiver.answers(500, "")
    for _ in range(2):
        open_endpoint(page, receiver)
        send(page, "Send ping", 200)
        delivery_becomes(page, "dead")
    open_endpoint(page, receiver)
    send(page, "Disable", 200)
    look(page, "endpoint-disabled")
    send(page, "Enable", 200)
    go(page, "/panel/usage")
    look(page, "usage")
    receiver.answers(200, "")
    open_endpoint(page, receiver)
    page.get_by_role("link", name="All deliveries of this endpoint").click()
    look(page, "deliveries-of-endpoint")
    send(page, "Redeliver all failed", 200)
    page.locator("tbody a").first.click()
    delivery_becomes(page, "delivered")
    send(page, "Remove this delivery", 200)
    expect(page.get_by_role("status")).to_have_text("Delivery removed.")
    open_endpoint(page, receiver)
    page.get_by_text("Delete this endpoint").click()
    look(page, "endpoint-removal")
    send(page, "Delete endpoint", 200)
    expect(page.locator("tbody tr")).to_have_count(0)


def open_endpoint(page: Page, receiver: Receiver) -> None:
    go(page, "/panel/webhooks")
    page.get_by_role("link", name=receiver.address).click()


def guess(page: Page, server: Server, look: Look) -> None:
    """Five wrong passwords lock issuing, for the right one too. The first of them was sent with the bad expiries."""
    before = server.command("token", "list")
    go(page, "/panel/tokens/new")
    for _ in range(4):
        fill_in_token(page, "wrong")
        send(page, "Create token", 422)
    fill_in_token(page, server.password)
    headers = send(page, "Create token", 429)
    assert 1 <= int(headers["retry-after"]) <= 300
    expect(page.get_by_role("alert")).to_contain_text("Try again in ")
    assert server.command("token", "list") == before
    look(page, "tokens-new-locked")


def leave(page: Page, look: Look) -> None:
    """Who signed out is asked to sign in again."""
    go(page, "/panel/nothing", 404)
    look(page, "absent")
    go(page, "/panel/usage")
    send(page, "Sign out", 200)
    go(page, "/panel/usage")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
