"""Measures the CPU time and the memory of requests on a small and on a large board, and compares them with the bounds of
section 4.7 of docs/protocol.md: 10 ms for a unit, 32 MiB for a request, and no growth with the board.

The CPU time of Postgres is that of the processes of its connections. Each time is divided by the factor of the machine,
which is measured with GET /me between the requests.

usage: bounded PROGRAM [sqlite | postgres]
"""

import os
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory

from .board import Board
from .cases import Case, Operation, operations, requests
from .server import Server

# CPU time in milliseconds that a unit buys, on a machine on which GET /me takes `REFERENCE` with SQLite in a release build.
LIMIT, REFERENCE = 10.0, 0.12
# CPU time of the server with the profile `instructions`, relative to a release: the ratio of the instructions of the
# requests in benches/instructions.tsv is 1.4 to 1.9. The CPU time of Postgres does not depend on it.
PROFILE = 1.6
# CPU time of a write, which other writes may wait for.
WRITE_LIMIT = 100.0
MEMORY_LIMIT = 32.0
# Size of an answer: lists end at 512 KiB, those of tools at 256 KiB, which are sent twice.
ANSWER_LIMIT = 0.75
# Largest ratio of the time on the large board to the time on the small one. The large board is ten times the small one.
GROWTH_LIMIT = 2.0
# Growth below this time a unit is the logarithm of an index, or noise of the clock.
GROWTH_FLOOR = 2.0
# Error of the time of a command on Postgres: the difference of two differences of the sum of two numbers with a resolution of
# 10 ms.
CLOCK_ERROR = 40.0
REPEATS = 6
# Repeats of a command that seems to fail.
OPERATION_REPEATS = 3
# Repeats of a request that seems to fail. Each connection of Postgres plans a statement again for its first five executions,
# which takes longer than the statement, and requests that are sent one after another can use three connections.
SETTLED_REPEATS = 30
# Requests of a measurement of GET /me, and those before it.
SAMPLE, WARM_UP = 10, 5
# Repeats that take longer are left out.
REPEAT_SECONDS = 1.0
PRINTED = 30


def cpu_time(processes: list[int]) -> dict[int, float]:
    """Returns the CPU time of processes in milliseconds. Those that have ended have none."""
    times = {}
    for process in processes:
        try:
            # The number of the clock of a process, which clock_getcpuclockid(3) returns.
            times[process] = time.clock_gettime(~process << 3 | 2) * 1_000
        except OSError:
            continue
    return times


def used(before: dict[int, float], after: dict[int, float]) -> float:
    return sum(spent - before.get(process, 0.0) for process, spent in after.items())


class Stopwatch:
    """The CPU time of a server and of its connections in Postgres, as in a release."""

    def __init__(self, server: Server) -> None:
        self.server, self.before = server, self.read(server)

    @staticmethod
    def read(server: Server) -> tuple[dict[int, float], dict[int, float]]:
        return cpu_time([server.process.pid]), cpu_time(server.database.processes())

    def time(self) -> float:
        (server, database), (server_before, database_before) = self.read(self.server), self.before
        return used(server_before, server) / PROFILE + used(database_before, database)


def memory(process: int) -> dict[str, float]:
    """Returns fields of the status of a process in MiB."""
    lines = (line.split() for line in Path(f"/proc/{process}/status").read_text().splitlines())
    return {name: int(words[0]) / 1_024 for name, *words in lines if words[1:] == ["kB"]}


class Reference:
    """A server with a demo board on SQLite. The CPU time of its GET /me is the unit of the measurements."""

    def __init__(self, server: Server) -> None:
        self.server, self.samples = server, []

    def sample(self) -> None:
        """Measures requests after each other: the first ones fill the caches of the processor."""
        for _ in range(WARM_UP):
            self.server.alice.send("GET", "/api/v1/me")
        stopwatch = Stopwatch(self.server)
        for _ in range(SAMPLE):
            self.server.alice.send("GET", "/api/v1/me")
        self.samples.append(stopwatch.time() / SAMPLE)

    def factor(self) -> float:
        """Returns the CPU time of the machine, relative to that of the limits."""
        return max(1.0, median(self.samples) / REFERENCE)


@dataclass
class Measured:
    """CPU time in milliseconds as in a release, and memory in MiB."""

    cpu: float
    memory: float
    answer: float
    units: int
    unexpected: list[str] = field(default_factory=list)


def measure(board: Board, case: Case, repeats: int = REPEATS) -> Measured:
    server = board.server.process.pid
    times, peaks, answers, unexpected = [], [], [], []
    began, units = time.monotonic(), 1
    for turn in range(repeats if case.is_repeatable else 1):
        Path(f"/proc/{server}/clear_refs").write_text("5")
        earlier = memory(server)
        stopwatch = Stopwatch(board.server)
        response = case.send(turn)
        times.append(stopwatch.time())
        later, answer = memory(server), len(response.body) / 2**20
        mapped = max(0.0, later["RssFile:"] - earlier["RssFile:"])
        peaks.append(later["VmHWM:"] - earlier["VmRSS:"] - mapped - answer)
        answers.append(answer)
        units = case.units or int(response.headers.get("x-ratelimit-cost", "1")) or 1
        if response.status not in case.statuses:
            unexpected = [f"status {response.status}: {response.body[:100]!r}"]
        if time.monotonic() - began > REPEAT_SECONDS:
            break
    # The work of a read is always the same, and that of a write includes merges of indexes: on Postgres each second long post.
    spent = fmean(times) if case.is_write else min(times)
    return Measured(spent, max(peaks), max(answers), units, unexpected)


def measure_operation(board: Board, operation: Operation) -> Measured:
    """Measures the work of a command: its process on SQLite, and the connections of Postgres that ended."""
    present = board.database.children()

    def total() -> float:
        used_by_children = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = (used_by_children.ru_utime + used_by_children.ru_stime) * 1_000
        return spent / PROFILE + board.database.ended_time(present)

    before = total()
    board.server.operate("setting", "get", "post.per_hour")
    start = total() - before
    unexpected = []
    before = total()
    try:
        board.server.operate(*operation.arguments)
    except AssertionError as error:
        unexpected.append(str(error)[:200])
    # Commands are writes without units.
    return Measured(max(0.0, total() - before - start), 0.0, 0.0, round(WRITE_LIMIT / LIMIT), unexpected)


@dataclass
class Row:
    name: str
    is_write: bool
    small: Measured
    large: Measured
    # Error of the time, in milliseconds.
    error: float = 0.0

    def divided_by(self, factor: float) -> "Row":
        """Returns the row with the CPU times of a machine that is faster by this factor."""
        small, large = (replace(measured, cpu=measured.cpu / factor) for measured in (self.small, self.large))
        return replace(self, small=small, large=large)

    def failures(self) -> Iterator[str]:
        small, large = self.small, self.large
        yield from large.unexpected
        limit = LIMIT * large.units
        if large.cpu > (min(limit, WRITE_LIMIT) if self.is_write else limit):
            yield f"{large.cpu:.1f} ms for {large.units} units"
        if large.memory > MEMORY_LIMIT:
            yield f"{large.memory:.0f} MiB of memory"
        if large.answer > ANSWER_LIMIT:
            yield f"an answer of {large.answer:.2f} MiB"
        allowed = max(GROWTH_LIMIT * small.cpu, small.cpu + GROWTH_FLOOR * large.units)
        if large.cpu > allowed + self.error:
            yield f"{large.cpu:.1f} ms on the large board, and {small.cpu:.1f} ms on the small one"


def measure_command(kind: str, pair: tuple[tuple[Board, Operation], ...]) -> Row:
    """Measures a command on the small and on the large board. Measures one again that takes too long, because another process
    on the machine can slow its start."""

    def measured() -> Row:
        small, large = (measure_operation(board, operation) for board, operation in pair)
        return Row(pair[0][1].name, True, small, large, CLOCK_ERROR if kind == "postgres" else 0.0)

    row = measured()
    for _ in range(OPERATION_REPEATS):
        if row.small.unexpected or row.large.unexpected or not any(row.failures()):
            break
        for board, operation in pair:
            if operation.undo is None:
                return row
            for arguments in operation.undo:
                board.server.operate(*arguments)
        row = measured()
    return row


def measure_boards(program: str, kind: str, directory: Path, reference: Reference) -> list[Row]:
    began, rows = time.monotonic(), []
    with (
        closing(Server(program, kind, directory / f"{kind}_small")) as of_small,
        closing(Server(program, kind, directory / f"{kind}_large")) as of_large,
    ):
        small, large = Board(of_small, 1), Board(of_large, 10)
        for board in (small, large):
            board.fill()
        filled = time.monotonic()
        for case, same in zip(requests(small), requests(large), strict=True):
            reference.sample()
            row = Row(case.name, case.is_write, measure(small, case), measure(large, same))
            # Another process on the machine can slow all turns of a request. The final factor of the machine is at least 1.
            if case.is_repeatable and any(row.failures()):
                row = Row(
                    case.name,
                    case.is_write,
                    measure(small, case, SETTLED_REPEATS),
                    measure(large, same, SETTLED_REPEATS),
                )
            rows.append(row)
        for operation, same in zip(operations(small), operations(large), strict=True):
            rows.append(measure_command(kind, ((small, operation), (large, same))))
        print(f"{kind}: filled in {filled - began:.0f} s, measured in {time.monotonic() - filled:.0f} s")
    return rows


def main(program: str, kinds: list[str]) -> None:
    with (
        TemporaryDirectory(prefix="bounded") as directory,
        closing(Server(program, "sqlite", Path(directory, "reference"))) as server,
    ):
        reference = Reference(server)
        measured = {kind: measure_boards(program, kind, Path(directory), reference) for kind in kinds}
    factor = reference.factor()
    print(f"GET /me: {median(reference.samples):.2f} ms, so the factor of the machine is {factor:.1f}")
    failed = 0
    for kind, rows in measured.items():
        rows = [row.divided_by(factor) for row in rows]
        rows.sort(key=lambda row: -row.large.cpu / row.large.units)
        print(f"{kind}: ms a unit, and ms on the small and the large board, each divided by the factor; MiB of memory and answer")
        for position, row in enumerate(rows):
            failures = list(row.failures())
            failed += bool(failures)
            if failures or position < PRINTED:
                small, large = row.small, row.large
                numbers = f"{large.cpu / large.units:9.2f} {small.cpu:9.2f} {large.cpu:9.2f} {large.memory:6.1f} {large.answer:6.2f}"
                print(numbers, row.name, *(f"\n        FAILED: {failure}" for failure in failures))
    print(f"{failed} of {sum(map(len, measured.values()))} requests failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    assert os.environ.get("FORUM_API_POSTGRES"), "source tests/postgres"
    main(sys.argv[1], sys.argv[2:] or ["sqlite", "postgres"])
