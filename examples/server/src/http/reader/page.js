
// The page: the token, the views by address, messages and the focus.

let token = sessionStorage.getItem("token") ?? ""
let me = null  // The caller of the token.
let identity = null  // The request for the caller.
let checks = 0  // The number of token checks that have begun.
let kept = 0  // The number of the check whose token is kept: the first check is 1.
let latest = 0
let news = null  // The message of the view that opens next.
let entered = null  // The field that the member has entered or changed since the next view began to load.

const board = document.title
const may = (scope) => me && (me.scopes?.includes(scope) ?? true)
const address = () => location.hash.slice(1) || "/"

// The browser cannot restore a position before the content is there.
history.scrollRestoration = "manual"
const positions = new StoredMap("positions")  // Scroll positions, by the entries of the history.
let shownEntry = null
let restored = null  // The position that the view has until the member moves it.

function restorePosition() {
  if (restored !== null) scrollTo(0, restored)
}

/// Stores the position in the view that is shown.
function leave() {
  if (shownEntry) positions.set(shownEntry, Math.round(scrollY))
  shownEntry = null
}

const entry = () => history.state?.entry

/// Opens the view of an address with a message.
function open(path, message) {
  news = message
  if (address() === path) show({ isNew: true })
  else location.hash = path
}

function announce(message) {
  $("#status").className = ""
  $("#status").textContent = message
}

/// Returns the view of an address.
function view() {
  const [, path, query] = /^([^?]*)(.*)$/.exec(address())
  const [, kind, first, part, second] = path.split("/")
  const params = new URLSearchParams(query)
  const decoded = (segment) => {
    try {
      return decodeURIComponent(segment)
    } catch {
      throw new Error("This address is invalid.")
    }
  }
  const target = () => part === "posts" && second ? decoded(second) : params.get("from")
  const views = {
    __proto__: null,
    forums: () => showForum(decoded(first), params),
    threads: () => showThread(decoded(first), target(), params),
    members: () => showMember(decoded(first)),
    messages: () => first ? showMessage(decoded(first)) : showMessages(params),
    search: () => showSearch(params),
  }
  return (views[kind] ?? showForums)()
}

/// Shows the view of the address, moves the focus, and announces the message or the view. Ignores a response that arrives
/// after the next view was opened. Without a connection, the former view stays. A member who has begun to write while the
/// view loads goes on in the same field.
async function show({ message, focus, isNew, isReturn } = {}) {
  const begun = ++latest
  message ??= news
  news = entered = null
  $("#view").setAttribute("aria-busy", "true")
  let shown
  try {
    shown = await view()
  } catch (error) {
    if (begun !== latest) return
    if (token && (error.status === 401 || error.code === "owner_unavailable")) return forget("The token is no longer valid.")
    shown = failed(error)
  }
  if (begun !== latest) return
  $("#view").removeAttribute("aria-busy")
  const written = entered === document.activeElement ? cursor(entered) : null
  if (shown.content) {
    document.title = `${shown.title} · ${board}`
    $("#view").replaceChildren(...element("div", {}, shown.way, element("h1", { tabindex: "-1", dir: "auto" }, shown.title), shown.content).childNodes)
  }
  $("#status").className = message ? "" : "visually-hidden"
  $("#status").textContent = message ?? (shown.about && `${shown.title}, ${shown.about}`) ?? ""
  // Back, forward and a reload restore the position. Another view begins at its target or at its start.
  if (!entry()) history.replaceState({ entry: randomKey() }, "")
  shownEntry = entry()
  restored = isReturn ? positions.get(entry()) ?? 0 : null
  if (isReturn) {
    if (!resume(written, { preventScroll: true }) && isNew) $("#view h1")?.focus({ preventScroll: true })
    restorePosition()
    return
  }
  if (isNew) scrollTo(0, 0)
  if (!resume(written)) $(focus || shown.focus || (isNew ? "#view h1" : "#none"))?.focus()
}

function failed(error) {
  const again = error.code === "offline" && button("Try again", () => show({ isNew: true }))
  const isMissing = error.status === 404
  const needsToken = error.status === 401 && !token
  const text = isMissing ? "There is no such page, or you may not see it." : needsToken ? "This page needs a token of your own." : error.message
  const alert = element("p", { class: "alert", role: "alert" }, text, " ", again || needsToken && howToGetToken())
  $("#view > .alert[role]")?.remove()
  if (!again || !$("#view h1")) {
    const cause = error.status >= 500 && ". The operator of the board can find the cause in the log by this number."
    const request = error.requestId && !needsToken && element("small", {}, `Request ${error.requestId}`, cause)
    return { title: isMissing ? "Not found" : "This cannot be shown", way: way(null), content: [alert, request] }
  }
  $("#view").prepend(alert)
  return {}
}

/// Loads the caller of the token, once for all requests of a view.
async function identify() {
  if (token && !me) await (identity ??= use(token).finally(() => (identity = null)))
}

/// Checks a token with `GET /me` and keeps it in this tab if it is valid, unless a token that was entered later is kept. A
/// token without the scope of this request is valid. Returns whether the token is kept.
async function use(candidate) {
  const check = ++checks
  const caller = await call("getMe", "/me", undefined, candidate).catch((error) => {
    if (error.code === "missing_scope") return { owner: { username: "A token" } }
    throw error
  })
  if (check < kept) return false
  kept = check
  keepToken(candidate, caller)
  return true
}

/// Sets the token and its caller.
function keepToken(value, caller) {
  if (value !== token) {
    forums = []
    followed = null
  }
  token = value
  me = caller
  if (value) sessionStorage.setItem("token", value)
  else sessionStorage.removeItem("token")
  const name = element("strong", {}, caller?.owner.userId ? member(caller.owner) : caller?.owner.username ?? "")
  const scopes = caller?.scopes && [" · ", count(caller.scopes.length, "scope")]
  const messages = caller?.scopes?.includes("messages:read") &&
    [" · ", link("/messages", messagesOf(caller))]
  const parts = caller ? [name, scopes, messages, " ", button("Remove token", () => forget())] : []
  $("#who").replaceChildren(...parts.flat().filter(Boolean))
  $("#who").hidden = !caller
  $("#access").hidden = $("#intro").hidden = !!caller
  refuse("")
  if (caller) $("#token").value = ""
}

const messagesOf = ({ unreadMessages }) => unreadMessages ? `Messages (${unreadMessages})` : "Messages"

/// Counts the unread messages again, for the link to them.
async function countUnread() {
  const counted = token
  const caller = await call("getMe", "/me").catch(() => null)
  const shown = $("#who a[href='#/messages']")
  if (caller && counted === token && shown) shown.textContent = messagesOf(caller)
}

/// Marks the field of the token with an error, or removes the mark.
function refuse(message) {
  $("#token-error").textContent = message
  $("#token").ariaInvalid = message ? "true" : null
}

/// Removes the token. The requests stay if the token has become invalid: they show why.
async function forget(message = "") {
  keepToken("", null)
  if (!message) clearCalls()
  refuse(message)
  $("#token").focus()
  await show({ message: message || "The token was removed from this tab." })
}

function setDrawer(isOpen) {
  $("#api").classList.toggle("open", isOpen)
  $("#drawer").ariaExpanded = isOpen
}

$("#search").addEventListener("submit", (event) => {
  event.preventDefault()
  open(`/search?${new URLSearchParams({ q: $("#q").value })}`)
})
$("#access").addEventListener("submit", async (event) => {
  event.preventDefault()
  try {
    const isKept = await use($("#token").value.trim())
    if (isKept) await show({ message: $("#who").textContent.replace(" Remove token", ""), focus: "#who button" })
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
$("#drawer").addEventListener("click", () => setDrawer(!$("#api").classList.contains("open")))
for (const start of document.querySelectorAll("header a[href='/']")) start.href = "#/"
window.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape" || !$("#api").classList.contains("open")) return
  const isInside = $("#api").contains(document.activeElement)
  setDrawer(false)
  if (isInside) $("#drawer").focus()
})
window.addEventListener("hashchange", () => {
  setDrawer(false)
  // The words of a search are those of the results that are shown.
  if ($("#q") !== document.activeElement) $("#q").value = ""
  leave()
  show({ isNew: true, isReturn: !!entry() })
})
window.addEventListener("pagehide", leave)
for (const kind of ["focusin", "input"]) document.addEventListener(kind, ({ target }) => (entered = target))
for (const kind of ["wheel", "touchmove", "keydown", "pointerdown"]) window.addEventListener(kind, () => (restored = null), { passive: true })
// A link to the view that is shown loads it again.
document.addEventListener("click", ({ target }) => {
  if (target.closest?.("a")?.getAttribute("href") === `#${address()}`) show({ isNew: true })
})

$("#tools").inert = false
$("#api").hidden = false
$("#intro").hidden = !!token
show({ isReturn: !!entry() })
