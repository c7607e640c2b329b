"""The requests that are measured, each with the parameters that cost most."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

from .board import FORUMS, OPTIONS, Board, fill, random_letters, random_words, texts
from .server import Client, Response

# Values of a refused body of nearly 1 MiB.
VALUES = 160_000


@dataclass
class Case:
    """A request. `send` takes the number of its repetition."""

    name: str
    send: Callable[[int], Response]
    # Units of a page, which has no cost.
    units: int | None = None
    # Statuses that are expected, for example of a body that is refused.
    statuses: tuple[int, ...] = (200,)
    # Whether other writes wait while the request is processed.
    is_write: bool = False
    # Whether the request has the same effect when it is repeated.
    is_repeatable: bool = True


def shortened(text: str) -> str:
    return text if len(text) <= 70 else f"{text[:60]}…"


def get(client: Client, path: str, statuses: tuple[int, ...] = (200,), name: str = "") -> Case:
    return Case(shortened(f"GET {name or path}"), lambda _: client.send("GET", f"/api/v1{path}"), statuses=statuses)


def write(
    client: Client, method: str, path: str, name: str, body: Callable[[int], object], statuses: tuple[int, ...] = (200, 201)
) -> Case:
    return Case(f"{method} {name}", lambda turn: client.send(method, f"/api/v1{path}", body(turn)), None, statuses, True)


def call(client: Client, tool: str, arguments: bytes | dict, name: str = "") -> Case:
    given = arguments if isinstance(arguments, bytes) else json.dumps(arguments).encode()
    message = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":%s}}' % (tool.encode(), given)
    headers = {"accept": "application/json, text/event-stream"}
    send = lambda _: client.send("POST", "/mcp", message, headers)
    return Case(shortened(f"MCP {tool} {name or given.decode()}"), send, statuses=(200, 400, 413))


def lists(board: Board) -> Iterator[Case]:
    guest, alice, boss = board.guest, board.alice, board.boss
    posts = f"SELECT id FROM post WHERE thread_id = {board.long_thread} AND state = 'visible' ORDER BY id"
    last = board.database.value(f"{posts} DESC LIMIT 1")
    middle = board.database.value(f"{posts} LIMIT 1 OFFSET {1_000 * board.scale}")
    after_run = board.database.value(f"SELECT max(id) FROM post WHERE thread_id = {board.deleted}")
    for client in (guest, alice, boss):
        yield get(client, "/forums")
        yield get(client, f"/forums/{board.forum}/threads?limit=100")
        yield get(client, f"/forums/{board.forum}/threads?limit=100&since=2000-01-01T00:00:00Z")
        yield get(client, f"/forums/{board.other_forum}/threads?limit=100")
        for thread in (board.long_thread, board.deleted, board.waiting):
            yield get(client, f"/threads/{thread}")
            yield get(client, f"/threads/{thread}/posts?limit=100")
            yield get(client, f"/threads/{thread}/posts?limit=100&sort=newest", (200, 400))
        yield get(client, f"/threads/{board.deleted}/posts?limit=100&from={after_run}")
        yield get(client, f"/threads/{board.long_thread}/posts?limit=100&from={middle}")
        yield get(client, f"/threads/{board.long_thread}/posts?limit=1&from={last}")
        yield get(client, f"/threads/{board.long_thread}/posts?limit=100&since=2100-01-01T00:00:00Z")
        yield get(client, f"/threads/{board.polled}/poll")
        yield get(client, "/members/@alice")
    for name, thread in board.threads.items():
        path = f"/threads/{thread}/posts?limit=100"
        for body in ("both", "source"):
            yield get(guest, f"{path}&body={body}", name=f"posts of {name}, {body}")
        compressed = lambda _, path=path: guest.send("GET", f"/api/v1{path}", None, {"accept-encoding": "gzip"})
        yield Case(f"GET posts of {name}, gzip", compressed)
    for path in (
        "/me", "/messages?limit=100", "/messages?folder=sent&limit=100", "/messages?unread=true&limit=100",
        "/messages?unread=false&limit=100", "/subscriptions?limit=100", "/subscriptions?target=thread&limit=100",
    ):
        yield get(alice, path)
    for client in (alice, boss):
        positions = [f"after={event}" for event in (board.event, board.before_ratings)]
        for query in ("", "since=2000-01-01T00:00:00Z", "since=2100-01-01T00:00:00Z", *positions):
            for topics in ("", "&topics=post.updated", "&topics=*,message.sent"):
                yield get(client, f"/x/events?limit=100&{query}{topics}")
    message = board.database.value(f"SELECT min(id) FROM message_copy WHERE owner_id = {board.alice_id}")
    yield get(alice, f"/messages/{message}")
    # Subscriptions to threads of forums that were added last.
    yield get(board.bob_client, "/subscriptions?limit=100", name="subscriptions in the newest forums")
    yield get(guest, f"/threads/{board.largely_polled}/poll", name="a poll with many options")


def searches(board: Board) -> Iterator[Case]:
    hangul = random_letters(0xAC00, 0xD7A0, 0)
    queries = {
        "a common word": "tea",
        "a word of two kinds of texts": "a",
        "an absent word": "zzzzzz",
        "two common words": "tea the",
        "a common word and its exclusion": "tea -tea",
        "199 Han letters": "的" * 199,
        "198 different Han letters": random_letters(0x4E00, 0x9FA0, 0)[:198],
        "10 Han letters": "的" * 10,
        "a Han letter": "的",
        "150 Hangul syllables in phrases": " ".join(hangul[n : n + 9] for n in range(0, 150, 9)),
        "199 Thai letters": fill("กขคงจฉชซ")[:199],
        "a repeated phrase": '"' + ("a a a b " * 8).strip() + '"',
        "an absent phrase": '"b ' + "a " * 28 + 'b b"',
        "words inside of words": " ".join("q" * length for length in range(1, 18)),
        "a phrase of common words": '"tea the tea the"',
        "phrases of a letter": " ".join("的" * length for length in range(1, 18)),
        "a run of a Thai letter with another end": "ฉ" * 198 + "ญ",
        "32 words": " ".join(f"{word:x}" for word in range(32)),
    }
    for name, query in queries.items():
        for sort in ("relevance", "newest"):
            path = f"/api/v1/search?q={quote(query)}&sort={sort}&limit=100"
            yield Case(f"search {name}, {sort}", lambda _, path=path: board.guest.send("GET", path))
    forums = ",".join(str(forum) for forum in range(1, FORUMS))
    # Nearly as many ids as the head of a request can have.
    repeated = ",".join([str(board.forum)] * (30_000 // len(f"{board.forum},")))
    half = ",".join(board.half_of_forums)
    for path in (
        f"/search?q=%22green+nettle%22&sort=newest&forum={half}", f"/search?q=zzzzzz&forum={half}",
        f"/search?q=tea&forum={forums}", "/search?q=a&by=@alice", "/search?q=tea&show=threads&limit=100",
        "/search?q=tea&in=titles&limit=100", "/search?q=tea&when=2020-01-01..2021-01-01", "/search?by=@alice&limit=100",
        "/search?by=@alice&limit=100&sort=oldest", f"/search?by={board.spammer}&limit=100", f"/search?q=tea&by={board.spammer}",
        f"/search?q=a&forum={repeated}",
    ):
        yield get(board.guest, path, (200, 400))


def refused(board: Board) -> Iterator[Case]:
    lists = b"[" + b"[0]," * VALUES + b"0]"
    fields = b"{" + b",".join(b'"a%d":0' % number for number in range(80_000)) + b"}"
    options = b'{"options":[' + b'{"text":"a"},' * 55_000 + b'{"text":"b"}]}'
    bodies = (
        ("POST", "/subscriptions", b'{"x":%s}' % lists),
        ("POST", "/subscriptions", b'{"target":%s}' % lists),
        ("POST", "/subscriptions", fields),
        ("POST", f"/threads/{board.long_thread}/posts", b'{"body":%s}' % lists),
        ("POST", f"/threads/{board.long_thread}/posts", b"[" * 500_000),
        ("POST", "/messages", b'{"to":[' + b'"1",' * VALUES + b'"1"],"subject":"a","body":"b"}'),
        ("PATCH", f"/polls/{board.poll['pollId']}", options),
        ("POST", f"/polls/{board.poll['pollId']}/votes", b'{"optionIds":[' + b'"1",' * VALUES + b'"1"]}'),
    )
    for method, path, body in bodies:
        send = lambda _, method=method, path=path, body=body: board.alice.send(method, f"/api/v1{path}", body)
        yield Case(f"{method} {path}, refused: {body[:20].decode()}…", send, statuses=(400,))
    parameters = "&".join(f"a{number}=1" for number in range(1_000))
    yield get(board.alice, f"/forums?{parameters}", (400,))
    recipients = {"to": [f"@a{number}" for number in range(9_900)], "subject": "a", "body": "b"}
    yield write(board.alice, "POST", "/messages", "a message to 9,900 unknown members", lambda _: recipients, (404, 422))


def bodies_in_chunks(board: Board) -> Iterator[Case]:
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    subscription = b'{"target":"forum","targetId":"%d"}' % int(board.forum)
    accept = {"accept": "application/json, text/event-stream"}
    for client, method, path, body, length, headers, statuses in (
        (board.alice, "POST", "/api/v1/subscriptions", subscription.ljust(1_000_000), 1, {}, (400,)),
        # Nearly as many chunks as are accepted.
        (board.alice, "POST", "/api/v1/subscriptions", subscription.ljust(1_000_000), 140, {}, (200, 201)),
        (board.alice, "POST", "/mcp", ping.ljust(1_000_000), 1, accept, (400,)),
        (board.guest, "POST", "/mcp", ping.ljust(60_000), 15, accept, (200,)),
        (board.guest, "PATCH", "/api/v1/polls/1", b" " * 1_000_000, 1, {}, (401,)),
    ):
        send = lambda _, client=client, options=(method, path, body, length, headers): client.send_in_chunks(*options)
        yield Case(f"{method} {path} in chunks of {length}", send, statuses=statuses)
    form = {"content-type": "application/x-www-form-urlencoded"}
    for method, path, headers, status in (("GET", "/health", {}, 200), ("POST", "/sign-in", form, 400)):
        send = lambda _, options=(method, path, b" " * 60_000, 1, headers): board.guest.send_in_chunks(*options)
        # A page has no cost, and a client can send any number of requests.
        yield Case(f"{method} {path} in chunks of 1", send, 1, (status,))


def tools(board: Board) -> Iterator[Case]:
    guest, alice, boss = board.guest, board.alice, board.boss
    for client in (guest, alice):
        listed = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
        yield Case("MCP tools/list", lambda _, client=client: client.send("POST", "/mcp", listed))
    yield call(boss, "listForums", {})
    yield call(guest, "listThreads", {"forumId": board.forum, "limit": 100})
    for name, thread in board.threads.items():
        for body in ("source", "both"):
            yield call(guest, "listPosts", {"threadId": thread, "limit": 100, "body": body}, f"{name}, {body}")
    yield call(guest, "search", {"q": "的" * 150, "limit": 100})
    yield call(guest, "search", {"by": "@alice", "limit": 100})
    yield call(boss, "listEvents", {"since": "2000-01-01T00:00:00Z", "limit": 100})
    fields = lambda count: b"{" + b",".join(b'"a%d":0' % number for number in range(count)) + b"}"
    yield call(alice, "getMe", fields(80_000), "with 80,000 unknown arguments")
    yield call(alice, "getMe", fields(9_000), "with 9,000 unknown arguments")
    yield call(guest, "listForums", fields(4_000), "with 4,000 unknown arguments")
    yield call(alice, "subscribe", b'{"target":[' + b"[0]," * VALUES + b"0]}", "with a large target")
    yield call(alice, "vote", b'{"pollId":"1","optionIds":[' + b'"1",' * VALUES + b'"1"]}', "for many options")
    yield call(alice, "createPost", b'{"threadId":"1","body":"' + b"\\u0022" * 150_000 + b'"}', "with a long body")


def writes(board: Board) -> Iterator[Case]:
    alice, boss = board.alice, board.boss
    for name in texts(0):
        text = lambda turn, name=name: {"body": texts(500 + turn)[name]}
        yield write(alice, "POST", f"/threads/{board.threads[name]}/posts", f"a reply of {name}", text)
    han = lambda turn: random_letters(0x4E00, 0x9FA0, 900 + turn)
    yield write(
        alice, "POST", f"/forums/{board.forum}/threads", "a thread of random Han letters",
        lambda turn: {"title": f"thread {turn}", "body": han(turn)},
    )
    reply = board.alice.api("POST", f"/threads/{board.long_thread}/posts", {"body": "a"})["postId"]
    edit = f"/threads/{board.long_thread}/posts/{reply}"
    yield write(alice, "PATCH", edit, "a post to random Han letters", lambda turn: {"body": han(turn + 50)})
    for name, thread in {"long": board.long_thread, "with a run of waiting replies": board.waiting}.items():
        text = lambda turn: {"body": f"a {turn}"}
        yield write(alice, "POST", f"/threads/{thread}/posts", f"a reply to a thread: {name}", text)
    for name in ("random_han", "words"):
        title = f"/threads/{board.threads[name]}/posts/{board.first_post(board.threads[name])}"
        yield write(boss, "PATCH", title, f"the title of a thread of {name}", lambda turn: {"title": f"title {turn}"})
    title = f"/threads/{board.long_thread}/posts/{board.first_post(board.long_thread)}"
    yield write(boss, "PATCH", title, "the title of the long thread", lambda turn: {"title": f"title {turn}"})
    yield from polls(board)
    rating = lambda turn: {"points": 1, "comment": random_words(turn)[:900]}
    yield write(alice, "POST", "/members/@bob/reputation", "a rating", rating, (201, 403, 409))
    message = lambda turn: {"to": ["@bob"], "subject": f"s {turn}", "body": random_words(turn)}
    yield write(alice, "POST", "/messages", "a message", message)
    subscription = {"target": "forum", "targetId": board.forum}
    yield write(alice, "POST", "/subscriptions", "a subscription", lambda _: subscription)
    yield write(alice, "DELETE", f"/subscriptions/forum/{board.forum}", "a subscription", lambda _: None, (204, 404))


def polls(board: Board) -> Iterator[Case]:
    path = f"/polls/{board.poll['pollId']}"
    options = [{"optionId": option["optionId"], "text": option["text"]} for option in board.poll["options"]]
    ids = [option["optionId"] for option in options]
    last = board.large_poll["options"][-1]["optionId"]
    repeated = lambda _: {"optionIds": [last] * 9_900}
    votes = f"/polls/{board.large_poll['pollId']}/votes"
    yield write(board.alice, "POST", votes, "a vote for an option 9,900 times", repeated, (422,))
    yield write(board.alice, "POST", f"{path}/votes", "a vote", lambda turn: {"optionIds": ids[turn % 2 :]})
    closing = lambda turn: {"closesAt": f"2099-01-01T00:00:{turn:02}Z"}
    yield write(board.alice, "PATCH", path, "the closing time of a poll", closing)
    yield write(board.boss, "PATCH", path, "the question of a poll", lambda turn: {"question": f"question {turn}"})
    fewer = lambda turn: {"maxChoices": 2, "options": options[: OPTIONS - 1 - turn]}
    yield write(board.boss, "PATCH", path, "a poll: an option less", fewer)


def pages(board: Board) -> Iterator[Case]:
    signed_in = board.server.sign_in()
    delivery = board.database.value("SELECT max(id) FROM forum_api_deliveries")
    token = board.database.value("SELECT max(lookup) FROM forum_api_tokens")
    for path in (
        "usage", "usage?period=7d", "usage?period=30d", "tokens", "tokens?owner=bob", "tokens?search=x", "tokens?state=valid", f"tokens/{token}", "webhooks",
        f"webhooks/{board.endpoint}", "deliveries", "deliveries?state=dead", f"deliveries?endpoint={board.endpoint}",
        f"deliveries/{delivery}", "audit", "audit?actor=admin", "audit?action=token.issued",
        "audit?target=x",
    ):
        # As much as a write, because only administrators see the panel. The page of 30 days sums up 720 hours.
        units = 10 if path == "usage?period=30d" else 5
        yield Case(f"page /panel/{path}", lambda _, path=path: signed_in.send("GET", f"/panel/{path}"), units)
    for path in ("/", "/docs", "/sign-in", "/api/v1/openapi.json", "/health", "/ready"):
        yield Case(f"page {path}", lambda _, path=path: board.guest.send("GET", path), 1)


def moderation(board: Board) -> Iterator[Case]:
    """Changes of whole threads by a moderator, each measured once."""
    threads = {"long": board.long_thread, "of random_hangul": board.threads["random_hangul"]}
    for name, thread in threads.items():
        path = f"/api/v1/threads/{thread}/posts/{board.first_post(thread)}"
        delete = lambda _, path=path: board.boss.send("DELETE", path)
        yield Case(f"DELETE a thread: {name}", delete, None, (204,), True, False)


def requests(board: Board) -> Iterator[Case]:
    for part in (lists, searches, refused, bodies_in_chunks, tools, pages, writes, moderation):
        yield from part(board)


@dataclass
class Operation:
    """A command of an operator, which has no cost in units."""

    name: str
    arguments: tuple[str, ...]
    # Commands after which the operation has the same effect again, or `None` if it has it only once.
    undo: tuple[tuple[str, ...], ...] | None = ()


def operations(board: Board) -> Iterator[Operation]:
    hangul, long_thread, unpublished = (
        board.first_post(thread) for thread in (board.threads["random_hangul"], board.long_thread, board.unpublished)
    )
    for name in ("list", "list --state awaiting_approval", "list --state deleted"):
        kind = "post" if "--state" in name else "thread"
        yield Operation(f"{kind} {name}", (kind, *name.split(), "--limit", "50"))
    # The work is proportional to the number of hours.
    yield Operation("token usage", ("token", "usage", "--days", "1"))
    of_wave = ("--by", "wave", "--since", "2000-01-01")
    ban, restore = ("member", "ban", "wave", "--delete-posts", "--yes"), ("post", "restore", *of_wave)
    yield Operation("member ban --delete-posts", ban, (restore, ("member", "unban", "wave")))
    yield Operation("post restore --by --since", restore, (("post", "delete", *of_wave, "--yes"),))
    yield Operation("restore a thread of random_hangul", ("post", "restore", hangul), (("post", "delete", hangul, "--yes"),))
    yield Operation("restore a long thread", ("post", "restore", long_thread), (("post", "delete", long_thread, "--yes"),))
    yield Operation("approve a thread with approved replies", ("post", "approve", unpublished), None)
