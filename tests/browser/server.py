"""The example server in a temporary directory, and its command line."""

import json
import signal
import subprocess
from collections.abc import Mapping
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

# Retries follow immediately, and receivers are on this machine.
WEBHOOKS = "--allow-private-webhooks --webhook-initial-backoff 0.01 --webhook-max-backoff 0.02"
OPTIONS = f"--listen 127.0.0.1:0 --json {WEBHOOKS}"

NONE: Mapping[str, str] = {}


class Answer:
    """A response with its body."""

    def __init__(self, response: Any) -> None:
        self.status = response.status
        self.headers = response.headers
        self.text = response.read().decode()


class Server:
    """Serves while the context is open."""

    def __init__(self, program: str, *options: str) -> None:
        self.program, self.options = program, options

    def __enter__(self) -> "Server":
        self.directory = TemporaryDirectory()
        self.log = open(Path(self.directory.name) / "log", "w+")
        arguments = [self.program, *OPTIONS.split(), *self.options]
        self.process = subprocess.Popen(
            arguments, cwd=self.directory.name, stdout=subprocess.PIPE, stderr=self.log, text=True
        )
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, self.log_tail()
        greeting = json.loads(line)
        self.password, self.token = greeting["password"], greeting["token"]
        self.api = urlsplit(greeting["api"]).path
        self.address = greeting["panel"].removesuffix("/panel")
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=20)
        tail = self.log_tail()
        self.log.close()
        self.directory.cleanup()
        if kind:
            print(tail)
        else:
            assert status == 0, tail

    def log_tail(self) -> str:
        """Returns the last 4000 characters of the log."""
        self.log.flush()
        return Path(self.log.name).read_text()[-4000:]

    def command(self, *arguments: str, given: str = "") -> Any:
        """Runs a command on the server's database and returns its JSON output."""
        ended = subprocess.run(
            [self.program, "--json", *arguments],
            cwd=self.directory.name,
            input=given,
            capture_output=True,
            text=True,
        )
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout)

    def let_sign_in(self, name: str, password: str, groups: str) -> None:
        """Sets a member's password and groups."""
        self.command("member", "password", name, "--password-stdin", given=password + "\n")
        self.command("member", "groups", name, groups)

    def state(self) -> Any:
        """Returns everything that the panel can change."""
        return [self.command(kind, "list") for kind in ("token", "webhook", "delivery")]

    def ask(self, method: str, path: str, headers: Mapping[str, str] = NONE, body: str = "") -> Answer:
        """Sends a request without a browser. Redirects are not followed."""
        connection = HTTPConnection(urlsplit(self.address).netloc, timeout=10)
        connection.request(method, path, body, dict(headers))
        answer = Answer(connection.getresponse())
        connection.close()
        return answer

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Sends a POST request to the API as alice, and returns its JSON."""
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        answer = self.ask("POST", f"{self.api}{path}", headers, json.dumps(body))
        assert answer.status == 201, answer.text
        return json.loads(answer.text)

    def me(self, token: str) -> Answer:
        """Requests `GET /me` with this token."""
        return self.ask("GET", f"{self.api}/me", {"authorization": f"Bearer {token}"})
