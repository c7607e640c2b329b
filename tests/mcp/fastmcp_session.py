"""Sessions of an agent with fastmcp: directly, through bridges from standard input to HTTP, and with the tools that fastmcp
creates from the OpenAPI document. MCP and API are URLs of the server, TOKEN is a token of alice with all scopes.
"""

import asyncio
import os
from pathlib import Path

import httpx2
from fastmcp import Client, FastMCP
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from fastmcp.exceptions import ToolError

MCP, API = os.environ["MCP"], os.environ["API"]
BEARER = f"Bearer {os.environ['TOKEN']}"


async def session(name, source):
    async with Client(source) as client:
        print(name)
        assert len(await client.list_tools()) == 22

        async def call(tool, **arguments):
            return (await client.call_tool(tool, arguments)).structured_content

        assert (await call("getMe"))["owner"]["username"] == "alice"
        thread = (await call("search", q="bread", show="threads"))["items"][0]["threadId"]
        reply = (await call("createPost", threadId=thread, body=f"Sent with {name}."))["postId"]
        posts, after = [], {}
        while after is not None:
            page = await call("listPosts", threadId=thread, limit=5, **after)
            posts += [post["postId"] for post in page["items"]]
            after = page["next"] and {"after": page["next"]}
        assert reply in posts and len(set(posts)) == len(posts)
        try:
            raise AssertionError(await call("getThread", threadId="unknown"))
        except ToolError as error:
            assert "not_found" in str(error), error


def bridge(program, *arguments):
    return StdioTransport(program, [*arguments], log_file=Path("bridge.log"))


async def main():
    await session("fastmcp", StreamableHttpTransport(MCP, headers={"authorization": BEARER}))
    await session("mcp-remote", bridge("mcp-remote", MCP, "--allow-http", "--header", f"Authorization:{BEARER}"))
    proxy = bridge("proxy/bin/mcp-proxy", "--transport", "streamablehttp", "--headers", "Authorization", BEARER, MCP)
    await session("mcp-proxy", proxy)
    async with httpx2.AsyncClient(base_url=API, headers={"authorization": BEARER}) as client:
        document = (await client.get("/openapi.json")).json()
        await session("the OpenAPI document", FastMCP.from_openapi(document, client))


asyncio.run(main())
