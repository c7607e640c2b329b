// Reads and writes the board through its API, and shows the requests. An example of a browser client: tokens, paging,
// errors, conditional requests, safe retries.

const API = "/api/v1"
const MAX_CALLS_SHOWN = 100
const MAX_WORDS = 32  // Of a search. A link can have more.
// A letter of a script that is written without spaces.
const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Hang}]/u

// Method and cost of operations. The others are a GET and cost 1 unit.
const OPERATIONS = {
  createThread: ["POST", 10],
  createPost: ["POST", 5],
  updatePost: ["PATCH", 5],
  deletePost: ["DELETE", 5],
  vote: ["POST", 5],
  subscribe: ["POST", 2],
  unsubscribe: ["DELETE", 2],
  search: ["GET", 10],
}

const $ = (selector) => document.querySelector(selector)
const responses = new Map()  // Responses with an `etag`, by token and path.
const keys = new Map()  // Idempotency keys of requests whose outcome is unknown, by request.
const former = new Map()  // Addresses of the previous pages of lists, by address.
let token = sessionStorage.getItem("token") ?? ""
let me = null  // The caller of the token.
let forums = []  // The forums that the caller can see.
let followed = null  // The targets of the caller's newest subscriptions.
let callsMade = 0

/// Sends a request, shows it, and returns the body of the response.
async function call(operation, path, body, as = token) {
  const [method, cost] = OPERATIONS[operation] ?? ["GET", 1]
  const sent = body && JSON.stringify(body)
  const request = `${method} ${path} ${sent}`
  if (method === "POST" && !keys.has(request)) keys.set(request, randomKey())
  const stored = method === "GET" ? responses.get(as + path) : undefined
  const headers = {
    ...(as && { authorization: `Bearer ${as}` }),
    ...(sent && { "content-type": "application/json" }),
    ...(method === "POST" && { "idempotency-key": keys.get(request) }),
  }
  // The script handles `etag` itself, so that the page can show status 304.
  const condition = stored && { "if-none-match": stored.etag }
  const shown = { operation, cost, method, path, headers, sent, began: performance.now() }
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
  if (!isUnknown) keys.delete(request)
  const content = status === 304 ? stored.body : await new Response(text).json().catch(() => null)
  const limit = ["remaining", "limit"].map((name) => response.headers.get(`x-ratelimit-${name}`))
  showCall({ ...shown, status, limit, content })
  if (status >= 400) {
    const message = [content?.error.message ?? `The server responded with status ${status}.`]
    if (wait) message.push(`Try again in ${wait} s.`)
    if (status === 429 && !as) message.push("A token has a budget of its own.")
    throw Object.assign(new Error(), content?.error, { status, message: message.join(" ") })
  }
  const etag = response.headers.get("etag")
  if (method === "GET" && etag) responses.set(as + path, { etag, body: content })
  return content
}

/// Returns a random idempotency key. `crypto.randomUUID` needs HTTPS.
function randomKey() {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (number) => number.toString(36)).join("-")
}

/// Creates an element. A text is never parsed as HTML.
function element(name, attributes, ...children) {
  const created = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) created.addEventListener(key.slice(2), value)
    else if (value === true) created.setAttribute(key, "")
    else if (value !== false && value != null) created.setAttribute(key, value)
  }
  created.append(...children.flat(Infinity).filter((child) => child != null && child !== false))
  return created
}

/// Shows a request above the earlier ones.
function showCall({ operation, cost, method, path, headers, sent, began, status, limit, content }) {
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
  $("#calls").prepend(element("li", {},
    element("p", {}, element("span", { class: `method ${method.toLowerCase()}` }, method), " ", element("code", {}, API + path), " ",
      element("span", { class: `status of-${Math.floor((status ?? 500) / 100)}` }, status ?? "no response")),
    element("p", { class: "facts" }, `cost ${cost}`, limit && ` · ${limit[0] ?? "?"} units remain`, ` · ${Math.round(performance.now() - began)} ms · `,
      element("a", { href: `/docs#${operation}` }, operation)),
    button("Copy as curl", copy), content && details))
  while ($("#calls").children.length > MAX_CALLS_SHOWN) $("#calls").lastChild.remove()
  $("#drawer").textContent = count(++callsMade, "API request")
  if (limit?.[0]) $("#budget").textContent = `${limit[0]} of ${limit[1]} units remain for ${headers.authorization ? "this token" : "guests of this network"}.`
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`

/// Renders JSON with marked keys and texts.
function json(content) {
  const parts = JSON.stringify(content, null, 2).split(/("(?:[^"\\]|\\.)*")/)
  return element("pre", { tabindex: "0" }, parts.map((part, number) =>
    number % 2 ? element(parts[number + 1][0] === ":" ? "b" : "i", {}, part) : part))
}

/// Returns a path with encoded values as segments. Fails for `.` and `..`, which a browser removes even if they are
/// encoded.
function encoded(parts, ...values) {
  if (values.some((value) => value === "." || value === "..")) throw new Error("This address is invalid.")
  return String.raw({ raw: parts }, ...values.map(encodeURIComponent))
}

const link = (path, ...children) => element("a", { href: `#${path}` }, ...children)
const button = (text, onclick) => element("button", { type: "button", class: "quiet", onclick }, text)
const author = (item) => item.author?.username ?? "a former member"
const time = (text) => element("time", { datetime: text }, new Date(text).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }))
const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`
const badge = (state) => state !== "visible" && element("span", { class: "badge" }, state.replace("_", " "))
const may = (scope) => me && (me.scopes?.includes(scope) ?? true)
const address = () => location.hash.slice(1) || "/"

/// Renders a page of a list, with links to the pages before and after it. `start` is the path of the first page.
function list(start, page, items) {
  const next = page.next && `${start}${start.includes("?") ? "&" : "?"}${new URLSearchParams({ after: page.next })}`
  if (next) former.set(next, address())
  const previous = former.get(address())
  const first = address() !== start && start
  return [
    items.length ? element("ol", { class: "items" }, items) : element("p", { class: "empty" }, "Nothing here that you may see."),
    (next || previous || first) && element("p", { class: "paging" },
      first && link(first, "First page"), previous && link(previous, "Previous page"), next && link(next, "Next page")),
  ]
}

/// Returns a form. It keeps its texts and the focus when its request is refused.
function form(label, fields, send) {
  const problem = element("p", { class: "error", role: "alert" })
  const sender = element("button", {}, label)
  const submit = async (event) => {
    event.preventDefault()
    if (sender.ariaDisabled) return
    sender.ariaDisabled = "true"
    problem.textContent = ""
    try {
      await send(new FormData(event.target))
    } catch ({ message }) {
      const names = new Set(Array.from(event.target.elements, (field) => field.name).filter(Boolean))
      problem.textContent = names.size > 1 ? message : message.replace(/^\w+: /, "")
    }
    sender.ariaDisabled = null
  }
  return element("form", { onsubmit: submit }, ...fields, problem, sender)
}

const textarea = (id, label) => [element("label", { for: id }, label), element("textarea", { id, name: "body", rows: "5", required: true })]
const folded = (summary, ...content) => element("details", {}, element("summary", {}, summary), ...content)

async function loadForums() {
  ({ items: forums } = await call("listForums", "/forums"))
}

/// Renders the forums below a forum.
function subforums(parent) {
  const items = forums.filter((forum) => forum.parentId === parent).map((forum) => element("li", { class: "item" },
    link(encoded`/forums/${forum.forumId}`, forum.title), element("br", {}), forum.description, " ",
    element("small", {}, `${count(forum.threadCount, "thread")}, ${count(forum.postCount, "post")}`),
    parent === null && subforums(forum.forumId)))
  return items.length > 0 && element("ol", { class: "items" }, items)
}

const find = (id) => forums.find((forum) => forum.forumId === id)

/// Renders the way from the list of forums to a forum.
function way(id) {
  const links = []
  for (let forum = find(id); forum; forum = find(forum.parentId)) links.unshift(" › ", link(encoded`/forums/${forum.forumId}`, forum.title))
  return element("nav", { class: "way", "aria-label": "Breadcrumb" }, link("/", "Forums"), links)
}

async function showForums() {
  await loadForums()
  return { title: "Forums", about: count(forums.length, "forum"), content: [subforums(null)] }
}

async function showForum(id, params) {
  const path = encoded`/forums/${id}`
  const page = await call("listThreads", `${path}/threads${queryOf(params, "after")}`)
  if (!find(id)) await loadForums()
  const forum = find(id)
  const items = page.items.map((thread) => element("li", { class: "item" },
    link(encoded`/threads/${thread.threadId}`, thread.title), " ", badge(thread.state), element("br", {}),
    element("small", {}, `${author(thread)}, ${count(thread.replyCount, "reply", "replies")}, `, time(thread.lastActivityAt),
      newest(thread) && [" · ", newest(thread)])))
  return {
    title: forum?.title ?? "Forum",
    about: count(page.items.length, "thread"),
    way: way(forum?.parentId),
    content: [
      element("p", { class: "facts" }, forum?.description, await subscription("forum", id)),
      subforums(id),
      list(path, page, items),
      forum?.canStartThread && may("threads:write") && folded("Start a thread", form("Start thread", [
        element("label", { for: "title" }, "Title"),
        element("input", { id: "title", name: "title", required: true }),
        ...textarea("body", "Text"),
      ], async (data) => {
        const thread = await call("createThread", `${path}/threads`, { title: data.get("title"), body: data.get("body") })
        open(encoded`/threads/${thread.threadId}?from=${thread.firstPostId}`, posted(thread))
      })),
      guestNote(),
    ],
  }
}

/// Returns the query with these parameters of the address.
function queryOf(params, ...names) {
  const sent = [...params].filter(([name]) => names.includes(name))
  return sent.length ? `?${new URLSearchParams(sent)}` : ""
}

const posted = ({ state }) => state === "visible" ? "Posted" : "Posted. It awaits approval."

function newest({ threadId, lastPost, replyCount }) {
  return replyCount > 0 && lastPost && link(encoded`/threads/${threadId}?from=${lastPost.postId}`, "Newest reply")
}

async function showThread(id, params) {
  const path = encoded`/threads/${id}`
  const thread = await call("getThread", path)
  const poll = thread.pollId && await call("getPoll", `${path}/poll`).catch(() => null)
  const posts = await call("listPosts", `${path}/posts${queryOf(params, "after", "from")}`)
  if (!find(thread.forumId)) await loadForums().catch(() => null)
  const mark = marker(params.get("q"))
  const from = params.get("from")
  const items = posts.items.map((post) => element("li", { class: `item ${post.postId === from ? "target" : ""}`, id: `post-${post.postId}`, tabindex: "-1" },
    element("h2", {}, `${post.number}. ${author(post)}, `, time(post.createdAt), post.editedAt && ", edited ", badge(post.state)),
    post.bodyHtml === null ? element("p", {}, "This post was deleted.") : rendered(post.bodyHtml, mark),
    actions(thread, path, post)))
  return {
    title: thread.title,
    about: count(posts.items.length, "post"),
    way: way(thread.forumId),
    focus: from && `#post-${CSS.escape(from)}`,
    content: [
      element("p", { class: "facts" }, badge(thread.state), thread.locked && "Locked. ",
        `${count(thread.replyCount, "reply", "replies")} `, newest(thread), await subscription("thread", id)),
      poll && showPoll(poll),
      list(path, posts, items),
      thread.canReply && may("posts:write") && form("Reply", textarea("body", "Reply"), async (data) => {
        const post = await call("createPost", `${path}/posts`, { body: data.get("body") })
        open(`${path}?from=${post.postId}`, posted(post))
      }),
      guestNote(),
    ],
  }
}

function guestNote() {
  return !me && element("p", { class: "facts" }, "To write, vote and subscribe, enter an API token at the top of this page. ",
    element("a", { href: "/docs#about-authentication" }, "How to get a token"))
}

/// Renders the forms that change a post.
function actions(thread, threadPath, { postId, body, version, canEdit, canDelete }) {
  if (!may("posts:write") || !(canEdit || canDelete)) return null
  const path = `${threadPath}/posts/${postId}`
  const text = textarea(`edit-${postId}`, "Text of the post")
  text[1].value = body
  return element("div", { class: "actions" },
    canEdit && folded("Edit", form("Save", text, async (data) => {
      await call("updatePost", path, { body: data.get("body"), expectedVersion: version })
      await show({ message: "Saved", focus: `#post-${postId}` })
    })),
    canDelete && folded("Delete", form("Delete this post", [], async () => {
      await call("deletePost", path)
      open(postId === thread.firstPostId ? encoded`/forums/${thread.forumId}` : threadPath, "Deleted")
    })))
}

/// Renders a button that subscribes to a target, or ends the subscription.
async function subscription(target, targetId) {
  if (!may("subscriptions:write") || !me.scopes?.includes("subscriptions:read")) return null
  const key = `${target} ${targetId}`
  followed ??= await call("listSubscriptions", "/subscriptions?limit=100")
    .then(({ items }) => new Set(items.map((one) => `${one.target} ${one.targetId}`)), () => null)
  if (!followed) return null
  const isFollowed = followed.has(key)
  const label = isFollowed ? "Unsubscribe" : "Subscribe"
  const change = form(label, [], async () => {
    if (isFollowed) await call("unsubscribe", encoded`/subscriptions/${target}/${targetId}`)
    else await call("subscribe", "/subscriptions", { target, targetId })
    followed[isFollowed ? "delete" : "add"](key)
    await show({ message: `${label}d`, focus: ".subscription button" })
  })
  change.className = "subscription"
  return change
}

/// The API renders posts without scripts, styles and HTML of members. The content security policy forbids scripts as well.
function rendered(html, mark) {
  const template = document.createElement("template")
  template.innerHTML = html
  const texts = document.createTreeWalker(template.content, NodeFilter.SHOW_TEXT)
  const found = []
  while (texts.nextNode()) found.push(texts.currentNode)
  for (const text of found) text.replaceWith(...mark(text.data))
  return element("div", { class: "body" }, template.content)
}

function showPoll(poll) {
  const mayVote = may("polls:write") && !poll.closed && (!poll.ownVote || poll.canChangeVote)
  const type = poll.maxChoices === 1 ? "radio" : "checkbox"
  const options = poll.options.map((option) => {
    const isOwn = poll.ownVote?.includes(option.optionId) ?? false
    const share = element("span", { class: "share" })
    share.style.width = `${100 * option.votes / (poll.totalVotes || 1)}%`
    const isCounted = option.votes !== null
    const text = [` ${option.text} `, isCounted && element("small", {}, count(option.votes, "vote")), " ", isOwn && badge("your_vote")]
    return element("div", { class: "option" },
      mayVote ? element("label", {}, element("input", { type, name: "option", value: option.optionId, checked: isOwn }), text) : text,
      isCounted && share)
  })
  const choice = element("fieldset", { id: "poll", tabindex: "-1" }, element("legend", {}, poll.question), ...options,
    element("small", {}, poll.closed && "Closed. ", poll.totalVotes !== null && `${count(poll.totalVotes, "member")} voted.`))
  if (!mayVote) return choice
  return form(poll.ownVote ? "Change vote" : "Vote", [choice], async (data) => {
    await call("vote", encoded`/polls/${poll.pollId}/votes`, { optionIds: data.getAll("option") })
    await show({ message: "Voted", focus: "#poll" })
  })
}

async function showSearch(params) {
  const q = params.get("q") ?? ""
  $("#q").value = q
  const start = `/search?${new URLSearchParams({ q })}`
  const page = await call("search", `/search${queryOf(params, "after", "q")}`)
  const mark = marker(q)
  const items = page.items.map((hit) => element("li", { class: "item" },
    link(`${encoded`/threads/${hit.threadId}`}?${new URLSearchParams({ from: hit.postId, q })}`, mark(hit.title)), element("br", {}),
    mark(hit.excerpt), " ", element("small", {}, `${author(hit)}, `, time(hit.createdAt))))
  return { title: `Results for “${q}”`, about: count(items.length, "result"), way: way(null), content: [list(start, page, items)] }
}

const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()

/// Returns a function that splits a text at the words of a search and marks them. Case and accents do not matter.
function marker(q) {
  const words = fold(q ?? "").replace(/(^|\s)-("[^"]*"|\S+)/g, " ").match(/[\p{L}\p{N}]+/gu)?.slice(0, MAX_WORDS)
  if (!words) return (text) => [text]
  const patterns = words.map((word) => UNSPACED.test(word) ? word : `(?<![\\p{L}\\p{N}])${word}(?![\\p{L}\\p{N}])`)
  const pattern = new RegExp(patterns.join("|"), "gu")
  return (text) => {
    const starts = []  // The position in the text of each unit of the folded text.
    let folded = "", position = 0
    for (const character of text) {
      const units = fold(character)
      for (let unit = 0; unit < units.length; unit++) starts.push(position)
      folded += units
      position += character.length
    }
    starts.push(text.length)
    const parts = []
    let end = 0
    for (const { index, 0: { length } } of folded.matchAll(pattern)) {
      const [from, to] = [starts[index], starts[index + length]]
      parts.push(text.slice(end, from), element("mark", {}, text.slice(from, to)))
      end = to
    }
    return [...parts, text.slice(end)]
  }
}

let latest = 0
let news = null  // The message of the view that opens next.

/// Opens the view of an address with a message.
function open(path, message) {
  news = message
  if (address() === path) show({ isNew: true })
  else location.hash = path
}

/// Shows the view of the address, moves the focus, and announces the message or the view. Ignores a response that arrives
/// after the next view was opened. Without a connection, the former view stays.
async function show({ message, focus, isNew } = {}) {
  const begun = ++latest
  message ??= news
  news = null
  $("#view").setAttribute("aria-busy", "true")
  let shown
  try {
    if (token && !me) await use(token)
    const [, path, query] = /^([^?]*)(.*)$/.exec(address())
    const [, kind, segment] = path.split("/")
    const params = new URLSearchParams(query)
    const id = () => decodeURIComponent(segment)
    const views = {
      __proto__: null,
      forums: () => showForum(id(), params),
      threads: () => showThread(id(), params),
      search: () => showSearch(params),
    }
    shown = await (views[kind] ?? showForums)()
  } catch (error) {
    if (begun !== latest) return
    if (token && (error.status === 401 || error.code === "owner_unavailable")) return forget("The token is no longer valid.")
    shown = failed(error)
  }
  if (begun !== latest) return
  $("#view").removeAttribute("aria-busy")
  if (shown.content) {
    document.title = shown.title
    $("#view").replaceChildren(...element("div", {}, shown.way, element("h1", { tabindex: "-1" }, shown.title), shown.content).childNodes)
  }
  $("#status").className = message ? "" : "visually-hidden"
  $("#status").textContent = message ?? (shown.about && `${shown.title}, ${shown.about}`) ?? ""
  $(focus || shown.focus || (isNew ? "h1" : "#none"))?.focus()
}

function failed(error) {
  const again = error.code === "offline" && button("Try again", () => show({ isNew: true }))
  const alert = element("p", { class: "alert", role: "alert" }, error.message, " ", again)
  $("#view > .alert")?.remove()
  if (!again || !$("#view").hasChildNodes()) {
    return { title: "This cannot be shown", way: way(null), content: [alert, error.requestId && element("small", {}, `Request ${error.requestId}`)] }
  }
  $("#view").prepend(alert)
  return {}
}

/// Checks a token with `GET /me` and keeps it in this tab if it is valid. A token without the scope of this request is valid.
async function use(candidate) {
  const caller = await call("getMe", "/me", undefined, candidate).catch((error) => {
    if (error.code === "missing_scope") return { owner: { username: "A token" } }
    throw error
  })
  keep(candidate, caller)
}

/// Sets the token and its caller.
function keep(value, caller) {
  token = value
  me = caller
  forums = []
  followed = null
  if (value) sessionStorage.setItem("token", value)
  else sessionStorage.removeItem("token")
  const scopes = caller?.scopes ? ` · ${count(caller.scopes.length, "scope")} · ` : " · "
  $("#who").replaceChildren(...caller ? [element("strong", {}, caller.owner.username), scopes, button("Forget", () => forget())] : [])
  $("#who").hidden = !caller
  $("#access").hidden = !!caller
  refuse("")
  if (caller) $("#token").value = ""
}

/// Marks the field of the token with an error, or removes the mark.
function refuse(message) {
  $("#token-error").textContent = message
  $("#token").ariaInvalid = message ? "true" : null
}

async function forget(message = "") {
  keep("", null)
  refuse(message)
  $("#token").focus()
  await show({ message: message || "The token is forgotten." })
}

$("#search").addEventListener("submit", (event) => {
  event.preventDefault()
  open(`/search?${new URLSearchParams({ q: $("#q").value })}`)
})
$("#access").addEventListener("submit", async (event) => {
  event.preventDefault()
  try {
    await use($("#token").value.trim())
    await show({ message: $("#who").textContent.replace(" · Forget", ""), focus: "#who button" })
  } catch (error) {
    refuse(error.status === 401 ? "This token is not valid." : error.message)
    $("#token").focus()
  }
})
$("#token").addEventListener("input", () => refuse(""))
$(".skip").addEventListener("click", (event) => {
  event.preventDefault()
  $("#main").focus()
})
$("#drawer").addEventListener("click", () => {
  $("#drawer").ariaExpanded = $("#api").classList.toggle("open")
})
for (const start of document.querySelectorAll("header a[href='/']")) start.href = "#/"
window.addEventListener("hashchange", () => show({ isNew: true }))

$("#tools").hidden = $("#api").hidden = false
show()
