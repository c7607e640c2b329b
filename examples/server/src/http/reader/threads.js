
// A thread: a page of its posts, its poll, and the forms of a member.

const BEFORE = 10  // Posts that a view of one post shows before it.
const PAGE = 20

/// Loads the posts that an address names, in the order of the thread, with the queries of the pages before and after them.
/// A view of one post begins with those before it.
async function loadPosts(path, target, params) {
  const get = (query) => call("listPosts", `${path}/posts${queryOf(query)}`)
  const [sort, after, above, below] = ["sort", "after", "above", "below"].map((name) => params.get(name))
  const next = (page, query) => page.next && { ...query, after: page.next }
  if (target) {
    const [older, newer] = await Promise.all([
      get({ sort: "newest", from: target, limit: BEFORE + 1 }),
      get({ from: target }),
    ])
    const posts = [...older.items.toReversed(), ...newer.items.slice(1)]
    return { posts, earlier: next(older, { sort: "newest" }), more: next(newer) }
  }
  if (above) {
    const page = await get({ sort: "newest", from: above, limit: PAGE + 1 })
    const posts = page.items.slice(1).toReversed()
    return { posts, earlier: next(page, { sort: "newest" }), more: { below: posts.at(-1)?.postId } }
  }
  if (sort === "newest") {
    const page = await get({ sort, after })
    const posts = page.items.toReversed()
    return { posts, earlier: next(page, { sort }), more: after && { below: posts.at(-1)?.postId }, isEnd: !after }
  }
  const page = below ? await get({ from: below, limit: PAGE + 1 }) : await get({ after })
  const posts = below ? page.items.slice(1) : page.items
  return { posts, earlier: (after || below) && posts.length > 0 && { above: posts[0].postId }, more: next(page) }
}

/// Loads the posts that an address names. If the post that it names is absent, loads the end of the thread.
async function loadPresentPosts(path, target, params) {
  try {
    return await loadPosts(path, target, params)
  } catch (error) {
    const named = target || params.get("above") || params.get("below")
    if (error.status !== 400 || !named) throw error
    return { ...await loadPosts(path, null, new URLSearchParams({ sort: "newest" })), isAbsent: true }
  }
}

const repliesOf = ({ replyCount }) => count(replyCount, "reply", "replies")

async function showThread(id, target, params) {
  const path = encoded`/threads/${id}`
  const known = forums.length > 0 || loadForums().catch(() => null)
  const [thread, page] = await Promise.all([call("getThread", path), loadPresentPosts(path, target, params), identify()])
  const shown = { thread, path, numbers: new Map(page.posts.map((post) => [post.postId, post.number])), mark: marker(params.get("q")) }
  const focused = page.isEnd && !page.isAbsent ? page.posts.at(-1)?.postId : target
  const items = page.posts.map((post) => showPost(shown, post, post.postId === focused))
  const isStart = !target && !params.size
  const hasFirst = page.posts.some((post) => post.postId === thread.firstPostId)
  const links = () => paging(
    !isStart && link(path, "First page"),
    page.earlier && link(path + queryOf(page.earlier), "Earlier posts"),
    page.more && link(path + queryOf(page.more), "Next page"),
    page.more && newest(thread))
  const [first, last] = [page.posts[0], page.posts.at(-1)]
  return {
    title: thread.title,
    about: count(page.posts.length, "post"),
    way: find(thread.forumId) ? way(thread.forumId) :
      later(Promise.resolve(known).then(() => find(thread.forumId) || loadForums()).catch(() => null), () => way(thread.forumId),
        unloaded(way(null))),
    focus: focused && `#post-${CSS.escape(focused)}`,
    content: [
      facts(stateBadge(thread.state), thread.pinned && badge("pinned"), thread.locked && badge("locked"),
        element("span", { id: "replies" }, repliesOf(thread)), " ", newest(thread),
        page.posts.length > 0 && !isStart && ` · posts #${first.number} to #${last.number}`, subscription("thread", id)),
      page.isAbsent && element("p", { class: "alert" }, "This post is no longer there. These are the newest posts of the thread."),
      thread.pollId && later(call("getPoll", `${path}/poll`), (poll) => hasFirst ? showPoll(poll) : folded(`Poll: ${poll.question}`, showPoll(poll)),
        hasFirst ? element("div", { class: "poll" }) : unloaded(folded("Poll"))),
      page.earlier && links(),
      items.length ? element("ol", { class: "items" }, items) : element("p", { class: "empty" }, "No posts here."),
      links(),
      thread.canReply && may("posts:write") && replyForm(path),
      !me && drafts.get(`reply in ${path}`) && element("p", { class: "alert" }, "Your reply is kept in this tab. Use a token to go on."),
      guestNote(),
    ],
  }
}

function showPost({ thread, path, numbers, mark }, post, isTarget) {
  const own = `${path}/posts/${encodeURIComponent(post.postId)}`
  const answered = post.inReplyTo && link(`${path}/posts/${encodeURIComponent(post.inReplyTo)}`,
    numbers.has(post.inReplyTo) ? `in reply to #${numbers.get(post.inReplyTo)}` : "in reply to an earlier post")
  const isDeleted = post.bodyHtml === null
  const item = element("li", { class: `item ${isTarget ? "target" : ""}`, id: `post-${post.postId}`, tabindex: "-1" },
    element("h2", {}, element("a", { href: permalink(post, own), title: "Link to this post" }, `#${post.number}`), " ",
      element("strong", {}, member(post.author)), " · ", time(post.createdAt), post.editedAt && " · edited", answered && [" · ", answered],
      " ", stateBadge(post.state)),
    isDeleted ? element("p", {}, "This post was deleted.") : rendered(post.bodyHtml, mark),
    element("div", { class: "actions" },
      !isDeleted && thread.canReply && may("posts:write") && button("Quote", () => answer(post)),
      actions({ thread, path, numbers, mark }, own, post, () => item)))
  return item
}

/// Quotes a post in the reply that the member writes.
function answer(post) {
  const reply = $("#reply")
  const { body, inReplyTo, answered } = reply.elements
  const text = post.body ?? $(`#post-${CSS.escape(post.postId)} .body`).innerText
  body.value += `${body.value && "\n\n"}${text.trim().replace(/^/gm, "> ")}\n\n`
  inReplyTo.value = post.postId
  answered.value = `In reply to #${post.number} of ${post.author?.username ?? "a former member"}`
  keep(reply)
  reply.dispatchEvent(new Event("restored"))
  body.focus()
  body.setSelectionRange(body.value.length, body.value.length)
}

function replyForm(path) {
  const line = facts()
  const hidden = (name) => element("input", { type: "hidden", name })
  const created = form("Reply", [hidden("inReplyTo"), hidden("answered"), line, ...textarea("body", "Reply")], async (data) => {
    const inReplyTo = data.get("inReplyTo")
    const post = await call("createPost", `${path}/posts`, { body: data.get("body"), ...(inReplyTo && { inReplyTo }) })
    return () => open(`${path}/posts/${encodeURIComponent(post.postId)}`, posted(post))
  }, `reply in ${path}`)
  created.id = "reply"
  const { inReplyTo, answered } = created.elements
  const remove = button("Remove", () => {
    inReplyTo.value = answered.value = ""
    keep(created)
    show()
    created.elements.body.focus()
  })
  const show = () => line.replaceChildren(...answered.value ? [answered.value, " ", remove] : [])
  // `reset` does not change hidden fields.
  created.addEventListener("reset", () => (inReplyTo.value = answered.value = ""))
  created.addEventListener("restored", show)
  show()
  return created
}

/// Renders the forms that change a post.
function actions(shown, path, post, item) {
  const { postId, body, version, canEdit, canDelete } = post
  if (!may("posts:write")) return null
  const expected = element("input", { type: "hidden", name: "expectedVersion", value: version })
  const draft = `edit of ${path}`
  const changed = element("p", { class: "alert", hidden: true }, "This post has changed since you began to edit it. Saving replaces its present text.")
  const edit = canEdit && folded("Edit", changed, form("Save", [expected, ...textarea(`edit-${postId}`, "Text of the post", body)], async (data) => {
    const expectedVersion = Number(data.get("expectedVersion"))
    const updated = await call("updatePost", path, { body: data.get("body"), expectedVersion })
    return (focus) => {
      const saved = showPost(shown, updated, true)
      item().replaceWith(saved)
      focus(saved)
      announce("Saved")
    }
  }, draft))
  // The draft is older than the text that the member sees.
  if (expected.value !== String(version)) {
    expected.value = version
    changed.hidden = false
  }
  const remove = canDelete && form("Delete this post", [], async () => {
    await call("deletePost", path)
    return (focus) => {
      if (postId === shown.thread.firstPostId) return open(encoded`/forums/${shown.thread.forumId}`, "Deleted")
      const removed = item()
      const neighbour = removed.previousElementSibling ?? removed.nextElementSibling
      removed.remove()
      if (post.state === "visible") shown.thread.replyCount--
      $("#replies").textContent = repliesOf(shown.thread)
      focus(neighbour ?? $("#view h1"))
      announce("Deleted")
    }
  })
  if (remove) remove.querySelector("button").className = "danger"
  return [edit, remove && folded("Delete", remove)]
}

function showPoll(poll) {
  const mayVote = may("polls:write") && !poll.closed && (!poll.ownVote || poll.canChangeVote)
  const type = poll.maxChoices === 1 ? "radio" : "checkbox"
  const options = poll.options.map((option) => {
    const isOwn = poll.ownVote?.includes(option.optionId) ?? false
    const share = element("span", { class: "share" })
    share.style.width = `${100 * option.votes / (poll.totalVotes || 1)}%`
    const isCounted = option.votes !== null
    const text = [" ", written(option.text), " ", isCounted && element("small", {}, count(option.votes, "vote")), " ", isOwn && badge("your vote")]
    return element("div", { class: "option" },
      mayVote ? element("label", {}, element("input", { type, name: "option", value: option.optionId, checked: isOwn }), text) : text,
      isCounted && share)
  })
  const choice = element("fieldset", { id: "poll", tabindex: "-1" }, element("legend", { dir: "auto" }, poll.question), ...options,
    element("small", {}, poll.closed && "Closed. ", mayVote && poll.maxChoices > 1 && `Choose up to ${poll.maxChoices}. `,
      poll.totalVotes !== null && `${count(poll.totalVotes, "member")} voted.`))
  const place = element("div", { class: "poll" })
  const replace = (changed, message) => (focus) => {
    place.replaceWith(showPoll(changed))
    focus($("#poll"))
    announce(message)
  }
  place.append(mayVote ? form(poll.ownVote ? "Change vote" : "Vote", [choice], async (data) => {
    const voted = await call("vote", encoded`/polls/${poll.pollId}/votes`, { optionIds: data.getAll("option") })
    return replace(voted, "Voted")
  }) : choice)
  const isOwn = poll.author && poll.author.userId === me?.owner.userId
  if (isOwn && may("polls:write")) place.append(folded("Edit the poll", editPoll(poll, replace)))
  return place
}

function editPoll(poll, replace) {
  const question = input("question", "Question", { value: poll.question, required: true })
  const options = poll.options.map((option, number) => input(`option-${number}`, `Option ${number + 1}`, { value: option.text, required: true }))
  return form("Save the poll", [question, ...options].flat(), async (data) => {
    const changed = poll.options.map(({ optionId }, number) => ({ optionId, text: data.get(`option-${number}`) }))
    const { pollId, version } = poll
    const updated = await call("updatePoll", encoded`/polls/${pollId}`, { question: data.get("question"), options: changed, expectedVersion: version })
    return replace(updated, "Saved")
  })
}
