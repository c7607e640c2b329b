"""Typical calls of a new application, through a client that is generated from the OpenAPI document."""

from os import environ
from time import sleep
from typing import Any, TypeVar
from uuid import uuid4

from full import AuthenticatedClient
from full.api.events import list_events
from full.api.forums import list_forums
from full.api.me import get_me
from full.api.polls import get_poll, vote
from full.api.posts import create_post, list_posts, update_post
from full.api.search import search
from full.api.threads import get_thread, list_threads
from full.models.body_format import BodyFormat
from full.models.error_body import ErrorBody
from full.models.feed_event_page import FeedEventPage
from full.models.forum_list import ForumList
from full.models.me import Me
from full.models.post_input import PostInput
from full.models.vote_input import VoteInput
from full.models.poll import Poll
from full.models.post import Post
from full.models.post_page import PostPage
from full.models.post_sort import PostSort
from full.models.post_update import PostUpdate
from full.models.search_hit_page import SearchHitPage
from full.models.search_sort import SearchSort
from full.models.thread import Thread
from full.models.thread_page import ThreadPage
from full.types import UNSET, Response, Unset

T = TypeVar("T")

board = AuthenticatedClient(base_url=environ["API"], token=environ["TOKEN"])


def given(kind: type[T], answer: Response[Any]) -> T:
    assert isinstance(answer.parsed, kind), answer.content
    return answer.parsed


def refused(answer: Response[Any], status: int, code: str) -> Response[Any]:
    assert answer.status_code == status, answer.content
    assert isinstance(answer.parsed, ErrorBody)
    assert answer.parsed.error.code == code
    assert answer.parsed.error.request_id == answer.headers["x-request-id"]
    return answer


# The token.
me = given(Me, get_me.sync_detailed(client=board))
assert me.owner.username == "alice"
assert "posts:write" in me.scopes

# Forums.
forums = given(ForumList, list_forums.sync_detailed(client=board)).items
[general] = [forum for forum in forums if forum.title == "General"]
assert general.can_start_thread

# Threads, page by page.
threads: list[Thread] = []
after: str | None = None
while True:
    answer = list_threads.sync_detailed(general.forum_id, client=board, limit=3, after=after or UNSET)
    page = given(ThreadPage, answer)
    threads += page.items
    after = page.next_
    if after is None:
        break
assert len(threads) > 3
assert len({thread.thread_id for thread in threads}) == general.thread_count

# A vote.
[(thread_id, poll_id, first)] = [(it.thread_id, it.poll_id, it.first_post_id) for it in threads if it.poll_id]
poll = given(Poll, get_poll.sync_detailed(thread_id, client=board))
assert poll.own_vote is None
ballot = VoteInput(option_ids=[poll.options[0].option_id])
voted = given(Poll, vote.sync_detailed(poll_id, client=board, body=ballot))
assert voted.own_vote == ballot.option_ids
assert poll.total_votes is not None
assert voted.total_votes == poll.total_votes + 1

# A reply to the first post that is sent twice and created once.
key, text = str(uuid4()), PostInput(body="Marmalade, *obviously*.", in_reply_to=first)
post = given(Post, create_post.sync_detailed(thread_id, client=board, body=text, idempotency_key=key))
again = create_post.sync_detailed(thread_id, client=board, body=text, idempotency_key=key)
assert again.headers["idempotency-replayed"] == "true"
assert given(Post, again) == post
assert (post.in_reply_to, post.extra) == (first, None)

# An update, and an update with a stale version.
edit = PostUpdate(body="Marmalade, of course.", expected_version=post.version)
edited = given(Post, update_post.sync_detailed(thread_id, post.post_id, client=board, body=edit))
assert edited.version == post.version + 1
refused(update_post.sync_detailed(thread_id, post.post_id, client=board, body=edit), 409, "CONFLICT")

# The post is the thread's last post, and the search finds it.
recent = list_posts.sync_detailed(thread_id, client=board, from_=post.post_id, body=BodyFormat.SOURCE)
assert [item.body for item in given(PostPage, recent).items] == ["Marmalade, of course."]
backwards = list_posts.sync_detailed(thread_id, client=board, from_=post.post_id, sort=PostSort.NEWEST)
ids = [item.post_id for item in given(PostPage, backwards).items]
assert (ids[0], ids[-1]) == (post.post_id, first)
newer = list_posts.sync_detailed(thread_id, client=board, since=post.created_at)
assert [item.post_id for item in given(PostPage, newer).items] == [post.post_id]
found = given(SearchHitPage, search.sync_detailed(client=board, q="marmalade", sort=SearchSort.NEWEST))
assert found.items[0].post_id == post.post_id

# The feed has both changes of the post.
feed = given(FeedEventPage, list_events.sync_detailed(client=board, since=post.created_at))
changed = [event.data.post for event in feed.items if not isinstance(event.data.post, Unset)]
assert [(it.post_id, it.version) for it in changed] == [(post.post_id, 1), (post.post_id, 2)]

# Errors.
refused(get_thread.sync_detailed("unknown", client=board), 404, "not_found")
refused(create_post.sync_detailed(thread_id, client=board, body=PostInput(body=" ")), 422, "VALIDATION")

# The budget is exhausted. After the window has ended, requests succeed again.
answers = (search.sync_detailed(client=board, q="marmalade") for _ in range(100))
refusal = next(answer for answer in answers if answer.status_code != 200)
wait = int(refused(refusal, 429, "rate_limited").headers["retry-after"])
assert wait >= 1
sleep(wait)
given(SearchHitPage, search.sync_detailed(client=board, q="marmalade"))
