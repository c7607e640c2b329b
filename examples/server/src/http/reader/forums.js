
// The list of forums, the threads of a forum, and subscriptions.

let forums = []  // The forums that the caller can see.
let followed = null  // The targets of the caller's newest subscriptions.

/// Loads the forums. Ignores a response that arrives after the token has changed.
async function loadForums() {
  const used = token
  const { items } = await call("listForums", "/forums")
  if (used === token) forums = items
}

/// Renders the forums below a forum.
function subforums(parent) {
  const items = forums.filter((forum) => forum.parentId === parent).map((forum) => element("li", { class: "item" },
    link(encoded`/forums/${forum.forumId}`, written(forum.title)), element("br", {}), written(forum.description), " ",
    element("small", {}, `${count(forum.threadCount, "thread")}, ${count(forum.postCount, "post")}`),
    parent === null && subforums(forum.forumId)))
  return items.length > 0 && element("ol", { class: "items" }, items)
}

const find = (id) => forums.find((forum) => forum.forumId === id)

/// Renders the way from the list of forums to a forum.
function way(id, ...ends) {
  const links = []
  for (let forum = find(id); forum; forum = find(forum.parentId)) links.unshift(" › ", link(encoded`/forums/${forum.forumId}`, written(forum.title)))
  return element("nav", { class: "way", "aria-label": "Breadcrumb" }, link("/", "Forums"), links, ends)
}

async function showForums() {
  await Promise.all([loadForums(), identify()])
  const empty = element("p", { class: "empty" }, "No forums yet. Add one with ", element("code", {}, "forum-server forum add General"),
    ", and a token to write with ", element("code", {}, "forum-server token issue"), ".")
  return { title: "Forums", about: count(forums.length, "forum"), content: [subforums(null) || empty] }
}

async function showForum(id, params) {
  const path = encoded`/forums/${id}`
  const [page] = await Promise.all([
    call("listThreads", `${path}/threads${queryOf({ after: params.get("after") })}`),
    find(id) || loadForums().catch(() => null),
    identify(),
  ])
  const forum = find(id)
  const items = page.items.map((thread) => element("li", { class: "item" },
    link(encoded`/threads/${thread.threadId}`, written(thread.title)), " ", stateBadge(thread.state), thread.pinned && badge("pinned"),
    thread.locked && badge("locked"), thread.pollId && badge("poll"), element("br", {}),
    element("small", {}, "started by ", thread.author ? written(thread.author.username) : "a former member",
      `, ${count(thread.replyCount, "reply", "replies")}, last activity `,
      time(thread.lastActivityAt), newest(thread) && [" · ", newest(thread)])))
  return {
    title: forum?.title ?? "Forum",
    about: count(page.items.length, "thread"),
    way: way(forum?.parentId),
    content: [
      facts(written(forum?.description ?? ""), subscription("forum", id)),
      subforums(id),
      forum?.canStartThread && may("threads:write") && folded("Start a thread", newThread(path)),
      list(path, page, items, "No threads yet."),
      guestNote(),
    ],
  }
}

function newThread(path) {
  const question = [
    ...input("question", "Question", { maxlength: 200 }),
    element("label", { for: "options" }, "Options, one on each line"),
    element("textarea", { id: "options", name: "options", rows: "3", dir: "auto" }),
  ]
  const draft = `thread in ${path}`
  const poll = folded("Add a poll", ...question)
  poll.open = !!drafts.get(draft)?.question
  return form("Start thread", [...input("title", "Title", { required: true }), ...textarea("body", "Text"), poll], async (data) => {
    const options = data.get("options").split("\n").filter((line) => line.trim())
    const asked = data.get("question") && { poll: { question: data.get("question"), options } }
    const thread = await call("createThread", `${path}/threads`, { title: data.get("title"), body: data.get("body"), ...asked })
    return () => open(encoded`/threads/${thread.threadId}/posts/${thread.firstPostId}`, posted(thread))
  }, draft)
}

const posted = ({ state }) => state === "visible" ? "Posted" : "Posted. It awaits approval."

/// Renders a link to the last page of a thread.
function newest({ threadId, replyCount }) {
  return replyCount > 0 && link(encoded`/threads/${threadId}?sort=newest`, "Newest reply")
}

const howToGetToken = () => element("a", { href: "/docs#about-authentication" }, "How to get a token")

function guestNote() {
  return !me && facts(element("span", {}, howToGetToken(), " to write, vote and subscribe."))
}

/// Renders a button that subscribes to a target, or ends the subscription. Ignores a response that arrives after the token
/// has changed.
function subscription(target, targetId) {
  if (!may("subscriptions:write") || !me.scopes?.includes("subscriptions:read")) return null
  const used = token
  const change = () => {
    const isFollowed = followed.has(`${target} ${targetId}`)
    const label = isFollowed ? "Unsubscribe" : "Subscribe"
    const created = form(label, [], async () => {
      if (isFollowed) await call("unsubscribe", encoded`/subscriptions/${target}/${targetId}`)
      else await call("subscribe", "/subscriptions", { target, targetId })
      if (used !== token) return null
      followed[isFollowed ? "delete" : "add"](`${target} ${targetId}`)
      return (focus) => {
        const changed = change()
        created.replaceWith(changed)
        focus(changed.querySelector("button"))
        announce(`${label}d`)
      }
    })
    created.className = "subscription"
    return created
  }
  if (followed) return change()
  const loaded = call("listSubscriptions", "/subscriptions?limit=100").then(({ items }) => {
    if (used === token) followed = new Set(items.map((one) => `${one.target} ${one.targetId}`))
  })
  return later(loaded, () => followed && change(), unloaded(element("span", { class: "subscription" }, element("button", {}, "Subscribe"))))
}
