"""Runs the samples of the reference page, as printed, in each language on a new demo board."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page

from panel import go
from reader import operations
from server import Server

# A body with characters that the languages escape.
BODY = "It's \"new\" \\ `$HOME` ü"

# A program reads a sample from the standard input.
RUN = {
    "curl": ["sh", "-e", "-u"],
    "TypeScript": [str(Path(sys.executable).with_name("node")), "--input-type=module"],
    "Python": [sys.executable, "-"],
}


# Prints the response.
PRINT = {"curl": "", "TypeScript": "\nconsole.log(JSON.stringify(data));", "Python": "\nprint(response.text)"}


def run(page: Page, server: Server, language: str) -> None:
    """Every sample succeeds in the order of the page, and has the values that are entered into the form."""
    server.command("setting", "post.interval_seconds", "0")
    go(page, "/docs")
    page.locator(f"#getMe_{language}").check(force=True)
    printed = samples(page)
    assert len(printed) == len(operations(page)), printed.keys()
    for name, sample in printed.items():
        execute(language, name, sample, server.token)
    page.evaluate("document.querySelectorAll('.try-it form').forEach(form => form.dispatchEvent(new Event('input')))")
    for name, sample in samples(page).items():
        assert sample == printed[name], f"{name}:\n{printed[name]}\n{sample}"
    entered_values(page, server, language)
    if language == "curl":
        introduction(page, server)


def entered_values(page: Page, server: Server, language: str) -> None:
    """Token, variables of the path, parameters, headers and body of a form are in the sample."""
    headers = {"authorization": f"Bearer {server.token}", "content-type": "application/json"}
    answer = server.ask("POST", f"{server.api}/threads/16/posts", headers, '{"body": "old"}')
    assert answer.status == 201, answer.text
    post = json.loads(answer.text)["postId"]
    page.get_by_label("Token for requests from this page").fill(server.token)
    for name, fields in {
        "updatePost": {"postId": post, "body": json.dumps({"body": BODY, "expectedVersion": None})},
        "listPosts": {"from": post, "limit": "1", "If-None-Match": '"old"'},
        "createPost": {"Idempotency-Key": "it's-1", "body": '{"body": "as is"'},
    }.items():
        form = page.locator(f"#{name} .try-it")
        form.locator("> summary").click()
        for field, value in fields.items():
            form.locator(f"[name='{field}']").fill(value)
    changed = {name: with_token(sample, server.token) for name, sample in samples(page).items()}
    execute(language, "updatePost", changed["updatePost"])
    text = execute(language, "listPosts", changed["listPosts"] + PRINT[language])
    [read] = json.loads(text)["items"]
    assert (read["postId"], read["body"]) == (post, BODY), text
    # A text that is not JSON is sent as it is.
    refused = execute(language, "createPost", changed["createPost"], is_refused=True)
    assert re.search(r"\b400\b|bad_request", refused), refused


def with_token(shown: str, token: str) -> str:
    """Returns a sample with the whole token. The page shows it without its secret."""
    masked = f"{token.rsplit('_', 1)[0]}_{'•' * 8}"
    assert masked in shown and token not in shown, shown
    return shown.replace(masked, token)


def introduction(page: Page, server: Server) -> None:
    """The requests of the introduction, in one session of a shell. The token that was entered is in the first one."""
    blocks = page.locator("main section.prose pre code").all_text_contents()
    blocks = [block for block in blocks if "curl " in block or "export " in block]
    marked = "\n".join(f"echo '=={number}=='\n{block}" for number, block in enumerate(blocks))
    outputs = re.split(r"==\d+==\n", execute("curl", "introduction", with_token(marked, server.token)))
    [pages] = [number for number, block in enumerate(blocks) if "limit=2&after=" in block]
    items = json.loads(outputs[pages + 1])["items"]
    assert [item["number"] for item in items] == [3, 4], items
    assert " 304 " in outputs[-1], outputs[-1]


def samples(page: Page) -> dict[str, str]:
    """Returns the visible sample of each operation."""
    blocks = page.locator(".samples .code").locator("visible=true").locator("code")
    return dict(zip(page.locator("section:has(.samples)").evaluate_all("all => all.map(one => one.id)"),
                    blocks.all_text_contents(), strict=True))


def execute(language: str, name: str, sample: str, token: str | None = None, is_refused: bool = False) -> str:
    """Runs a sample with `token` in its environment. Returns the output, or the errors if the request is refused."""
    with TemporaryDirectory() as home:
        # curl fails for a status of 400 or more.
        Path(home, ".curlrc").write_text("fail-with-body\nsilent\nshow-error\n")
        environment = {"PATH": os.environ["PATH"], "CURL_HOME": home}
        if token:
            environment["FORUM_TOKEN"] = token
        ended = subprocess.run(RUN[language], input=sample, env=environment, cwd=home, capture_output=True, text=True)
    output = ended.stdout + ended.stderr
    assert (ended.returncode != 0) == is_refused, f"{language} {name}:\n{sample}\n{output}"
    return output if is_refused else ended.stdout
