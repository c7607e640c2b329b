
// Elements of the views.

const MAX_WORDS = 32  // Of a search. A link can have more.
// A letter of a script that is written without spaces.
const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Hang}]/u

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

const link = (path, ...children) => element("a", { href: `#${path}` }, ...children)
const button = (text, onclick) => element("button", { type: "button", class: "quiet", onclick }, text)
const time = (text) => {
  const [shown, exact] = ["short", "long"].map((timeStyle) => new Date(text).toLocaleString([], { dateStyle: "medium", timeStyle }))
  return element("time", { datetime: text, title: exact }, shown)
}
const grouped = (number) => number.toLocaleString()
const count = (number, one, many = `${one}s`) => `${grouped(number)} ${number === 1 ? one : many}`
const badge = (text) => element("span", { class: "badge" }, text.replaceAll("_", " "))
const stateBadge = (state) => state !== "visible" && badge(state)

/// Renders what a member can unfold. It is open if it has a form with a draft.
function folded(summary, ...content) {
  const created = element("details", {}, element("summary", {}, summary), ...content)
  created.open = [...created.querySelectorAll("form")].some((one) => drafts.get(one.dataset.draft))
  return created
}

const facts = (...content) => element("p", { class: "facts" }, ...content)

/// Renders a text that a member has written, in its own direction.
const written = (text) => element("bdi", {}, text)

/// Returns the public address of a resource, or its address on this page if this page has another origin.
const permalink = ({ webUrl }, path) => webUrl?.startsWith(`${location.origin}/`) ? webUrl : `#${path}`

/// Renders a member with a link to the profile.
function member(author) {
  return author ? link(encoded`/members/${author.userId}`, written(author.username)) : "a former member"
}

/// Hides an element, which keeps its height.
function unloaded(place) {
  place.classList.add("unloaded")
  return place
}

/// Renders a part of the view that needs another request. The view does not wait for it, and has `place` until then. A place
/// with the height of the part keeps what follows under the pointer of a visitor.
function later(promise, render, place = element("span", { hidden: true })) {
  const fill = (content) => {
    place.replaceWith(...[render(content)].flat().filter(Boolean))
    restorePosition()
  }
  promise.then(fill, () => place.remove())
  return place
}

const previous = new StoredMap("previous")  // Addresses of the previous pages of lists, by address.

/// Renders a page of a list, with links to the pages before and after it. `start` is the address of the first page.
function list(start, page, items, empty) {
  const next = page.next && `${start}${start.includes("?") ? "&" : "?"}${new URLSearchParams({ after: page.next })}`
  if (next) previous.set(next, address())
  const before = previous.get(address())
  const first = address() !== start && start
  return [
    items.length ? element("ol", { class: "items" }, items) : element("p", { class: "empty" }, empty, " ", !me && "A token may show more."),
    paging(first && link(first, "First page"), before && link(before, "Previous page"), next && link(next, "Next page")),
  ]
}

function paging(...links) {
  return links.some(Boolean) && element("p", { class: "paging" }, ...links)
}

/// Returns the host of an address, and an empty text if the address is invalid: the API does not parse the addresses in posts.
function hostOf(address) {
  try {
    return new URL(address, location).hostname
  } catch {
    return ""
  }
}

/// The API renders posts without scripts, styles and HTML of members. The content security policy forbids scripts and
/// images as well: a link replaces each image, and a text an image with an invalid address.
function rendered(html, mark = (text) => [text]) {
  const template = document.createElement("template")
  template.innerHTML = html
  for (const block of template.content.querySelectorAll("p, li, blockquote, h3, h4, h5, h6, th, td")) block.dir = "auto"
  // What scrolls sideways can have the focus, so that the arrow keys scroll it.
  for (const table of template.content.querySelectorAll("table")) {
    const scroller = element("div", { class: "table" })
    table.replaceWith(scroller)
    scroller.append(table)
  }
  for (const scroller of template.content.querySelectorAll("pre, .table")) scroller.tabIndex = 0
  for (const image of template.content.querySelectorAll("img")) {
    const host = hostOf(image.src)
    const text = `picture: ${image.alt || "without a description"} (${host || "invalid address"})`
    const isLink = host && !image.closest("a")
    image.replaceWith(isLink ? element("a", { href: image.src, rel: "nofollow noreferrer" }, text) : text)
  }
  const texts = document.createTreeWalker(template.content, NodeFilter.SHOW_TEXT)
  const found = []
  while (texts.nextNode()) found.push(texts.currentNode)
  for (const text of found) text.replaceWith(...mark(text.data))
  return element("div", { class: "body" }, template.content)
}

/// Folds a text as its characters one by one: `toLowerCase` returns another sigma at the end of a word.
const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("ς", "σ")

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
