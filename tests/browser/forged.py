"""Forged forms: every POST route of the panel rejects them and changes nothing."""

import re
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page

from receiver import Receiver
from server import Answer, Server

ROUTER = Path("src/panel/router.rs").read_text()

# Valid fields of every form, so that only the forgery can be the reason of a rejection.
FIELDS = [
    ("owner", "alice"),
    ("label", "forged"),
    ("scopes", "posts:read"),
    ("expires_in_days", ""),
    ("url", "http://127.0.0.1:1/"),
    ("topics", "post.created"),
]

FORM = {"content-type": "application/x-www-form-urlencoded"}


class Caller:
    """A signed-in member: session cookie and CSRF token."""

    def __init__(self, server: Server, name: str, password: str) -> None:
        form = urlencode({"name": name, "password": password})
        entered = server.ask("POST", "/sign-in", FORM, form)
        assert entered.status == 303, entered.text
        set_cookie = entered.headers["set-cookie"]
        assert set_cookie.endswith("; HttpOnly; SameSite=Lax; Path=/"), set_cookie
        self.cookie = {"cookie": set_cookie.split(";")[0]}
        page = server.ask("GET", "/panel/tokens/new", self.cookie).text
        found = re.search('name="csrf" value="([^"]+)"', page)
        self.csrf = found.group(1) if found else ""


def run(page: Page, server: Server, receiver: Receiver) -> None:
    """Sends forged forms to each route with the sessions of the server, directly and from a page of another site."""
    server.let_sign_in("mod", "secret-of-mod", "members,administrators")
    admin, other = (Caller(server, "admin", server.password) for _ in range(2))
    member = Caller(server, "mod", "secret-of-mod")
    assert admin.csrf and other.csrf and admin.csrf != other.csrf
    server.command("member", "groups", "mod", "members,staff")
    paths = create_content(server, receiver)
    before = server.state()

    def post(path: str, cookie: dict[str, str], csrf: str) -> Answer:
        shown = server.ask("GET", path.removesuffix("/activate"), admin.cookie).text if path.endswith("/activate") else ""
        pending = re.findall('name="(activates_at)" value="([^"]+)"', shown)
        fields = [*FIELDS, *pending, ("password", server.password), ("csrf", csrf)]
        return server.ask("POST", path, FORM | cookie, urlencode(fields))

    for path in paths:
        assert post(path, admin.cookie, other.csrf).status == 403, path
        assert post(path, {"cookie": "forum_session=" + "x" * 43}, admin.csrf).status == 303, path
        assert post(path, member.cookie, admin.csrf).status == 404, path
        send_from_other_origin(page, server, admin, path)
    assert server.state() == before

    # The same forms with valid credentials are accepted. The ping is a conflict, because the endpoint is disabled by then.
    for path in paths:
        status = post(path, admin.cookie, admin.csrf).status
        assert status in (200, 303) or (status == 409 and path.endswith(("/ping", "/example"))), (path, status)
    assert server.state() != before


def create_content(server: Server, receiver: Receiver) -> list[str]:
    """Creates a token, an endpoint and a delivery. Returns the paths of all POST routes with their ids, removals last."""
    command = ("token", "issue", "--owner", "bob", "--scopes", "all", "--password-stdin")
    token = server.command(*command, given=server.password + "\n")["lookup"]
    endpoint = server.command("webhook", "add", "--url", receiver.address, "--allow-private-webhooks")
    receiver.answers(410, "gone")
    server.command("webhook", "rotate", endpoint["id"])
    server.command("webhook", "ping", endpoint["id"], "--wait", "0")
    receiver.next_ping(endpoint["secret"])
    while (delivery := server.command("delivery", "list")[0])["state"] != "gone":
        pass
    ids = {"tokens": token, "webhooks": endpoint["id"], "deliveries": delivery["id"]}
    templates = re.findall(r'^    post\("/(\w+)([^"]*)"', ROUTER, re.MULTILINE)
    assert len(templates) == 16, templates
    paths = [f"/panel/{area}{rest.replace('{id}', ids[area])}" for area, rest in templates]
    return sorted(paths, key=lambda path: ("webhooks" in path, "remove" in path))


def send_from_other_origin(page: Page, server: Server, admin: Caller, path: str) -> None:
    """Sends a form from a page of another port. The browser adds the session cookie."""
    name, value = admin.cookie["cookie"].split("=")
    page.context.add_cookies([{"name": name, "value": value, "url": server.address}])
    inside = f'<input name=csrf value="{admin.csrf}"><button>Win</button>'
    form = f'<form method=post action="{server.address}{path}">{inside}</form>'
    page.route("http://127.0.0.1:2/", lambda route: route.fulfill(body=form, content_type="text/html"))
    page.goto("http://127.0.0.1:2/")
    with page.expect_navigation() as navigation:
        page.get_by_role("button", name="Win").click()
    sent = navigation.value.request.all_headers()
    assert navigation.value.status == 403, path
    assert sent["origin"] == "http://127.0.0.1:2" and name in sent["cookie"], sent
