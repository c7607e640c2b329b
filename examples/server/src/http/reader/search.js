
// Search, and the posts of a member.

/// Returns the name of a member, or the id if the token may not read profiles.
async function usernameOf(id) {
  try {
    return (await call("getMember", encoded`/members/${id}`)).username
  } catch (error) {
    if (error.status === 404) throw error
    return id
  }
}

async function showSearch(params) {
  const [q, by] = ["q", "by"].map((name) => params.get(name) || null)
  $("#q").value = q ?? ""
  const page = await Promise.all([call("search", `/search${queryOf({ q, by, after: params.get("after") })}`), identify()])
    .then(([found]) => found, (error) => {
      if (error.status === 400 && error.field === "q") error.message = "Enter at least one word to search for, and at most 32."
      throw error
    })
  const mark = marker(q)
  const items = page.items.map((hit) => element("li", { class: "item" },
    link(encoded`/threads/${hit.threadId}/posts/${hit.postId}` + queryOf({ q }), element("bdi", {}, mark(hit.title))), element("br", {}),
    element("bdi", {}, mark(hit.excerpt)), " ", element("small", {}, member(hit.author), ", ", time(hit.createdAt))))
  const name = page.items[0]?.author?.username ?? (q ? by : await usernameOf(by))
  return {
    title: q ? `Results for “${q}”` : `Posts of ${name}`,
    about: count(items.length, "result"),
    way: way(null),
    content: [list(`/search${queryOf({ q, by })}`, page, items, page.next ? "No posts on this page match." : "No posts match.")],
  }
}
