// Reads the board through its API. An example of a browser client: paging, errors, conditional requests and safe retries.

const API = "/api/v1"
const responses = new Map()  // Responses with an `etag`, by path.
const keys = new Map()  // Idempotency keys of requests whose outcome is unknown, by path and body.
const view = document.querySelector("main")
const tokenField = document.querySelector("#token")
let calls = document.querySelector("#calls")

tokenField.value = sessionStorage.getItem("token") ?? ""

class ApiError extends Error {
    constructor({ code, message, requestId }) {
        super(message)
        Object.assign(this, { code, requestId })
    }
}

/// Sends a request, shows it below the view, and returns the body of the response.
async function call(operation, cost, path, body) {
    const method = body ? "POST" : "GET"
    const request = `${path} ${JSON.stringify(body)}`
    if (body && !keys.has(request)) keys.set(request, randomKey())
    const shown = calls
    const stored = method === "GET" ? responses.get(tokenField.value + path) : undefined
    const headers = {
        ...(tokenField.value && { authorization: `Bearer ${tokenField.value}` }),
        ...(body && { "content-type": "application/json", "idempotency-key": keys.get(request) }),
        ...(stored && { "if-none-match": stored.etag }),
    }
    // The script handles `etag` itself, so that the page can show status 304.
    const response = await fetch(API + path, { method, headers, body: body && JSON.stringify(body), cache: "no-store" })
    const wait = response.headers.get("retry-after")
    // The request may still take effect. With the same key, a retry does not take effect again.
    const isUnknown = response.status >= 500 || response.status === 409 && wait
    if (!isUnknown) keys.delete(request)
    const remaining = response.headers.get("x-ratelimit-remaining")
    shown.append(element("li", {},
        element("code", {}, `${method} ${API}${path}`), " ",
        `${response.status}, cost ${cost}, ${remaining ?? "?"} units remain. `,
        element("a", { href: `/docs#${operation}` }, operation)))
    if (response.status === 304) return stored.body
    const content = response.status === 204 ? null : await response.json()
    if (!response.ok) {
        if (wait) content.error.message += ` Try again in ${wait} s.`
        throw new ApiError(content.error)
    }
    const etag = response.headers.get("etag")
    if (method === "GET" && etag) responses.set(tokenField.value + path, { etag, body: content })
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
        else if (value !== false && value !== undefined) created.setAttribute(key, value)
    }
    created.append(...children.flat().filter((child) => child != null))
    return created
}

/// Returns a path with encoded values as segments. Fails for `.` and `..`, which a browser removes even if they are
/// encoded.
function encoded(parts, ...values) {
    if (values.some((value) => value === "." || value === "..")) throw new Error("This address is invalid.")
    return String.raw({ raw: parts }, ...values.map(encodeURIComponent))
}

const link = (path, ...children) => element("a", { href: `#${path}` }, ...children)
const author = (item) => item.author?.username ?? "a former member"
const time = (text) => element("time", { datetime: text }, new Date(text).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }))
const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`

/// Shows a list with a link to its next page.
function list(path, page, item) {
    const items = page.items.map((one) => element("li", { class: "item" }, ...item(one)))
    const separator = path.includes("?") ? "&" : "?"
    return [
        items.length ? element("ol", { class: "items" }, items) : element("p", { class: "empty" }, "Nothing here that you may see."),
        page.next && element("p", {}, link(`${path}${separator}after=${encodeURIComponent(page.next)}`, "Next page")),
    ]
}

/// Returns a form. An error of its request is shown beside the button.
function form(label, fields, send) {
    const status = element("p", { role: "status" })
    const button = element("button", {}, label)
    const submit = async (event) => {
        event.preventDefault()
        button.disabled = true
        try {
            await send(new FormData(event.target))
            await show()
        } catch (error) {
            status.textContent = error.message
        }
        button.disabled = false
    }
    return element("form", { onsubmit: submit }, ...fields, button, status)
}

async function forums() {
    const { items } = await call("listForums", 1, "/forums")
    const below = (parent) => items.filter((forum) => forum.parentId === parent)
        .map((forum) => element("li", { class: "item" },
            link(encoded`/forums/${forum.forumId}`, forum.title), element("br", {}), forum.description, " ",
            element("small", {}, `${count(forum.threadCount, "thread")}, ${count(forum.postCount, "post")}`),
            below(forum.forumId).length ? element("ol", { class: "items" }, below(forum.forumId)) : null))
    return ["Forums", element("ol", { class: "items" }, below(null))]
}

async function forum(id, query) {
    const path = encoded`/forums/${id}`
    const { items } = await call("listForums", 1, "/forums")
    const threads = await call("listThreads", 1, `${path}/threads${query}`)
    return [items.find((one) => one.forumId === id)?.title ?? "Forum", list(path, threads, (thread) => [
        link(encoded`/threads/${thread.threadId}`, thread.title), element("br", {}),
        element("small", {}, `${author(thread)}, ${count(thread.replyCount, "reply").replace("replys", "replies")}, `, time(thread.lastActivityAt)),
    ])]
}

async function thread(id, query) {
    const path = encoded`/threads/${id}`
    const thread = await call("getThread", 1, path)
    const poll = thread.pollId && await call("getPoll", 1, `${path}/poll`).catch(() => null)
    const posts = await call("listPosts", 1, `${path}/posts${query}`)
    return [thread.title,
        element("p", {}, link(encoded`/forums/${thread.forumId}`, "Forum")),
        poll && showPoll(poll),
        list(path, posts, (post) => [
            element("small", {}, `${post.number}. ${author(post)}, `, time(post.createdAt)),
            post.bodyHtml === null ? element("p", {}, "This post was deleted.") : rendered(post.bodyHtml),
        ]),
        thread.canReply && form("Reply", [
            element("label", { for: "body" }, "Reply"),
            element("textarea", { id: "body", name: "body", rows: "5", required: true }),
        ], (data) => call("createPost", 5, `${path}/posts`, { body: data.get("body") })),
    ]
}

/// The API renders posts without scripts, styles and HTML of members. The content security policy forbids scripts as well.
function rendered(html) {
    const template = document.createElement("template")
    template.innerHTML = html
    return element("div", { class: "body" }, template.content)
}

function showPoll(poll) {
    const type = poll.maxChoices === 1 ? "radio" : "checkbox"
    const options = poll.options.map((option) => element("p", {}, element("label", {},
        element("input", { type, name: "option", value: option.optionId, checked: poll.ownVote?.includes(option.optionId) }),
        ` ${option.text} `, element("small", {}, option.votes === null ? "" : count(option.votes, "vote")))))
    const choice = element("fieldset", {}, element("legend", {}, poll.question), ...options)
    if (poll.closed || !tokenField.value) return choice
    return form("Vote", [choice], (data) => call("vote", 5, encoded`/polls/${poll.pollId}/votes`, { optionIds: data.getAll("option") }))
}

async function search(query) {
    const q = new URLSearchParams(query).get("q")
    document.querySelector("#q").value = q
    const results = await call("search", 10, `/search${query}`)
    return [`Results for “${q}”`, list(`/search?q=${encodeURIComponent(q)}`, results, (result) => [
        link(encoded`/threads/${result.threadId}`, result.title), element("br", {}), result.excerpt, " ",
        element("small", {}, `${author(result)}, `, time(result.createdAt)),
    ])]
}

let latest = 0

/// Shows the view of the address. Ignores a response that arrives after the next view was opened.
async function show() {
    const begun = ++latest
    const [, path, query] = /^#?([^?]*)(.*)$/.exec(location.hash)
    const [, kind, segment] = path.split("/")
    const id = () => decodeURIComponent(segment)
    const views = { forums: () => forum(id(), query), threads: () => thread(id(), query), search: () => search(query) }
    const former = calls
    calls = element("ol", { id: "calls" })
    former.replaceWith(calls)
    view.setAttribute("aria-busy", "true")
    let title, content
    try {
        [title, ...content] = await (views[kind] ?? forums)()
    } catch (error) {
        title = "This cannot be shown"
        content = [element("p", { class: "alert", role: "alert" }, error.message), error.requestId && element("small", {}, `Request ${error.requestId}`)]
    }
    if (begun !== latest) return
    document.title = title
    view.replaceChildren(element("h1", { tabindex: "-1" }, title), ...content.flat().filter((child) => child != null && child !== false))
    view.removeAttribute("aria-busy")
}

document.querySelector("#search").addEventListener("submit", (event) => {
    event.preventDefault()
    location.hash = `/search?q=${encodeURIComponent(new FormData(event.target).get("q"))}`
})
document.querySelector("#access").addEventListener("submit", (event) => {
    event.preventDefault()
    sessionStorage.setItem("token", tokenField.value)
    show()
})
window.addEventListener("hashchange", async () => {
    await show()
    view.querySelector("h1").focus()
})
show()
