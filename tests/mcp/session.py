"""A session of an agent with the official Python SDK. Prints each call and its result.

MCP is the URL of the server, TOKEN a token of alice with all scopes and a budget of 60 units, READER a token with the
scope forums:read, and STAFF the id of a forum that alice cannot see.
"""

import asyncio
import os

from mcp import Client, MCPError
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

MCP, STAFF = os.environ["MCP"], os.environ["STAFF"]


def connect(token, mode="auto"):
    headers = {"authorization": f"Bearer {token}"} if token else {}
    transport = streamable_http_client(MCP, http_client=create_mcp_http_client(headers=headers))
    return Client(transport, mode=mode)


async def call(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    print(f"{name} {arguments}: {'error' if result.is_error else 'ok'} {result.content[0].text[:100]}")
    return result


def error_code(result):
    assert result.is_error
    return result.structured_content["error"]["code"]


async def read_to_end(client, thread):
    posts, after = [], {}
    while True:
        page = (await call(client, "listPosts", threadId=thread, limit=3, **after)).structured_content
        posts += page["items"]
        if page["next"] is None:
            return posts
        after = {"after": page["next"]}


async def names_of_tools(token, mode="auto"):
    async with connect(token, mode) as client:
        return {tool.name for tool in (await client.list_tools()).tools}


async def main():
    # Each version of the protocol that begins differently. A list depends on the caller.
    everything = await names_of_tools(os.environ["TOKEN"])
    assert len(everything) == 22, everything
    assert await names_of_tools(os.environ["TOKEN"], "legacy") == everything
    assert await names_of_tools(os.environ["READER"]) == {"listForums"}
    guest = await names_of_tools(None)
    assert "search" in guest and "createPost" not in guest, guest

    async with connect(os.environ["TOKEN"]) as client:
        print("version", client.protocol_version)
        found = await call(client, "search", q="bread", show="threads")
        thread = found.structured_content["items"][0]["threadId"]
        posts = await read_to_end(client, thread)
        count = (await call(client, "getThread", threadId=thread)).structured_content["replyCount"]
        assert len(posts) == count + 1, (len(posts), count)

        reply = {"threadId": thread, "body": "Thank you.", "idempotencyKey": "reply-1"}
        first, repeat = await call(client, "createPost", **reply), await call(client, "createPost", **reply)
        assert first.structured_content == repeat.structured_content
        reply["body"] = "Thanks."
        assert error_code(await call(client, "createPost", **reply)) == "CONFLICT"

        assert error_code(await call(client, "listThreads", forumId=STAFF)) == "not_found"
        assert error_code(await call(client, "listThreads", forumId="2", limit=1000)) == "bad_request"
        try:
            raise AssertionError(await client.call_tool("deleteBoard", {}))
        except MCPError as error:
            assert error.code == -32602, error

        # A cancelled call does not disturb the session.
        cancelled = asyncio.ensure_future(client.call_tool("listForums", {}))
        await asyncio.sleep(0)
        cancelled.cancel()
        await asyncio.gather(cancelled, return_exceptions=True)
        assert not (await call(client, "listForums")).is_error

        # The server refuses a request beyond the budget before it reads the message.
        try:
            for _ in range(60):
                assert not (await client.call_tool("getMe", {})).is_error
        except MCPError as error:
            print("exhausted:", repr(error)[:200])
        else:
            raise AssertionError("the budget was not used up")

    try:
        async with connect("forum_pat_unknown") as client:
            await client.list_tools()
    except BaseException as error:  # noqa: B036, the SDK raises a group
        print("unknown token:", repr(error)[:200])
    else:
        raise AssertionError("an unknown token was accepted")


asyncio.run(main())
