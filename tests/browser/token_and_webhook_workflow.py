"""An administrator's workflow: a token from its creation to its revocation, and a webhook that fails."""

import re
from time import monotonic

from playwright.sync_api import Page, expect

from accessibility import check_page
from panel import PASSWORD, add_endpoint, delivery_becomes, fill_in_token, follow, go, revealed, send, sign_in
from receiver import Receiver
from server import Server

REASON = "the signature was not checked: the secret is missing"

# The usage of a token is shown at most a minute after the request.
USAGE_SECONDS = 120

# Actions of the audit log, newest first.
ACTIONS = [
    "token.revoked",
    "endpoint.secret_activated",
    "endpoint.secret_rotated",
    "delivery.redelivered",
    "endpoint.updated",
    "endpoint.added",
    "token.issued",
]


def run(page: Page, server: Server, receiver: Receiver) -> None:
    """Prints each completed step."""
    began = monotonic()

    def done(step: str) -> None:
        print(f"workflow, {monotonic() - began:5.1f} s: {step}", flush=True)

    go(page, "/panel/tokens/new")
    sign_in(page, "admin", server.password)
    fill_in_token(page, server.password, label="statistics")
    send(page, "Create token", 200)
    token = revealed(page)
    done("a token is issued")
    for _ in range(3):
        assert server.me(token).status == 200
    search = server.ask("GET", f"{server.api}/search?q=tea", {"authorization": f"Bearer {token}"})
    assert search.status == 403, search.text
    done("the token is used: 3 requests succeed, 1 lacks a scope")
    follow(page.get_by_role("link", name="Page of this token"))
    token_page = page.url
    watch(page)
    check_page(page, "workflow-token")
    done("the page of the token shows 4 requests, 1 of them refused")
    receiver.answers(401, REASON)
    receiver.secret = add_endpoint(page, server.password, f"{receiver.address}/wrong")
    send(page, "Send ping", 200)
    first = receiver.next_ping(receiver.secret)
    expect(page.get_by_role("alert")).to_have_text("Ping failed. The endpoint responded with 401.")
    delivery_becomes(page, "dead")
    go(page, "/panel/webhooks")
    row = page.locator("tbody tr")
    expect(row.get_by_text("failing", exact=True)).to_be_visible()
    expect(row).to_contain_text("0\u00a0% 0 of 1")
    check_page(page, "workflow-webhooks")
    done("the list of webhooks shows that the endpoint fails")
    follow(row.get_by_role("link").last)
    expect(page.get_by_role("group", name="Request body", exact=True)).to_contain_text('"topic": "ping"')
    headers = page.get_by_role("group", name="Request headers of attempt 6", exact=True)
    expect(headers).to_contain_text("x-forum-signature: sha256=")
    response = page.get_by_role("group", name="Response body of attempt 6", exact=True)
    expect(response).to_have_text(REASON)
    check_page(page, "workflow-delivery")
    done("payload, headers and response of the delivery show the reason")
    for _ in range(5):
        receiver.next_ping(receiver.secret)
    receiver.answers(200, "thank you")
    follow(page.locator("dl a"))
    page.get_by_label("URL", exact=True).fill(f"{receiver.address}/right")
    page.get_by_label(PASSWORD, exact=True).fill(server.password)
    send(page, "Save changes", 200)
    done("receiver and URL are corrected")
    go(page, f"/panel/deliveries/{first}")
    send(page, "Redeliver this delivery", 200)
    assert receiver.next_ping(receiver.secret) == first
    delivery_becomes(page, "delivered")
    go(page, "/panel/webhooks")
    expect(row.get_by_text("failing", exact=True)).to_have_count(0)
    expect(row).to_contain_text("100\u00a0% 1 of 1")
    done("the delivery is redelivered and arrives, and the endpoint is no longer marked as failing")
    follow(row.get_by_role("link", name=receiver.address))
    send(page, "Rotate secret", 200)
    new = revealed(page)
    follow(page.get_by_role("link", name="Done"))
    send(page, "Activate new secret", 200)
    send(page, "Send ping", 200)
    receiver.next_ping(new, not_by=receiver.secret)
    done("the secret is rotated: a ping is signed with the new one only")
    go(page, token_page)
    follow(page.get_by_role("link", name="Revoke", exact=True))
    send(page, "Revoke", 200)
    assert server.me(token).status == 401
    done("the token is revoked: requests with it return 401")
    go(page, "/panel/audit")
    actions = page.locator("td[data-label='Action']").all_inner_texts()
    assert actions[: len(ACTIONS)] == ACTIONS, actions
    check_page(page, "audit")
    done("the audit log has an entry for each change")


def watch(page: Page) -> None:
    """Reloads the page of a token until it shows the requests."""
    chart = page.get_by_role("img", name=re.compile("4 requests, 1 refused, 0 with another 4xx, 0 failed · busiest hour: "))
    began = monotonic()
    while chart.count() == 0:
        assert monotonic() - began < USAGE_SECONDS, "no usage is shown"
        page.wait_for_timeout(2_000)
        go(page, page.url)
