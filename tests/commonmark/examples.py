"""Posts each example of the CommonMark specification to a new board, and compares the HTML. `DIFFERENCES` lists the
examples that the board renders otherwise on purpose."""

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from tempfile import TemporaryDirectory
from urllib.error import HTTPError
from urllib.request import Request, urlopen

# Numbers of examples, and the reason of their difference.
DIFFERENCES: dict[str, set[int]] = {
    "HTML is text": {
        21, 31, 148, 149, 150, 151, 152, 153, 154, 155, 156, 157, 158, 159, 160, 161, 162, 163, 164, 165,
        166, 167, 169, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 186,
        187, 188, 189, 190, 191, 201, 308, 309, 344, 475, 476, 477, 491, 494, 524, 536, 613, 614, 615, 616,
        617, 623, 625, 626, 627, 628, 629, 630, 631, 642, 643
    },
    "a bare address is a link, as in GitHub Flavored Markdown": {602, 608, 611, 612},
    "the class of a code block has letters, digits and a few signs of ASCII": {34, 144},
    "links and images have the schemes http, https and mailto only": {596, 598, 599, 601},
}

BLOCKS = set("blockquote h1 h2 h3 h4 h5 h6 hr li ol p pre table tbody td th thead tr ul".split())


class Outline(HTMLParser):
    """HTML as a list of tags and texts, without white space that is not shown."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.in_pre = False
        self.feed(html)
        self.close()
        self.parts = [part for part in self.parts if part]

    def add_tag(self, name: str, tag: str) -> None:
        if name in BLOCKS and self.parts and not self.in_pre:
            self.parts[-1] = self.parts[-1].rstrip()
        self.in_pre = name == "pre" and tag != "/pre" or self.in_pre and name != "pre"
        self.parts += [f"<{tag}>", ""]

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.add_tag(name, " ".join([name, *(f"{key}={value}" for key, value in sorted(attributes))]))

    def handle_endtag(self, name: str) -> None:
        if name not in ("br", "hr", "img"):
            self.add_tag(name, f"/{name}")

    def handle_data(self, text: str) -> None:
        if not self.in_pre:
            text = re.sub(r"\s+", " ", text)
            if len(self.parts) < 2 or re.match(r"</?(\w+)", self.parts[-2])[1] in BLOCKS | {"br"}:
                text = text.lstrip()
        if self.parts:
            self.parts[-1] += text
        else:
            self.parts = [text]


def expected(html: str) -> list[str]:
    """Headings begin at the third level, and links do not recommend their targets."""
    html = re.sub(r"(</?h)([1-6])>", lambda tag: f"{tag[1]}{min(int(tag[2]) + 2, 6)}>", html)
    return Outline(html.replace("<a href", '<a rel="nofollow ugc noopener" href')).parts


def examples(specification: str) -> list[tuple[str, str]]:
    pattern = r"^`{32} example\n(.*?)^\.\n(.*?)^`{32}$"
    found = re.findall(pattern, specification, re.MULTILINE | re.DOTALL)
    return [(source.replace("→", "\t"), html.replace("→", "\t")) for source, html in found]


def call(url: str, token: str, body: object = None) -> dict:
    data = None if body is None else json.dumps(body).encode()
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    with urlopen(Request(url, data, headers)) as response:
        return json.load(response)


def main(program: str, specification: str) -> None:
    with open(specification, encoding="utf-8") as file:
        all_examples = examples(file.read())
    assert len(all_examples) > 600, len(all_examples)
    with TemporaryDirectory() as board:
        options = ["--token-budget", "1000000", "--listen", "127.0.0.1:0", "--no-worker", "--json"]
        with subprocess.Popen([program, *options], cwd=board, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
            try:
                greeting = json.loads(server.stdout.readline())
                for setting, value in (("post.interval_seconds", "0"), ("post.per_hour", "1000000")):
                    subprocess.run([program, "setting", setting, value], cwd=board, check=True, stdout=subprocess.DEVNULL)
                differing = compare(greeting["api"], greeting["token"], all_examples)
            finally:
                server.terminate()
    listed = set().union(*DIFFERENCES.values())
    for number in sorted(differing.keys() | listed):
        if number not in listed or number not in differing:
            source, html = all_examples[number - 1]
            print(f"example {number}: {source!r}\n  specification {html!r}\n  board {differing.get(number, 'the same')!r}")
    print(f"{len(all_examples)} examples, {len(differing)} differ, {len(listed)} on purpose:")
    for reason, numbers in DIFFERENCES.items():
        print(f"{len(numbers):5} {reason}")
    sys.exit(differing.keys() != listed)


def compare(api: str, token: str, all_examples: list[tuple[str, str]]) -> dict[int, str]:
    """Returns the HTML of the examples that differ, by number."""
    forum = next(forum["forumId"] for forum in call(f"{api}/forums", token)["items"] if forum["canStartThread"])
    thread = call(f"{api}/forums/{forum}/threads", token, {"title": "Examples", "body": "Examples"})["threadId"]
    differing = {}
    for number, (source, html) in enumerate(all_examples, 1):
        try:
            rendered = call(f"{api}/threads/{thread}/posts", token, {"body": source})["bodyHtml"]
        except HTTPError as error:
            rendered = error.read().decode()
        if Outline(rendered).parts != expected(html):
            differing[number] = rendered
    return differing


main(*sys.argv[1:])
