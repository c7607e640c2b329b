"""A webhook receiver with configurable responses that checks signatures."""

import hmac
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from threading import Thread
from typing import Any


class Receiver:
    """Receives deliveries while the context is open."""

    def __enter__(self) -> "Receiver":
        self.status, self.answer = 200, "thank you"
        # The secret of the endpoint that sends here.
        self.secret = ""
        self.received: Queue[tuple[Any, bytes]] = Queue()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                answer = receiver.answer.encode()
                self.send_response(receiver.status)
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)
                receiver.received.put((self.headers, body))

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        Thread(target=self.server.serve_forever).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.server.shutdown()
        self.server.server_close()

    def answers(self, status: int, answer: str) -> None:
        """Sets the response to the next deliveries."""
        self.status, self.answer = status, answer

    def next_ping(self, secret: str, *, not_by: str = "") -> str:
        """Waits for a ping that is signed with `secret` and not with `not_by`. Returns its delivery id."""
        headers, body = self.received.get(timeout=20)
        assert headers["x-forum-event"] == "ping" and json.loads(body)["topic"] == "ping"
        assert is_signed(headers, body, secret), "it is signed with another secret"
        assert not (not_by and is_signed(headers, body, not_by))
        return str(headers["x-forum-delivery"])


def is_signed(headers: Any, body: bytes, secret: str) -> bool:
    signed = headers["x-forum-timestamp"].encode() + b"." + body
    expected = "sha256=" + hmac.new(secret.encode(), signed, "sha256").hexdigest()
    return hmac.compare_digest(headers["x-forum-signature"], expected)
