"""Web pages of other origins that call a tool of the Model Context Protocol."""

from playwright.sync_api import Page

from server import Server

MESSAGE = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "getMe", "arguments": {}}}

CALL = """async ([url, token, message]) => {
    const headers = {
        accept: "application/json, text/event-stream",
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "mcp-protocol-version": "2025-11-25",
    };
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(message) }).catch(() => null);
    return response && { limit: response.headers.get("x-ratelimit-limit"), ...(await response.json()).result.structuredContent };
}"""


def run(page: Page, server: Server, allowed: str) -> None:
    """The browser lets a page of the allowed origin read the result, and refuses it to a page of another origin."""
    for origin in (allowed, allowed.replace("127.0.0.1", "localhost")):
        page.goto(f"{origin}/health")
        found = page.evaluate(CALL, [f"{server.address}/mcp", server.token, MESSAGE])
        if origin == allowed:
            assert found["owner"]["username"] == "alice" and found["limit"], found
        else:
            assert found is None, found
