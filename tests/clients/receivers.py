"""Runs the document's receivers on deliveries of a running server, and on forged, old and future ones."""

import hmac
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from os import environ
from typing import Any, TypedDict
from urllib.request import Request, urlopen

from is_genuine import is_genuine

OTHER_SECRET = "whsec_" + "0" * 43


class Delivery(TypedDict):
    secrets: list[str]
    headers: dict[str, str]
    body: str


def operate(*arguments: str) -> Any:
    """Runs a command of the server's program."""
    command = [environ["PROGRAM"], "--json", "--database", environ["DATABASE"], *arguments]
    return json.loads(subprocess.check_output(command))


def receive_two() -> list[Delivery]:
    """Registers an endpoint, causes two events, and waits for their deliveries."""
    received: list[Delivery] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            headers = {name.lower(): value for name, value in self.headers.items()}
            received.append({"secrets": [endpoint["secret"]], "headers": headers, "body": body})
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        server.timeout = 20
        url = f"http://127.0.0.1:{server.server_port}"
        endpoint = operate("webhook", "add", "--url", url, "--allow-private-webhooks")
        operate("webhook", "ping", endpoint["id"], "--wait", "0")
        server.handle_request()
        message = json.dumps({"body": "Grüner Tee, *natürlich*."}).encode()
        headers = {"authorization": f"Bearer {environ['TOKEN']}", "content-type": "application/json"}
        with urlopen(Request(f"{environ['API']}/threads/1/posts", message, headers)):
            server.handle_request()
    topics = [delivery["headers"]["x-forum-event"] for delivery in received]
    assert topics == ["ping", "post.created"], topics
    return received


def changed(delivery: Delivery, /, **headers: str) -> Delivery:
    """Replaces headers `x-forum-…`."""
    named = {f"x-forum-{name}": value for name, value in headers.items()}
    return {**delivery, "headers": delivery["headers"] | named}


def signed_at(delivery: Delivery, timestamp: str) -> Delivery:
    [secret] = delivery["secrets"]
    text = f"{timestamp}.{delivery['body']}"
    signature = "sha256=" + hmac.new(secret.encode(), text.encode(), "sha256").hexdigest()
    return changed(delivery, timestamp=timestamp, signature=signature)


def cases(delivery: Delivery) -> Iterator[tuple[str, Delivery, bool]]:
    """Returns the delivery and its variants, and whether a receiver accepts them."""
    now, signature = int(time.time()), delivery["headers"]["x-forum-signature"]
    unsigned = {name: value for name, value in delivery["headers"].items() if name != "x-forum-signature"}
    yield "genuine", delivery, True
    yield "rotated", {**delivery, "secrets": [OTHER_SECRET, *delivery["secrets"]]}, True
    yield "another secret", {**delivery, "secrets": [OTHER_SECRET]}, False
    yield "no secret", {**delivery, "secrets": []}, False
    yield "another body", {**delivery, "body": delivery["body"].replace("topic", "Topic")}, False
    yield "another time", changed(delivery, timestamp=str(now - 100)), False
    yield "another id", changed(delivery, delivery="dlv_2"), False
    yield "another topic", changed(delivery, event="post.deleted"), False
    yield "no signature", {**delivery, "headers": unsigned}, False
    yield "shorter signature", changed(delivery, signature=signature[:-1]), False
    yield "text as signature", changed(delivery, signature="sha256=é"), False
    for age in (200, -200):
        yield f"{age} s old", signed_at(delivery, str(now - age)), True
    for age in (400, -400, now):
        yield f"{age} s old", signed_at(delivery, str(now - age)), False
    for timestamp in ("", "now", f"{now}.0", f" {now}", "1e9", "9" * 5000):
        yield f"signed at {timestamp[:20]!r}", signed_at(delivery, timestamp), False


def results(command: list[str], deliveries: list[Delivery]) -> list[bool]:
    lines = "".join(json.dumps(delivery) + "\n" for delivery in deliveries)
    output = subprocess.run(command, input=lines, stdout=subprocess.PIPE, check=True, text=True).stdout
    return [line == "true" for line in output.splitlines() if line in ("true", "false")]


tried = [case for delivery in receive_two() for case in cases(delivery)]
deliveries = [delivery for _, delivery, _ in tried]
found = {
    "Rust": results([sys.argv[1]], deliveries),
    "TypeScript": results(["node", "receivers.ts"], deliveries),
    "Python": [is_genuine(it["secrets"], it["headers"], it["body"].encode()) for it in deliveries],
}
for language, answers in found.items():
    for (name, _, expected), answer in zip(tried, answers, strict=True):
        assert answer == expected, f"{language}: {name}"
