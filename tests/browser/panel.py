"""Steps of an administrator in the control panel."""

from typing import Any

from playwright.sync_api import Locator, Page, expect

EXPIRES = "Expires in (days)"
PASSWORD = "Your password"


def sign_in(page: Page, name: str, password: str) -> None:
    """Fills in and submits the sign-in page."""
    page.get_by_label("Username", exact=True).fill(name)
    page.get_by_label("Password", exact=True).fill(password)
    send(page, "Sign in", 200)


def send(page: Page, button: str, status: int) -> dict[str, str]:
    """Presses a button and checks the status of the next page. Returns its headers."""
    with page.expect_navigation() as navigation:
        page.get_by_role("button", name=button, exact=True).click()
    return arrived(navigation.value, status)


def follow(link: Locator) -> None:
    """Follows a link and checks the status of the next page."""
    with link.page.expect_navigation() as navigation:
        link.click()
    arrived(navigation.value, 200)


def go(page: Page, path: str, status: int = 200) -> dict[str, str]:
    """Opens a page and checks its status. Returns its headers."""
    return arrived(page.goto(path), status)


def arrived(response: Any, status: int) -> dict[str, str]:
    # Firefox returns a stored page with the status of its validation.
    found = response and (200 if response.status == 304 else response.status)
    assert found == status, (found, response and response.url)
    return dict(response.headers)


def fill_in_token(page: Page, password: str, *, owner: str = "alice", label: str = "laptop", days: str = "") -> None:
    """Fills in the form that issues a token, replacing its values."""
    page.get_by_label("Owner", exact=True).fill(owner)
    page.get_by_label("Label", exact=True).fill(label)
    page.get_by_role("checkbox", name="members:read").check()
    page.get_by_label(EXPIRES, exact=True).fill(days)
    page.get_by_label(PASSWORD, exact=True).fill(password)


def revealed(page: Page) -> str:
    """Returns the secret that is shown once, selected with a click."""
    field = page.locator(".secret code")
    field.click()
    text = field.inner_text()
    assert page.evaluate("getSelection().toString()") == text
    return text


def add_endpoint(page: Page, password: str, address: str) -> str:
    """Adds an endpoint with all topics and opens its page. Returns its secret."""
    go(page, "/panel/webhooks")
    page.get_by_label("URL", exact=True).fill(address)
    page.get_by_label(PASSWORD, exact=True).fill(password)
    send(page, "Add endpoint", 200)
    secret = revealed(page)
    follow(page.get_by_role("link", name="Done"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("http")
    return secret


def delivery_becomes(page: Page, state: str) -> None:
    """Reloads the page of a delivery until the delivery has this state."""
    for _ in range(400):
        if page.locator("dl .badge").inner_text() == state:
            return
        go(page, page.url.split("?")[0])
    raise AssertionError(f"the delivery does not become {state}")


def reason(page: Page, field: str) -> str:
    """Returns the error of a field, as a screen reader announces it."""
    described = page.get_by_label(field, exact=True).get_attribute("aria-describedby") or ""
    named = [part for part in described.split() if part.endswith("-error")]
    assert page.get_by_label(field, exact=True).get_attribute("aria-invalid") == "true" and len(named) == 1, described
    return page.locator(f"#{named[0]}").inner_text()
