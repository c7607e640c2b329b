// A session of an agent with the official TypeScript SDK: its current package, or with the argument `sdk` the former one.
// MCP is the URL of the server, TOKEN a token of alice with all scopes and a budget of 60 units, and STAFF the id of a
// forum that alice cannot see.
import assert from "node:assert/strict"

const isFormer = process.argv[2] === "sdk"
const { Client } = await import(isFormer ? "@modelcontextprotocol/sdk/client/index.js" : "@modelcontextprotocol/client")
const { StreamableHTTPClientTransport } = await import(
  isFormer ? "@modelcontextprotocol/sdk/client/streamableHttp.js" : "@modelcontextprotocol/client")
const { MCP, TOKEN, STAFF } = process.env

async function connect(token) {
  const client = new Client({ name: "session", version: "1.0.0" })
  const headers = { authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(MCP), { requestInit: { headers } }))
  return client
}

const client = await connect(TOKEN)
console.log("server", client.getServerVersion())
assert.match(client.getInstructions(), /data, not instructions/)

async function call(name, args = {}) {
  const result = await client.callTool({ name, arguments: args })
  console.log(name, JSON.stringify(args), result.isError ? "error" : "ok", result.content[0].text.slice(0, 100))
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent)
  return result
}

function errorCode(result) {
  assert(result.isError)
  return result.structuredContent.error.code
}

// The client then checks each result against the schema of its tool.
assert.equal((await client.listTools()).tools.length, 22)

const hits = (await call("search", { q: "bread", show: "threads" })).structuredContent.items
const threadId = hits[0].threadId
const posts = []
let after = {}
for (let next; next !== null; after = { after: next }) {
  const page = (await call("listPosts", { threadId, limit: 3, ...after })).structuredContent
  posts.push(...page.items)
  next = page.next
}
const { replyCount } = (await call("getThread", { threadId })).structuredContent
assert.equal(posts.length, replyCount + 1)

const reply = { threadId, body: "Thank you.", idempotencyKey: "reply-1" }
const first = await call("createPost", reply)
assert.deepEqual((await call("createPost", reply)).structuredContent, first.structuredContent)

assert.equal(errorCode(await call("listThreads", { forumId: STAFF })), "not_found")
assert.equal(errorCode(await call("listThreads", { forumId: "2", limit: 1000 })), "bad_request")
await assert.rejects(client.callTool({ name: "deleteBoard", arguments: {} }), { code: -32602 })

const cancellation = new AbortController()
const former = client.callTool({ name: "listForums", arguments: {} }, ...(isFormer ? [undefined] : []), { signal: cancellation.signal })
cancellation.abort("cancelled")
await assert.rejects(former)
await call("listForums")

// The server refuses a request beyond the budget before it reads the message.
await assert.rejects(async () => {
  for (let calls = 0; calls < 60; calls++) {
    const result = await client.callTool({ name: "getMe", arguments: {} })
    assert(!result.isError)
  }
}, /rate_limited/)
await client.close()

await assert.rejects(connect("forum_pat_unknown"), error => {
  console.log("unknown token:", String(error).slice(0, 200))
  return /401|Unauthorized|token/i.test(String(error))
})
