// Reads and writes the board through its API, and shows the requests. An example of a browser client: tokens, paging,
// errors, conditional requests, safe retries. The server joins the files of this folder.

const API = "/api/v1"
const MAX_CALLS_SHOWN = 100

// Method and cost of operations. The others are a GET and cost 1 unit.
const OPERATIONS = {
  createThread: ["POST", 10],
  createPost: ["POST", 5],
  updatePost: ["PATCH", 5],
  deletePost: ["DELETE", 5],
  rateMember: ["POST", 5],
  sendMessage: ["POST", 10],
  vote: ["POST", 5],
  updatePoll: ["PATCH", 5],
  subscribe: ["POST", 2],
  unsubscribe: ["DELETE", 2],
  search: ["GET", 10],
}

const $ = (selector) => document.querySelector(selector)
const responses = new Map()  // Responses with an `etag`, by token and path.
let callsMade = 0
let removals = 0  // Number of times that the member removed the token.

/// A map from texts to JSON values that a reload of this tab keeps.
class StoredMap {
  constructor(name) {
    this.name = name
    this.values = new Map(JSON.parse(sessionStorage.getItem(name) ?? "[]"))
  }

  get(key) {
    return this.values.get(key)
  }

  set(key, value) {
    if (value == null) this.values.delete(key)
    else this.values.set(key, value)
    try {
      if (this.values.size) sessionStorage.setItem(this.name, JSON.stringify([...this.values]))
      else sessionStorage.removeItem(this.name)
    } catch {
      // The storage is full. The values remain until a reload.
    }
  }
}

const keys = new StoredMap("keys")  // Idempotency keys of requests whose outcome is unknown, by request.

/// Sends a request, shows it, and returns the body of the response.
async function call(operation, path, body, as = token) {
  const [method, cost] = OPERATIONS[operation] ?? ["GET", 1]
  const sent = body && JSON.stringify(body)
  const request = `${method} ${path} ${sent}`
  if (method === "POST" && !keys.get(request)) keys.set(request, randomKey())
  const known = method === "GET" ? responses.get(as + path) : undefined
  const headers = {
    ...(as && { authorization: `Bearer ${as}` }),
    ...(sent && { "content-type": "application/json" }),
    ...(method === "POST" && { "idempotency-key": keys.get(request) }),
  }
  // The script handles `etag` itself, so that the page can show status 304.
  const condition = known && { "if-none-match": known.etag }
  const shown = { operation, cost, method, path, headers, sent, began: performance.now(), removal: removals }
  let response, text
  try {
    response = await fetch(API + path, { method, headers: { ...headers, ...condition }, body: sent, cache: "no-store" })
    text = await response.text()
  } catch {
    showCall(shown)
    throw Object.assign(new Error("The server cannot be reached. Check the connection, then try again."), { code: "offline" })
  }
  const { status } = response
  const wait = response.headers.get("retry-after")
  // The request may still take effect. With the same key, a retry does not take effect again.
  const isUnknown = status >= 500 || status === 409 && wait
  if (method === "POST" && !isUnknown) keys.set(request, null)
  const content = status === 304 ? known.body : await new Response(text).json().catch(() => null)
  const [remaining, limit] = ["remaining", "limit"].map((name) => response.headers.get(`x-ratelimit-${name}`))
  const budget = remaining && { remaining: grouped(Number(remaining)), limit: grouped(Number(limit)) }
  showCall({ ...shown, status, budget, content })
  if (status >= 400) {
    const message = [content?.error.message ?? `The server responded with status ${status}.`]
    if (wait) message.push(`Try again in ${wait} s.`)
    if (status === 429 && !as) message.push("A token has a budget of its own.")
    // A path such as `poll.options[1]`.
    const field = response.headers.get("x-error-field")
    throw Object.assign(new Error(), content?.error, { status, field, message: message.join(" ") })
  }
  const etag = response.headers.get("etag")
  if (method === "GET" && etag && shown.removal === removals) responses.set(as + path, { etag, body: content })
  return content
}

/// Returns a random idempotency key. `crypto.randomUUID` needs HTTPS.
function randomKey() {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (number) => number.toString(36)).join("-")
}

/// Returns a path with encoded values as segments. Fails for `.` and `..`, which a browser removes even if they are
/// encoded.
function encoded(parts, ...values) {
  if (values.some((value) => value === "." || value === "..")) throw new Error("This address is invalid.")
  return String.raw({ raw: parts }, ...values.map(encodeURIComponent))
}

/// Returns a query with the values that are not null, or an empty text.
function queryOf(values) {
  const given = Object.entries(values).filter(([, value]) => value != null)
  return given.length ? `?${new URLSearchParams(given)}` : ""
}

/// Removes the requests, which contain the token, the responses to them, and the text about the remaining units.
function clearCalls() {
  removals++
  responses.clear()
  callsMade = 0
  $("#calls").replaceChildren()
  $("#budget").replaceChildren()
  $("#drawer").textContent = "API requests"
}

/// Shows a request above the earlier ones, unless the token was removed while it ran.
function showCall({ operation, cost, method, path, headers, sent, began, removal, status, budget, content }) {
  if (removal !== removals) return
  const details = folded(status === 304 ? "JSON of the stored response" : "JSON of the response")
  details.addEventListener("toggle", () => details.append(json(content)), { once: true })
  const code = [`curl ${method === "GET" ? "" : `-X ${method} `}${quoted(location.origin + API + path)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(sent ? [`-d ${quoted(sent)}`] : [])].join(" \\\n  ")
  const copy = async ({ target }) => {
    try {
      await navigator.clipboard.writeText(code)
      target.textContent = "Copied"
      setTimeout(() => (target.textContent = "Copy as curl"), 2000)
    } catch {
      // Pages without TLS have no clipboard.
      target.replaceWith(element("pre", { tabindex: "0" }, code))
    }
  }
  const copier = button("Copy as curl", copy)
  copier.ariaLive = "polite"
  $("#calls").prepend(element("li", {},
    element("p", {}, element("span", { class: `method ${method.toLowerCase()}` }, method), " ", element("code", {}, API + path), " ",
      element("span", { class: `status of-${Math.floor((status ?? 500) / 100)}` }, status ?? "no response")),
    element("p", { class: "facts" }, `cost ${cost}`, budget && ` · ${budget.remaining} units remain`, ` · ${Math.round(performance.now() - began)} ms · `,
      element("a", { href: `/docs#${operation}` }, operation)),
    copier, content && details))
  while ($("#calls").children.length > MAX_CALLS_SHOWN) $("#calls").lastChild.remove()
  $("#drawer").textContent = count(++callsMade, "API request")
  if (budget) {
    $("#budget").replaceChildren(`${budget.remaining} of ${budget.limit} units remain for ${headers.authorization ? "this token" : "guests of this network"}. `,
      element("a", { href: "/docs#about-rate-limits" }, "What is a unit?"))
  }
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`

/// Renders JSON with marked keys and texts.
function json(content) {
  const parts = JSON.stringify(content, null, 2).split(/("(?:[^"\\]|\\.)*")/)
  return element("pre", { tabindex: "0" }, parts.map((part, number) =>
    number % 2 ? element(parts[number + 1][0] === ":" ? "b" : "i", {}, part) : part))
}
