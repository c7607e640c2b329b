"""Sends the JSON parsing suite, the Big List of Naughty Strings and XSS payloads to a new board. No response is a 5xx.
What is not JSON is refused. Texts are returned as they were sent, and escaped in the HTML of posts and in pages."""

import json
import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import local
from time import sleep
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from brs_kb.payloads import get_all_payloads
from selectolax.lexbor import LexborHTMLParser

# Elements of the HTML of a post with their attributes.
PLAIN = "html head body p blockquote pre h3 h4 h5 h6 ul li em strong del hr br table thead tbody tr"
ELEMENTS: dict[str, set[str]] = {name: set() for name in PLAIN.split()} | {
    "a": {"href", "rel", "title"}, "code": {"class"}, "img": {"alt", "src", "title"}, "ol": {"start"},
    "td": {"align"}, "th": {"align"},
}

MARKUP = "[a](TEXT) ![b](TEXT) <TEXT> [c](<TEXT> 'TEXT') [d]\n\n[d]: TEXT\n\nhttps://a.example/TEXT"

FORM = "application/x-www-form-urlencoded"

failures: list[str] = []


def expect(is_right: bool, *about: object) -> None:
    if not is_right:
        failures.append(" ".join(ascii(part)[:300] for part in about))


class Board:
    """The server, with a connection for each thread."""

    def __init__(self, greeting: dict[str, str]) -> None:
        self.address, self.token = urlsplit(greeting["api"]).netloc, greeting["token"]
        self.connections = local()
        credentials = urlencode({"name": greeting["user"], "password": greeting["password"], "back": "/panel"})
        signed_in, _ = self.send("POST", "/sign-in", credentials.encode(), {"content-type": FORM})
        self.cookie = signed_in.headers["set-cookie"].split(";")[0]
        forums = self.api("GET", "/forums")[1]["items"]
        self.forum = next(forum["forumId"] for forum in forums if forum["canStartThread"])
        plain = {"title": "plain", "body": "plain"}
        self.thread = self.api("POST", f"/forums/{self.forum}/threads", plain)[1]["threadId"]

    def each(self, check: Callable, items: list) -> list:
        """Calls a function with each item. An exception is a failure, for example a broken connection."""

        def call(item: Any) -> Any:
            try:
                return check(self, item)
            except Exception as error:
                self.connections.__dict__.clear()
                expect(False, check.__name__, item, repr(error))

        with ThreadPoolExecutor(4) as threads:
            return list(threads.map(call, items))

    def send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[HTTPResponse, str]:
        if not hasattr(self.connections, "connection"):
            self.connections.connection = HTTPConnection(self.address, timeout=60)
        self.connections.connection.request(method, path, body, headers)
        response = self.connections.connection.getresponse()
        text = response.read().decode()
        expect(response.status < 500, response.status, method, path, body, text)
        return response, text

    def json(self, method: str, path: str, body: object) -> tuple[int, Any]:
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        response, text = self.send(method, path, data, headers)
        return response.status, json.loads(text)

    def api(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        status, answer = self.json(method, f"/api/v1{path}", body)
        is_error = list(answer) == ["error"] and set(answer["error"]) == {"code", "message", "requestId"}
        expect(is_error == (status >= 400), path, body, status, answer)
        return status, answer

    def post(self, body: object) -> tuple[int, Any]:
        return self.api("POST", f"/threads/{self.thread}/posts", body)

    def message(self, message: bytes) -> tuple[int, Any]:
        """Returns the status with the object of the result, or with the error."""
        status, answer = self.json("POST", "/mcp", message)
        expect(answer["jsonrpc"] == "2.0" and ("result" in answer) != ("error" in answer), message, answer)
        return status, answer["result"]["structuredContent"] if "result" in answer else answer

    def tool(self, name: str, arguments: bytes) -> tuple[int, Any]:
        call = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":%s}}'
        return self.message(call % (name.encode(), arguments))

    def page(self, path: str, form: dict[str, str] | None = None) -> LexborHTMLParser:
        headers = {"cookie": self.cookie, "content-type": FORM}
        response, text = self.send("POST" if form else "GET", path, form and urlencode(form).encode(), headers)
        expect(text.startswith("<!DOCTYPE html>"), "no page", response.status, len(path), path, text)
        return LexborHTMLParser(text)


def status_of(body: str, title: str = "a") -> int:
    """Returns the status that the protocol states for a new post, thread or message."""
    if re.search("[\0\ufeff]", title + body):
        return 400
    invisible = ("Cc", "Cf", "Zl", "Zp", "Zs")
    is_blank = any(all(unicodedata.category(letter) in invisible for letter in text) for text in (title, body))
    is_too_long = len(title.strip()) > 120 or len(body) > 20_000
    is_in_lines = re.search("[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", title)
    return 422 if is_blank or is_too_long or is_in_lines else 201


def check_json(board: Board, case: dict[str, Any]) -> None:
    """Sends a text of the JSON suite as a message, as a whole body, as a value, and without the brackets of a list."""
    name, data = case["name"], case["input"].encode()
    if not name.startswith("y"):
        # The suite has lost the bytes that are not UTF-8.
        data = case["input"].replace("\ufffd", "\udcff").encode(errors="surrogateescape")
    status, answer = board.message(data)
    expect(status == 400 and answer["error"]["code"] in (-32600, -32700), "message", name, status, answer)
    status, answer = board.post(data)
    expect(status == 400 or name == "y_object_empty.json" and status == 422, "whole body", name, status, answer)
    for value in (data, re.sub(rb"^\[(.*)\]$", rb"\1", data, flags=re.DOTALL)):
        status, post = board.post(b'{"body":%s}' % value)
        arguments = b'{"threadId":"%s","body":%s}' % (board.thread.encode(), value)
        message_status, result = board.tool("createPost", arguments)
        if name.startswith("n") and value is data:
            expect(status == message_status == 400, "value", name, status, message_status)
        if name.startswith("y_string") and value is not data:
            expect(status == status_of(json.loads(value)), "text", name, post)
        if status == 201:
            expect(post["body"] == json.loads(value) == result["body"], "text", name, post, result)
        else:
            expect(status in (400, 422) and "error" in result, "value", name, post, result)


def check_text(board: Board, text: str) -> None:
    """Sends a text in every place for texts, over the API and with tools."""
    thread = {"title": text, "body": text, "poll": {"question": text, "options": [text, "other"]}}
    message = {"to": ["@bob"], "subject": text, "body": text}
    name = quote(f"@{text}", safe="")
    for tool, method, path, body, arguments in (
        ("createThread", "POST", f"/forums/{board.forum}/threads", thread, {"forumId": board.forum}),
        ("sendMessage", "POST", "/messages", message, {}),
        ("search", "GET", f"/search?q={quote(text)}", None, {"q": text}),
        ("getMember", "GET", f"/members/{name}", None, {"userId": f"@{text}"}),
    ):
        status, answer = board.api(method, path, body)
        _, result = board.tool(tool, json.dumps((body or {}) | arguments).encode())
        codes = [body.get("error", {}).get("code") for body in (answer, result)]
        # A tool has no route that a slash in a value could change.
        expect(codes[0] == codes[1] or codes == ["no_such_route", "not_found"], tool, text, answer, result)
        expect(status == status_of(text, text) if body else status in (200, 400, 404), tool, text, answer)
        for created in (answer, result) if status == 201 else ():
            if tool == "createThread":
                path = f"/threads/{created['threadId']}"
                stored, posts, poll = (board.api("GET", path + part)[1] for part in ("", "/posts", "/poll"))
                stored |= {"subject": stored["title"], "body": posts["items"][0]["body"]}
                expect(poll["question"] == poll["options"][0]["text"] == text.strip(), "poll", text, poll)
            else:
                stored = board.api("GET", f"/messages/{created['messageId']}")[1]
            expect((stored["subject"], stored["body"]) == (text.strip(), text), tool, text, stored)


def check_html(board: Board, text: str) -> None:
    """Sends a text as a post, alone and in markup."""
    for body in (text, MARKUP.replace("TEXT", text)):
        status, post = board.post({"body": body})
        expect(status == status_of(body), "post", body, post)
        if status != 201:
            continue
        expect(post["body"] == body, "post", body, post)
        for node in LexborHTMLParser(post["bodyHtml"]).root.traverse(include_text=False):
            attributes = node.attributes
            expect(set(attributes) <= ELEMENTS.get(node.tag, {"none"}), "HTML", body, post["bodyHtml"], node.html)
            address = re.sub("[\t\r\n]|^[\0- ]+", "", attributes.get("href") or attributes.get("src") or "")
            expect(not re.match("(?!(https?|mailto):)[a-z][a-z0-9+.-]*:", address, re.I), "address", body, address)


def pages(board: Board, text: str) -> list[set[tuple[str, ...]]]:
    """Returns the elements of pages with a text in filters, forms and the path."""
    fields = "tokens?owner tokens?search audit?action audit?actor audit?target deliveries?state deliveries?topic"
    paths = [f"/panel/{field}={quote(text)}" for field in fields.split()]
    paths += [f"/panel/{quote(text, safe='')}", f"/sign-in?back={quote(text)}", f"/?q={quote(text)}"]
    found = [board.page(path) for path in paths]
    for path, form in {"/panel/tokens/new": {"scope_preset": "read"}, "/panel/webhooks": {}}.items():
        secrets = board.page(path).css("form.fields [type=hidden]")
        secrets = {field.attributes["name"]: field.attributes["value"] for field in secrets}
        found.append(board.page(path, form | secrets | {"label": text, "owner": text, "url": text}))
        values = [(field.attributes.get("value") or "").split() for field in found[-1].css("input")]
        expect(text.split() in values, "not in the page", path, text)
    return [elements(page) for page in found]


def elements(page: LexborHTMLParser) -> set[tuple[str, ...]]:
    return {(node.tag, *sorted(node.attributes)) for node in page.root.traverse(include_text=False)}


def check_pages(board: Board, operate: Callable[[str], str], texts: list[str]) -> None:
    """Texts add no element and no attribute to pages."""
    groups = [" ".join(texts[start : start + 20]).replace("\0", "") for start in range(0, len(texts), 20)]
    plain, *others = board.each(pages, ["plain text", *groups])
    for group, found in zip(groups, others):
        added = [page - reference for page, reference in zip(found, plain)]
        expect(not any(added), "pages", added, group)
    while operate("delivery list --json --state queued") != "[]\n":
        sleep(0.2)
    identifiers = [delivery["id"] for delivery in json.loads(operate("delivery list --json"))]
    *others, plain = board.each(lambda board, identifier: board.page(f"/panel/deliveries/{identifier}"), identifiers)
    titles = {json.loads(page.css_first("pre.block").text())["data"]["thread"]["title"] for page in others}
    expect({text.strip() for text in texts} >= titles and len(titles) > 300, "deliveries", titles)
    added = set().union(*map(elements, others)) - elements(plain)
    expect(not added, "deliveries", added)


def main(program: str, suite: str, strings: str) -> None:
    cases, naughty = (json.loads(Path(path).read_text()) for path in (suite, strings))
    payloads = sorted({entry.payload for entry in get_all_payloads().values()})
    options = "--token-budget 4294967295 --guest-budget 4294967295 --listen 127.0.0.1:0 --allow-private-webhooks --json"
    with TemporaryDirectory() as directory, open(Path(directory, "log"), "w+") as log:

        def operate(command: str) -> str:
            arguments = [program, *command.split()]
            return subprocess.run(arguments, cwd=directory, check=True, stdout=subprocess.PIPE, text=True).stdout

        with subprocess.Popen([program, *options.split()], cwd=directory, stdout=subprocess.PIPE, stderr=log) as server:
            try:
                greeting = json.loads(server.stdout.readline())
                operate("setting post.interval_seconds 0")
                for setting in ("post.per_hour", "message.per_hour", "message.inbox_quota"):
                    operate(f"setting {setting} 1000000")
                operate("webhook add --allow-private-webhooks --url http://127.0.0.1:9 --topics thread.created")
                board = Board(greeting)
                board.each(check_json, cases)
                board.each(check_text, naughty)
                board.each(check_html, naughty + payloads)
                check_pages(board, operate, naughty + payloads)
            finally:
                server.terminate()
        log.seek(0)
        lines = log.read()
        expect(server.returncode == 0 and "panic" not in lines, "server", server.returncode, lines[-250:])
    counts = [len(cases), len(naughty), len(payloads)]
    print(*failures[:20], sep="\n", end="\n" if failures else "")
    print("{} JSON texts, {} naughty strings, {} XSS payloads: {} failures".format(*counts, len(failures)))
    sys.exit(bool(failures) or min(counts) < 300)


main(*sys.argv[1:])
