"""Changes drawn lines of the library and of the example server, and lists the changes that no suite detects.

A copy of the repository contains all drawn mutants in one build: the environment variable MUTANT selects one of them,
and without it the code behaves as before.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COPY = ROOT / "target/mutants/copy"

# The suites that must detect the mutants of a path. The first path that matches applies. `forum_api` and `forum_server`
# are the unit tests.
SUITES = {
    "examples/server/src/board/copy/": ["forum_server", "server"],
    "examples/server/src/board/": ["forum_server", "board", "server"],
    "examples/server/src/": ["forum_server", "server"],
    "src/html/": ["panel", "reference"],
    "src/mcp/": ["forum_api", "api"],
    "src/panel/": ["forum_api", "panel"],
    "src/reference/": ["forum_api", "reference"],
    "src/store/": ["forum_api", "stores", "webhooks", "api", "board"],
    "src/webhook": ["forum_api", "webhooks", "panel", "api"],
    "src/worker/": ["forum_api", "webhooks"],
    "src/": ["forum_api", "api", "panel", "webhooks", "board"],
}

# Parts of tests, texts, and contents of demo boards.
EXCLUDED = ("src/conformance/", "src/guide/", "src/test_util/") + tuple(
    f"examples/server/src/board/{name}" for name in ("demo.rs", "generate/", "schema/", "texts.rs"))

SWITCH = """
#[doc(hidden)]
pub fn is_mutant(number: u32) -> bool {
    static MUTANT: std::sync::OnceLock<Option<u32>> = std::sync::OnceLock::new();
    let read = || std::env::var("MUTANT").ok()?.parse().ok();
    *MUTANT.get_or_init(read) == Some(number)
}
"""

LITERAL = r"""\bb?r(?P<hashes>\#*)".*?"(?P=hashes)|b?"(?:\\.|[^"\\])*"|b?'(?:\\(?:u\{\w+\}|x\w\w|.)|[^\\'])'"""
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&"}
START = r"[{};,]|=>|(?<![=!<>])=(?=\s)|(?<!:):(?=\s)|\b(?:if|while|match|return|let|in|else)(?=\s)"
# Beginnings of statements that are no calls. The log and assertions are not mutated.
OTHERS = r"(?:let|use|break|const|static|type|pub|mod|fn|if|while|for|match|loop|tracing|drop|debug_assert)\b"


class Source:
    """A file: its text, and its code, which has spaces instead of comments, attributes, tests, macros and constants."""

    def __init__(self, path):
        self.path, self.text, self.pairs, self.literals = path, (ROOT / path).read_text(), {}, []
        self.code = re.sub(rf"(?P<comment>//[^\n]*|/\*.*?\*/)|{LITERAL}", self.mask, self.text, flags=re.S)
        stack = []
        for bracket in re.finditer(r"[()\[\]{}]", self.code):
            if bracket[0] in "([{":
                stack.append(bracket.start())
            else:
                opening = stack.pop()
                self.pairs[opening], self.pairs[bracket.start()] = bracket.start(), opening
        for item in (r"#\[cfg\(test\)\][^;{]*\{", r"\bmacro_rules! \w+ \{", r"\bconst fn [^;{]*\{", r"#!?\["):
            for found in re.finditer(item, self.code):
                self.blank(found.start(), self.pairs[found.end() - 1])
        while found := re.search(r"(?<![<,] )(?<!<)\b(?:const|static) [A-Z_]\w*:", self.code):
            self.blank(found.start(), self.end(found.end(), ";"))
        self.ends = cache(lambda stops: {found.end() for found in re.finditer(stops, self.code)})

    def mask(self, token):
        if not token["comment"]:
            self.literals.append(token.span())
        return re.sub(r"[^\n]", " " if token["comment"] else "_", token[0])

    def blank(self, start, end):
        blank = re.sub(r"[^\n()\[\]{}]", " ", self.code[start:end + 1])
        self.code = self.code[:start] + blank + self.code[end + 1:]

    def end(self, position, stops):
        """Returns the position of the next stop outside of brackets, or the end of the enclosing bracket."""
        stops = re.compile(stops)
        while not stops.match(self.code, position) and self.code[position] not in ")]}":
            position = self.pairs.get(position, position) + 1
        return position

    def start(self, position, stops):
        """Returns the position after the previous stop outside of brackets, or the start of the enclosing bracket."""
        ends = self.ends(stops)
        while position and position not in ends and self.code[position - 1] not in "([{":
            position = self.pairs.get(position - 1, position - 1)
        return position + len(self.code[position:]) - len(self.code[position:].lstrip())

    def mutants(self):
        """Yields the position, the start, the end, the replacement and the description of each possible mutant."""
        code, text = self.code, self.text
        for found in re.finditer(r"\b(?:if|while) (?!let\b)", code):
            start = found.end()
            end = start + len(code[start:self.end(start, r"\{|=>|,")].rstrip())
            if not re.search(r"\blet\b", code[start:end]):
                yield start, start, end, f"({text[start:end]}) != MUTANT", "condition negated"
        for found in re.finditer(r"(?<=\s)(?:<=?|>=?|==|!=|&&|\|\|)(?=\s)", code):
            old, new = found[0], SWAPS[found[0]]
            # Operators that bind less tightly, and the end of the parameters of a closure.
            lower = {"&&": r"\|", "||": r"(?<!\|)\|(?!\|)"}.get(old, r"&&|\|")
            start = self.start(found.start(), f"{START}|{lower}")
            end = start + len(code[start:self.end(found.end(), rf"{lower}|{re.escape(old)}\s|=>|[,;{{]")].rstrip())
            left, right = text[start:found.start()].strip(), text[found.end():end].strip()
            if left not in ("", "move") and right and not re.search(r"\blet\b", code[start:end]):
                changed = f"(if MUTANT {{ {left} {new} {right} }} else {{ {left} {old} {right} }})"
                yield found.start(), start, end, changed, f"`{old}` replaced with `{new}`"
        for found in re.finditer(r"\b(?:true|false)\b(?![^\n]*(?:=>| = |, \.\.))", code):
            yield found.start(), *found.span(), f"({found[0]} != MUTANT)", f"`{found[0]}` negated"
        for found in re.finditer(r"(?<![\w.#<])\d[\d_]*(?![\w.\]>])(?![^\n]*=>)", code):
            changed = 0 if found[0] == "1" else int(found[0]) + 1
            both = f"(if MUTANT {{ {changed} }} else {{ {found[0]} }})"
            yield found.start(), *found.span(), both, f"`{found[0]}` replaced with `{changed}`"
        for found in re.finditer(r"(?<![\w#@])!(?=[\w(&*])", code):
            yield found.start(), *found.span(), "!MUTANT ^ ", "`!` removed"
        for found in re.finditer(r"-> bool \{", code):
            start, end = found.end(), self.pairs[found.end() - 1]
            yield found.start(), start, end, f" MUTANT != {{{text[start:end]}}} ", "result negated"
        for found in re.finditer(";", code):
            start, end = self.start(found.start(), "[;{}]"), found.end()
            is_call = re.search(r"(?:[)?]|\.await| [-+*/|&]?= [^;]*);\Z", code[start:end])
            # Macros that are items are not indented.
            is_call = is_call and code[start - 1] == " " and re.match(rf"(?!{OTHERS})[\w*]", code[start:end])
            if is_call or re.match(r"return\b|continue;", code[start:end]):
                yield start, start, end, f"if !MUTANT {{ {text[start:end]} }}", "statement removed"
        for start, end in self.literals:
            if code[start] == "_" and re.search(r"\b(?:SELECT|UPDATE|DELETE|INSERT)\b", text[start:end]):
                for found in re.finditer(r"\bAND\b", text[start:end]):
                    changed = text[start:start + found.start()] + "OR" + text[start + found.end():end]
                    both = f"(if MUTANT {{ {changed} }} else {{ {text[start:end]} }})"
                    yield start + found.start(), start, end, both, "`AND` replaced with `OR`"


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return [path for path in listed.stdout.split("\0") if path and (ROOT / path).is_file()]


def draw(paths, seeds, count):
    """Draws lines with each seed, and one mutant of each. Returns the mutants, which do not overlap, and their files."""
    files = [path for path in tracked() if path.endswith(".rs") and path.startswith(paths)]
    sources = {path: Source(path) for path in sorted(files) if not path.startswith(EXCLUDED)}
    lines, drawn = {}, []
    for path, source in sources.items():
        for position, *mutant in source.mutants():
            lines.setdefault((path, source.text.count("\n", 0, position) + 1), []).append(mutant)
    for number, seed in enumerate(seeds, 1):
        generator = random.Random(seed)
        for path, line in generator.sample(sorted(lines), len(lines)):
            start, end, replacement, description = generator.choice(lines[path, line])
            others = [mutant for mutant in drawn if mutant["path"] == path]
            if len(drawn) < number * count and all(end <= m["start"] or m["end"] <= start for m in others):
                suites = next(suites for prefix, suites in SUITES.items() if path.startswith(prefix))
                drawn.append({"number": len(drawn) + 1, "path": path, "start": start, "end": end, "suites": suites,
                              "replacement": replacement, "name": f"{seed}: {path}:{line}: {description}"})
    return sources, drawn


def write_copy(sources, mutants):
    """Writes the files that differ, so that Cargo compiles only their crates. Adds their lines to the mutants."""
    files = {path: (ROOT / path).read_bytes() for path in tracked()}
    for path in {mutant["path"] for mutant in mutants}:
        changed, position = "", 0
        for mutant in sorted((m for m in mutants if m["path"] == path), key=lambda mutant: mutant["start"]):
            changed += sources[path].text[position:mutant["start"]]
            first = changed.count("\n") + 1
            changed += mutant["replacement"].replace("MUTANT", f"crate::is_mutant({mutant['number']})")
            mutant["lines"] = range(first, changed.count("\n") + 2)
            position = mutant["end"]
        files[path] = (changed + sources[path].text[position:]).encode()
    files["src/lib.rs"] += SWITCH.encode()
    files["examples/server/src/lib.rs"] += b"pub(crate) use forum_api::is_mutant;\n"
    for path in [path for path in COPY.rglob("*") if path.is_file()]:
        if str(path.relative_to(COPY)) not in files:
            path.unlink()
    for path, content in files.items():
        target = COPY / path
        if not target.is_file() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            shutil.copymode(ROOT / path, target)


def build(suites):
    """Returns the programs of the suites with their directories, and the compiler's errors."""
    targets = ["--lib", *(f"--test={suite}" for suite in sorted(suites) if not suite.startswith("forum_"))]
    command = ["cargo", "test", "--workspace", "--no-run", "--message-format=json", *targets]
    # Cargo does not distinguish the crates of two copies in one directory.
    environment = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target/mutants/target")}
    # A test of webhooks runs the example.
    subprocess.run(["cargo", "build", "--example=receiver"], cwd=COPY, env=environment, check=False)
    built = subprocess.run(command, cwd=COPY, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    errors = [message["message"] for message in messages if message.get("message", {}).get("level") == "error"]
    if built.returncode and not errors:
        sys.exit(built.returncode)
    return {message["target"]["name"]: (message["executable"], Path(message["manifest_path"]).parent)
            for message in messages if message.get("executable") and message["profile"]["test"]}, errors


def is_of(error, mutant):
    """Returns whether the mutant is between the first and the last line of the error in its file."""
    spans = [*error["spans"], *(span["expansion"]["span"] for span in error["spans"] if span["expansion"])]
    spans = [span for span in spans if span["file_name"] == mutant["path"]]
    first, last = min((s["line_start"] for s in spans), default=1), max((s["line_end"] for s in spans), default=0)
    return any(first <= line <= last for line in mutant["lines"])


def failure(program, number, limit):
    """Runs a suite until a test fails or the limit is exceeded. Returns the failure, or `None`."""
    executable, directory = program
    slow = re.search(r"^slow=\(\n(.*?)^\)", (ROOT / "tests/run").read_text(), re.S | re.M)[1].split()
    with tempfile.TemporaryDirectory() as temporary:
        environment = {**os.environ, "MUTANT": str(number), "TMPDIR": temporary, "CARGO_MANIFEST_DIR": str(directory),
                       "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1"}
        suite = subprocess.Popen([executable, *(f"--skip={name}" for name in slow)], cwd=directory, env=environment,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
        timer = threading.Timer(limit, lambda: os.killpg(suite.pid, signal.SIGKILL))
        timer.start()
        failed = next((line.strip() for line in suite.stdout if re.match(r"test .* FAILED", line)), None)
        if failed:
            os.killpg(suite.pid, signal.SIGKILL)
        status = suite.wait()
        timer.cancel()
        return failed or (f"status {status}" if status else None)


def main():
    parser = argparse.ArgumentParser(prog="tests/mutants/run", description=__doc__.splitlines()[0])
    parser.add_argument("paths", metavar="PATH", nargs="*", default=["src/", "examples/server/src/"],
                        help="files and directories; the default is src/ and examples/server/src/")
    parser.add_argument("--seed", metavar="N", type=int, nargs="+", default=[random.randrange(1000)],
                        help="numbers that determine the lines; the default is random")
    parser.add_argument("--lines", metavar="N", type=int, default=20, help="lines of each seed; the default is 20")
    parser.add_argument("--list", action="store_true", help="only lists the mutants")
    arguments = parser.parse_args()
    sources, mutants = draw(tuple(arguments.paths), arguments.seed, arguments.lines)
    if arguments.list:
        return print("\n".join(mutant["name"] for mutant in mutants))
    errors = True
    while errors:
        write_copy(sources, mutants)
        programs, errors = build({suite for mutant in mutants for suite in mutant["suites"]})
        invalid = [mutant for mutant in mutants if any(is_of(error, mutant) for error in errors)]
        if errors and not invalid:
            sys.exit("\n".join(error["rendered"] for error in errors))
        for mutant in invalid:
            mutants.remove(mutant)
            print(f"does not compile: {mutant['name']}", flush=True)
    limits, survivors = {}, 0
    for mutant in mutants:
        for suite in mutant["suites"]:
            if suite not in limits:
                start = time.monotonic()
                if failed := failure(programs[suite], 0, 3600):
                    sys.exit(f"{suite} fails without a mutant: {failed}")
                limits[suite] = 30 + 3 * (time.monotonic() - start)
            if failed := failure(programs[suite], mutant["number"], limits[suite]):
                print(f"detected: {mutant['name']} ({suite}: {failed})", flush=True)
                break
        else:
            survivors += 1
            print(f"SURVIVED: {mutant['name']} ({', '.join(mutant['suites'])})", flush=True)
    print(f"{len(mutants)} mutants, {survivors} survived")
    sys.exit(2 if survivors else 0)


main()
