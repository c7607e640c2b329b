"""A server with a new board, its database, and clients."""

import json
import os
import subprocess
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import apsw

PASSWORD = "correct horse battery"
# Seconds for which a measurement waits for the end of connections.
END_TIMEOUT = 2.0


def status(path: Path) -> list[str]:
    """Returns the fields of the status of a process after its name. If it has ended, there are none."""
    try:
        return path.read_text().rpartition(")")[2].split()
    except OSError:
        return []


class Database:
    """A database with SQL beside the server: a file of SQLite, or a database of the Postgres of the tests."""

    def __init__(self, kind: str, directory: Path) -> None:
        self.kind = kind
        self.path = directory / "forum.db"
        self.url = f"sqlite:{self.path}"
        if kind == "postgres":
            server = urlsplit(os.environ["FORUM_API_POSTGRES"])
            self.url = urlunsplit(server)
            self.name = f"bounded_{os.getpid()}_{directory.name}"
            # All work for a request is in the process of its connection, and plans do not depend on statistics.
            self.run("ALTER SYSTEM SET autovacuum = off")
            self.run("ALTER SYSTEM SET max_parallel_workers_per_gather = 0")
            self.run("SELECT pg_reload_conf()")
            self.run(f"CREATE DATABASE {self.name}")
            self.postmaster = self.run("SELECT pg_read_file('postmaster.pid')")[0][0]
            self.url = urlunsplit(server._replace(path=f"/{self.name}"))

    def run(self, *statements: str) -> list[list[str]]:
        """Runs statements. Returns the rows of the last one, as texts."""
        if self.kind == "sqlite":
            connection = apsw.Connection(str(self.path))
            connection.set_busy_timeout(60_000)
            try:
                # A transaction that reads first cannot write after another process wrote.
                connection.execute("BEGIN IMMEDIATE")
                for statement in statements:
                    rows = connection.execute(statement).fetchall()
                connection.execute("COMMIT")
                return [[str(value) for value in row] for row in rows]
            finally:
                connection.close()
        command = [Path(os.environ["POSTGRES_PROGRAMS"], "psql"), self.url, "-qAtX", "-v", "ON_ERROR_STOP=1", "-f", "-"]
        *changes, last = statements
        # Only the rows of the last statement are printed.
        script = "".join([f"\\o /dev/null\n{change};\n\\o\n" for change in changes] + [f"{last};\n"])
        printed = subprocess.run(command, input=script, check=True, stdout=subprocess.PIPE, text=True).stdout
        return [line.split("|") for line in printed.splitlines()]

    def value(self, query: str) -> str:
        return self.run(query)[0][0]

    def add(self, table: str, count: int, source: str = "", /, **columns: str) -> None:
        """Inserts `count` rows. The columns are expressions of `n`, which counts from 1, and of `old`, the row of `source`."""
        numbers = f"WITH RECURSIVE number (n) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT n + 1 FROM number WHERE n < {count})"
        rows = f"number CROSS JOIN ({source}) AS old" if source else "number"
        self.run(
            f"INSERT INTO {table} ({', '.join(columns)}) {numbers} SELECT {', '.join(columns.values())} FROM {rows}"
        )

    def processes(self) -> list[int]:
        """Returns the processes of Postgres that serve this database."""
        if self.kind == "sqlite":
            return []
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if path.read_bytes().startswith(f"postgres: forum {self.name} ".encode()):
                    found.append(int(path.parent.name))
            except OSError:
                continue
        return found

    def children(self) -> set[str]:
        """Returns the processes of Postgres, with those that have ended but whose CPU time was not added yet."""
        if self.kind == "sqlite":
            return set()
        found = {path.parent.name: status(path) for path in Path("/proc").glob("[0-9]*/stat")}
        return {process for process, fields in found.items() if fields and fields[1] == self.postmaster}

    def ended_time(self, present: set[str]) -> float:
        """Returns the CPU time in milliseconds of all processes of Postgres that have ended. Waits for the end of those that are
        not `present`, because a connection ends later than its client."""
        if self.kind == "sqlite":
            return 0.0
        began = time.monotonic()
        # The server can open further connections.
        while not self.children() <= present and time.monotonic() - began < END_TIMEOUT:
            time.sleep(0.01)
        # Fields 16 and 17 of proc_pid_stat(5), of which the third is the first one here.
        ticks = status(Path(f"/proc/{self.postmaster}/stat"))[13:15]
        return sum(map(int, ticks)) * 1_000 / os.sysconf("SC_CLK_TCK")


@dataclass
class Response:
    status: int
    headers: Message
    body: bytes


class Client:
    """Requests over one connection, as one caller."""

    def __init__(self, address: str, headers: dict[str, str] | None = None) -> None:
        self.connection, self.headers = HTTPConnection(address, timeout=120), headers or {}
        self.used_at = time.monotonic()

    def send(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> Response:
        """Sends bytes, or a value as JSON."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        kind = {"content-type": "application/json"} if data is not None else {}
        # The server closes connections that are idle for longer.
        if time.monotonic() - self.used_at > 10:
            self.connection.close()
        try:
            self.connection.request(method, path, data, self.headers | kind | (headers or {}))
            response = self.connection.getresponse()
            answer = response.read()
        except OSError:
            self.connection.close()
            raise
        self.used_at = time.monotonic()
        return Response(response.status, response.headers, answer)

    def send_in_chunks(self, method: str, path: str, body: bytes, length: int, headers: dict[str, str] | None = None) -> Response:
        """Sends a body in chunks of a length, over a connection of its own."""
        parts = (body[start : start + length] for start in range(0, len(body), length))
        chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
        connection = HTTPConnection(self.connection.host, self.connection.port, timeout=120)
        connection.putrequest(method, path)
        kinds = {"content-type": "application/json", "transfer-encoding": "chunked"}
        for name, value in (self.headers | kinds | (headers or {})).items():
            connection.putheader(name, value)
        with closing(connection):
            # The server can respond, and close the connection, before it has read the body.
            with suppress(OSError):
                connection.endheaders(chunks)
            response = connection.getresponse()
            return Response(response.status, response.headers, response.read())

    def api(self, method: str, path: str, body: object = None) -> Any:
        response = self.send(method, f"/api/v1{path}", body)
        if response.status >= 400:
            raise AssertionError(f"{method} {path}: {response.status} {response.body[:300]!r}")
        return json.loads(response.body) if response.body else None


class Server:
    """A running server with a new demo board."""

    def __init__(self, program: str, kind: str, directory: Path) -> None:
        directory.mkdir()
        self.program, self.directory, self.database = program, directory, Database(kind, directory)
        options = "--listen 127.0.0.1:0 --token-budget 4294967295 --guest-budget 4294967295 --json --no-worker"
        self.log = open(directory / "log", "w")
        self.process = subprocess.Popen(
            [program, "--database", self.database.url, *options.split(), "--admin-password-stdin"], cwd=directory,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True,
        )
        self.process.stdin.write(f"{PASSWORD}\n")
        self.process.stdin.close()
        greeting = json.loads(self.process.stdout.readline())
        self.address = urlsplit(greeting["api"]).netloc
        self.alice = self.client(greeting["token"])
        self.guest = Client(self.address)

    def client(self, token: str) -> Client:
        return Client(self.address, {"authorization": f"Bearer {token}"})

    def token(self, owner: str) -> Client:
        """Issues a token with all scopes."""
        issued = self.operate("token", "issue", "--owner", owner, "--scopes", "all", "--password-stdin")
        return self.client(issued.strip())

    def sign_in(self) -> Client:
        form = urlencode({"name": "admin", "password": PASSWORD, "back": "/panel"}).encode()
        headers = {"content-type": "application/x-www-form-urlencoded"}
        response = self.guest.send("POST", "/sign-in", form, headers)
        if response.status != 303:
            raise AssertionError(f"sign-in: {response.status} {response.body[:300]!r}")
        cookies = (cookie.split(";")[0] for cookie in response.headers.get_all("set-cookie"))
        return Client(self.address, {"cookie": "; ".join(cookies)})

    def operate(self, *arguments: str) -> str:
        """Runs a command of the operator."""
        command = [self.program, *arguments, "--database", self.database.url]
        done = subprocess.run(command, cwd=self.directory, input=f"{PASSWORD}\n", capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(f"{arguments}: {done.stdout}{done.stderr}")
        return done.stdout

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(60)
        self.log.close()
