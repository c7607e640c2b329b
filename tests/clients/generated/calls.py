"""Typical calls through the Python client of openapi-generator, and with the models of datamodel-code-generator."""

from collections.abc import Callable
from os import environ

import httpx
import models
import openapi_client
from openapi_client.exceptions import NotFoundException

API, TOKEN = environ["API"], environ["TOKEN"]
LATER = "of_a_later_version"
Posts = Callable[[str | None], tuple[list[str], str | None]]


def read_to_end(posts: Posts, reply: str) -> None:
    found, after = posts(None)
    assert after is not None
    while after is not None:
        items, after = posts(after)
        found += items
    assert len(set(found)) == len(found) > 3 and reply in found


def with_client() -> None:
    configuration = openapi_client.Configuration(host=API, access_token=TOKEN)
    # The default of the generator is no format of RFC 3339: its offset has no colon.
    configuration.datetime_format = "%Y-%m-%dT%H:%M:%S.%fZ"
    with openapi_client.ApiClient(configuration) as client:
        posts_api = openapi_client.PostsApi(client)
        assert openapi_client.MeApi(client).get_me().owner.username == "alice"
        reply = posts_api.create_post("16", openapi_client.PostInput(body="Sent with a client."))
        assert reply.state == LATER
        events = openapi_client.EventsApi(client).list_events(since=reply.created_at).items
        assert all(event.topic == LATER for event in events)
        assert reply.post_id in [event.data.post.post_id for event in events if event.data.post]

        def posts(after: str | None) -> tuple[list[str], str | None]:
            page = posts_api.list_posts("16", after=after, limit=3)
            return [post.post_id for post in page.items], page.next

        read_to_end(posts, reply.post_id)
        hits = openapi_client.SearchApi(client).search(q="client").items
        assert reply.post_id in [hit.post_id for hit in hits]
        try:
            raise AssertionError(openapi_client.ThreadsApi(client).get_thread("unknown"))
        except NotFoundException as error:
            assert error.data and error.data.error.code == "not_found"


def with_models() -> None:
    with httpx.Client(base_url=API, headers={"authorization": f"Bearer {TOKEN}"}) as client:
        assert models.Me.model_validate_json(client.get("/me").content).owner.username == "alice"

        # The model writes null for the fields that are not set.
        body = models.PostInput(body="Sent with models.").model_dump_json(by_alias=True)
        headers = {"content-type": "application/json"}
        created = client.post("/threads/16/posts", content=body, headers=headers)
        reply = models.Post.model_validate_json(created.content)
        assert reply.state == LATER
        since = {"since": created.json()["createdAt"]}
        events = models.FeedEventPage.model_validate_json(client.get("/x/events", params=since).content).items
        assert all(event.topic == LATER for event in events)
        assert reply.postId in [event.data.post.postId for event in events if event.data.post]

        def posts(after: str | None) -> tuple[list[str], str | None]:
            parameters = {"limit": "3"} if after is None else {"limit": "3", "after": after}
            answer = client.get("/threads/16/posts", params=parameters)
            page = models.PostPage.model_validate_json(answer.content)
            return [post.postId for post in page.items], page.next

        read_to_end(posts, reply.postId)
        hits = models.SearchHitPage.model_validate_json(client.get("/search", params={"q": "models"}).content)
        assert reply.postId in [hit.postId for hit in hits.items]
        error = models.ErrorBody.model_validate_json(client.get("/threads/unknown").content)
        assert error.error.code == "not_found"


with_client()
with_models()
