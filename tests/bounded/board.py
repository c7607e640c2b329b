"""A board that members fill within their limits so that requests cost much, in a small and in a large size."""

import json
from random import Random
from time import time

from .server import Server

LENGTH = 20_000
# Copies of each text: more than fit in a page.
COPIES = 60
# Copies of the texts that cost most: a search reads all of them until its work is done, and a page can read 101 posts.
MANY_COPIES = {"emoji": 110, "han": 600, "thai": 600, "nested_words": 1_000, "repeated_phrase": 600, "letter_run": 120}
OPTIONS, MANY_OPTIONS = 20, 1_000
# Operators add forums, and members write in each of them.
FORUMS, POSTS_IN_FORUM = 1_000, 10
# A third of them are dead, and pages count up to 10,000 dead ones.
DELIVERIES = 31_000


def fill(text: str) -> str:
    """Repeats a text up to the longest allowed body."""
    return (text * (LENGTH // len(text) + 1))[:LENGTH].strip()


def random_letters(first: int, last: int, seed: int) -> str:
    letters = Random(seed)
    return "".join(chr(letters.randrange(first, last)) for _ in range(LENGTH))


def random_words(seed: int) -> str:
    words = Random(seed)
    return fill(" ".join(f"{words.randrange(100_000):x}" for _ in range(LENGTH // 4)))


def texts(seed: int) -> dict[str, str]:
    """Returns bodies of the longest allowed length, by kind."""
    return {
        "words": random_words(seed),
        "one_word": "q" * LENGTH,
        "nested_words": fill(" ".join("q" * length for length in range(1, 200)) + " "),
        "repeated_phrase": fill("a a a b "),
        "han": fill("的"),
        "random_han": random_letters(0x4E00, 0x9FA0, seed),
        "random_hangul": random_letters(0xAC00, 0xD7A0, seed),
        "thai": fill("กขคงจฉชซ"),
        "emoji": fill("😀"),
        "combining_marks": fill("a\u0301\u0323"),
        "quotation_marks": fill('"'),
        "backslashes": fill("\\"),
        "tabs": fill("a\t"),
        "line_feeds": fill("a\n\n"),
        "tables": fill("|a|b|\n|-|-|\n|c|d|\n\n"),
        "lists": fill("- a\n  1. b\n"),
        "block_quotes": fill("> " * 40 + "a\n\n"),
        "quotes_after_a_carriage_return": "\r" + ">" * (LENGTH - 1),
        "brackets": fill("[a](b "),
        "references": "[b]: /c\n\n" + fill("[a][b] ")[:-20],
        "emphasis": fill("*a _b "),
        "addresses": fill("https://a.example/b "),
        "entities": fill("&amp;&#60;"),
    }


class Board:
    """A demo board with more content. `scale` is 1 for the small size and 10 for the large one."""

    def __init__(self, server: Server, scale: int) -> None:
        self.server, self.database, self.scale = server, server.database, scale
        self.alice, self.guest = server.alice, server.guest
        self.boss, self.bob_client = server.token("admin"), server.token("bob")
        self.settings = {
            "post.interval_seconds": 0, "post.per_hour": 1_000_000, "post.edits_per_hour": 1_000_000,
            "post.edit_window_minutes": "unlimited", "message.per_hour": 1_000_000, "message.inbox_quota": 1_000_000,
            "reputation.per_day": 1_000_000,
        }

    def fill(self) -> None:
        """Adds content of each kind. The number of rows is proportional to the scale, except for forums and long texts."""
        for key, value in self.settings.items():
            self.server.operate("setting", key, str(value))
        size = ["--members", "50", "--threads", str(300 * self.scale), "--posts", str(4_000 * self.scale)]
        self.server.operate("generate", "--yes", *size)
        forums = {forum["title"]: forum["forumId"] for forum in self.alice.api("GET", "/forums")["items"]}
        self.forum, self.other_forum = forums["General"], forums["Help"]
        self.long_thread = self.database.value("SELECT id FROM thread ORDER BY reply_count DESC LIMIT 1")
        self.bob, self.alice_id = self.member("bob"), self.member("alice")
        self.threads = {name: self.add_texts(name, body) for name, body in texts(0).items()}
        # A search that finds each of these posts looks for the beginning of its excerpt in the whole text.
        self.add_texts("letter_run", "ฉ" * 2_239 + "ญ")
        self.deleted = self.add_run("deleted", 10_000 * self.scale)
        self.spammer = self.member("carol")
        self.database.run(
            f"UPDATE post SET author_id = {self.spammer} WHERE thread_id = {self.deleted} AND state = 'deleted'"
        )
        self.waiting = self.add_run("awaiting_approval", 5_000 * self.scale)
        self.add_wave(10)
        # A moderator has approved each of the replies.
        self.unpublished = self.add_unpublished(200)
        self.add_hidden_threads()
        self.add_poll()
        self.add_large_poll()
        self.add_messages()
        self.add_subscriptions_and_ratings()
        self.add_forums()
        self.add_records()

    def member(self, name: str) -> str:
        return self.database.value(f"SELECT id FROM member WHERE username = '{name}'")

    def start(self, title: str, **fields: object) -> str:
        """Starts a thread, with a reply."""
        body = {"title": title, "body": "first"} | fields
        thread = self.alice.api("POST", f"/forums/{self.forum}/threads", body)["threadId"]
        self.alice.api("POST", f"/threads/{thread}/posts", {"body": "before"})
        return thread

    def first_post(self, thread: str) -> str:
        return self.database.value(f"SELECT first_post_id FROM thread WHERE id = {thread}")

    def copy_last_post(self, thread: str, count: int, **changes: str) -> None:
        """Adds copies of the last post of a thread."""
        last = f"SELECT * FROM post WHERE thread_id = {thread} ORDER BY number DESC LIMIT 1"
        kept = ["thread_id", "author_id", "state", "published", "body", "body_html", "body_words"]
        columns = {name: f"old.{name}" for name in kept} | {"number": "old.number + n", "created_at": "old.created_at + n"}
        # Of long ago, because the default limits allow few posts in an hour.
        self.database.add("post", count, last, written_at="n", **columns | changes)
        self.database.run(
            f"UPDATE thread SET last_number = last_number + {count}, newest_at = newest_at + {count} WHERE id = {thread}"
        )

    def add_texts(self, name: str, body: str) -> str:
        thread = self.start(name)
        self.alice.api("POST", f"/threads/{thread}/posts", {"body": body})
        count = MANY_COPIES.get(name, COPIES)
        self.copy_last_post(thread, count)
        self.database.run(
            f"UPDATE thread SET reply_count = reply_count + {count}, last_activity_at = last_activity_at + {count},"
            f" last_post_id = (SELECT max(id) FROM post WHERE thread_id = {thread}) WHERE id = {thread}",
            f"UPDATE thread_author SET post_count = post_count + {count}, counted = counted + {count} WHERE thread_id = {thread}",
            f"UPDATE member SET post_count = post_count + {count} WHERE id = {self.alice_id}",
            f"UPDATE forum_count SET post_count = post_count + {count}"
            f" WHERE id = (SELECT min(id) FROM forum_count WHERE forum_id = {self.forum})",
        )
        return thread

    def add_run(self, state: str, count: int) -> str:
        """Adds a thread with hidden posts between its visible ones, as moderators leave it after a wave of spam."""
        thread = self.start(state)
        self.copy_last_post(thread, count, state=f"'{state}'")
        self.alice.api("POST", f"/threads/{thread}/posts", {"body": "after"})
        return thread

    def add_wave(self, count: int) -> None:
        """Adds a member with posts in a thread with a run of deleted ones."""
        self.server.operate("member", "add", "wave", "--groups", "members")
        wave = self.server.token("wave")
        for number in range(count):
            wave.api("POST", f"/threads/{self.deleted}/posts", {"body": f"wave {number}"})

    def add_unpublished(self, count: int) -> str:
        """Adds a thread that awaits approval, with approved replies of which no event was sent."""
        thread = self.start("unpublished")
        self.copy_last_post(thread, count, published="FALSE", update_waits="TRUE")
        first = self.first_post(thread)
        self.database.run(
            f"UPDATE post SET published = FALSE WHERE thread_id = {thread}",
            f"UPDATE post SET state = 'awaiting_approval' WHERE id = {first}",
            f"UPDATE thread SET state = 'awaiting_approval', reply_count = reply_count + {count} WHERE id = {thread}",
        )
        return thread

    def add_hidden_threads(self) -> None:
        """Adds threads that are deleted or wait, with later activity than those that all members see."""
        newest = f"SELECT * FROM thread WHERE forum_id = {self.other_forum} ORDER BY last_activity_at DESC LIMIT 1"
        kept = ["forum_id", "title", "title_words", "author_id", "created_at", "first_post_id", "last_post_id"]
        columns = {name: f"old.{name}" for name in kept} | {"last_activity_at": "old.last_activity_at + n"}
        for state, count in (("deleted", 5_000), ("awaiting_approval", 1_000)):
            self.database.add("thread", count * self.scale, newest, state=f"'{state}'", **columns)

    def add_large_poll(self) -> None:
        """Adds a poll with as many options as an operator can allow."""
        self.server.operate("setting", "poll.options_max", str(MANY_OPTIONS))
        options = [f"option {number}" for number in range(MANY_OPTIONS)]
        self.largely_polled = self.start("large poll", poll={"question": "which?", "options": options, "maxChoices": 2})
        self.large_poll = self.alice.api("GET", f"/threads/{self.largely_polled}/poll")

    def add_poll(self) -> None:
        """Adds a poll, and members who voted for all of its options."""
        options = [f"option {number}" for number in range(OPTIONS)]
        poll = {"question": "which?", "options": options, "maxChoices": OPTIONS, "canChangeVote": True}
        self.polled = self.start("poll", poll=poll)
        self.poll = self.alice.api("GET", f"/threads/{self.polled}/poll")
        poll, voters = self.poll["pollId"], 1_000 * self.scale
        self.database.add("member", voters, username="'voter' || n", groups="'members'", joined_at="n")
        self.database.run(
            "INSERT INTO ballot (poll_id, member_id, choices)"
            f" SELECT {poll}, id, {OPTIONS} FROM member WHERE username LIKE 'voter%'",
            "INSERT INTO vote (ballot_id, option_id) SELECT ballot.id, poll_option.id"
            f" FROM ballot JOIN poll_option ON poll_option.poll_id = ballot.poll_id WHERE ballot.poll_id = {poll}",
            f"UPDATE poll_option SET votes = {voters} WHERE poll_id = {poll}",
            f"UPDATE poll SET voters = {voters} WHERE id = {poll}",
        )

    def add_messages(self) -> None:
        """Adds messages in the inbox of one member, of which half are read."""
        count = 500 * self.scale
        content = {"subject": "'bulk ' || n", "body": "'x'", "body_html": "'<p>x</p>'", "receipt_requested": "FALSE"}
        self.database.add("message", count, sender_id=self.bob, **content)
        self.database.run(
            "INSERT INTO message_copy (message_id, owner_id, folder, sent_at, read_at)"
            f" SELECT id, {self.alice_id}, 'inbox', id, CASE id % 2 WHEN 0 THEN 1 END"
            " FROM message WHERE subject LIKE 'bulk %'",
            f"UPDATE member SET unread_count = unread_count + {count // 2}, inbox_used = inbox_used + {count}"
            f" WHERE id = {self.alice_id}",
        )

    def add_subscriptions_and_ratings(self) -> None:
        """Adds subscriptions, of which the newest are for hidden threads, and ratings of one member by another."""
        self.database.run(
            "INSERT INTO subscription (member_id, forum_id, target, target_id, created_at)"
            f" SELECT {self.alice_id}, forum_id, 'thread', id, id FROM thread"
            f" WHERE forum_id = {self.other_forum} ORDER BY id LIMIT {500 * self.scale}"
        )
        rating = {"member_id": self.bob, "rater_id": self.alice_id, "points": "1", "comment": "'x'", "created_at": "n"}
        self.database.add("rating", 500 * self.scale, **rating)

    def add_forums(self) -> None:
        """Adds forums, each with a thread, whose posts have the words of a phrase in another order."""
        texts = {"title": "'forum ' || n", "description": "'A forum of many.'"}
        self.database.add("forum", FORUMS, position="n + 100", **texts)
        added, now = "SELECT id FROM forum WHERE title LIKE 'forum %'", self.milliseconds()
        self.database.run(
            "INSERT INTO forum_count (forum_id, thread_count, post_count, newest_at)"
            f" SELECT id, 1, {POSTS_IN_FORUM}, {now} FROM ({added}) AS added",
            "INSERT INTO thread (forum_id, title, title_words, author_id, state, created_at, last_activity_at, newest_at,"
            " last_number, reply_count)"
            f" SELECT id, 'x', 'x', {self.bob}, 'visible', {now}, {now}, {now}, {POSTS_IN_FORUM}, {POSTS_IN_FORUM - 1}"
            f" FROM ({added}) AS added ORDER BY id",
        )
        of_thread = "FROM post WHERE thread_id = thread.id"
        # Each span of ids has posts of many forums.
        self.database.run(
            "INSERT INTO post (thread_id, number, author_id, state, created_at, written_at, body, body_html, body_words)"
            " WITH RECURSIVE number (n) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT n + 1 FROM number"
            f" WHERE n < {POSTS_IN_FORUM})"
            f" SELECT thread.id, n, {self.bob}, 'visible', {now} + n, n, 'nettle green', '<p>nettle green</p>', 'nettle green'"
            f" FROM number CROSS JOIN thread WHERE forum_id IN ({added}) ORDER BY n, thread.id"
        )
        self.database.run(
            f"UPDATE thread SET first_post_id = (SELECT min(id) {of_thread}), last_post_id = (SELECT max(id) {of_thread})"
            f" WHERE forum_id IN ({added})",
            "INSERT INTO subscription (member_id, forum_id, target, target_id, created_at)"
            f" SELECT {self.bob}, forum_id, 'thread', id, id FROM thread WHERE forum_id IN ({added})",
        )
        self.half_of_forums = [row[0] for row in self.database.run(f"{added} AND id % 2 = 0")]

    def add_records(self) -> None:
        """Adds what the panel shows: tokens, their requests by hour, entries of the audit log, and deliveries."""
        scale, database = self.scale, self.database
        zeros = "00" * 32
        digest = f"X'{zeros}'" if database.kind == "sqlite" else f"'\\x{zeros}'::BYTEA"
        lookup = "CAST(1000000000000000 + n AS TEXT)"
        token = {"digest": digest, "owner": f"'{self.bob}'", "label": "'x'", "scopes": "'[]'", "created_at": "n"}
        database.add("forum_api_tokens", 200 * scale, lookup=lookup, **token)
        key = {"namespace": "'x'", "key": "'k' || n", "request": digest, "began_at": "n", "ended": "TRUE"}
        database.add("forum_api_idempotency_keys", 500 * scale, **key)
        hour = self.milliseconds() // 3_600_000 * 3_600_000
        counts = ["requests", "units", "rate_limited", "unauthenticated", "forbidden", "rejected", "errors"]
        ago = {"hour": f"{hour} - n % 700 * 3600000"} | dict.fromkeys(counts, "n % 100")
        database.add("forum_api_usage", 14_000 * scale, token="CAST(1000000000000000 + n / 700 AS TEXT)", **ago)
        # The number of operations does not depend on the size of the board.
        database.add("forum_api_operation_usage", 700 * 30, operation="'operation' || (n / 700)", **ago)
        entry = "SELECT * FROM forum_api_audit_log ORDER BY id DESC LIMIT 1"
        copied = ["actor", "os_user", "origin", "address", "action", "target", "details", "count"]
        entries = {name: f"old.{name}" for name in copied} | {"id": "old.id || n", "occurred_at": "old.occurred_at - n"}
        database.add("forum_api_audit_log", 1_000 * scale, entry, **entries)
        self.add_events()
        self.add_deliveries()

    def add_events(self) -> None:
        """Adds events of the feed: many of messages and long ones of ratings, which only their parties see, and long ones of
        posts.
        """
        # The times of copied posts are ahead, and the feed does not keep such events.
        now = int(time() * 1_000)
        # A comment of 20,000 quotation marks.
        comment = '\\"' * 20_000
        kinds = {
            "message.sent": (
                10_000 * self.scale, """'{"data":{"message":{"senderId":"x' || n || '","recipientIds":[]}}}'"""
            ),
            "post.created": (1_000, f"""'{{"body":"{"x" * 40_000}"}}'"""),
            "member.rated": (1_000, f"""'{{"data":{{"rating":{{"comment":"{comment}"}},"member":{{"userId":"x"}}}}}}'"""),
        }
        for topic, (count, body) in kinds.items():
            event = {"id": f"'{topic[:4]}_' || n", "topic": f"'{topic}'", "occurred_at": f"{now} - n", "body": body}
            self.database.add("forum_api_events", count, **event, fanned_out_at=f"{now} - n")
        # The first position of the feed, and the one before the ratings.
        self.event, self.before_ratings = "mess_1", "post_1000"

    def milliseconds(self) -> int:
        return int(self.database.value("SELECT max(created_at) FROM post"))

    def add_deliveries(self) -> None:
        """Adds an endpoint with deliveries, each of an event, in all states."""
        added = self.server.operate("webhook", "add", "https://receiver.example/", "--owner", "alice", "--json")
        self.endpoint, now, count = json.loads(added)["id"], self.milliseconds(), DELIVERIES
        number = "CAST(1000000000000000 + n AS TEXT)"
        event = {"id": f"'evt_' || {number}", "topic": "'post.created'", "occurred_at": f"{now} - n", "body": "'{}'"}
        self.database.add("forum_api_events", count, **event, fanned_out_at=f"{now} - n")
        self.database.add(
            "forum_api_deliveries", count, id=f"'dlv_' || {number}", event=event["id"], topic=event["topic"],
            endpoint=f"'{self.endpoint}'", created_at=f"{now} - n * 100000", attempts="1", status_class="5",
            state="CASE n % 3 WHEN 0 THEN 'delivered' WHEN 1 THEN 'dead' ELSE 'gone' END", ended_at=f"{now} - n",
        )
        self.database.add(
            "forum_api_attempts", count, delivery=f"'dlv_' || {number}", number="1", attempt="1", at=f"{now} - n",
            status="500", sent="TRUE", duration_ms="1",
        )
