
// Forms. What a member has typed remains until it is sent: through other views, a reload, and the end of a token.

const drafts = new StoredMap("drafts")  // Values of the fields of forms, by the name of the draft.
let formsMade = 0
const sending = new Set()  // Names of the drafts whose request has no response yet.

/// Returns a form. It keeps its texts and the focus when its request is refused. A form with the name of a draft restores
/// and keeps its fields, and while one view sends the draft no other one does.
function form(label, fields, send, draft) {
  const problem = element("p", { class: "error", role: "alert", id: `problem-${++formsMade}` })
  const sender = element("button", {}, label)
  const created = element("form", { "data-draft": draft }, ...fields, problem, sender)
  if (draft) {
    created.unchanged = JSON.stringify(valuesOf(created))
    restore(created)
    created.addEventListener("input", () => keep(created))
    if (sending.has(draft)) sender.ariaDisabled = "true"
  }
  const mark = (name) => {
    for (const field of created.elements) {
      field.ariaInvalid = field.name && field.name === name ? "true" : null
      if (field.ariaInvalid) field.setAttribute("aria-describedby", problem.id)
      else field.removeAttribute("aria-describedby")
    }
  }
  created.addEventListener("input", ({ target }) => target.ariaInvalid && mark(null))
  created.addEventListener("submit", async (event) => {
    event.preventDefault()
    if (sender.ariaDisabled) return
    sender.ariaDisabled = "true"
    problem.textContent = ""
    mark(null)
    announce("")
    const used = token
    const stored = JSON.stringify(drafts.get(draft))
    sending.add(draft)
    try {
      const then = await send(new FormData(created))
      // What the member has written while the request ran is not sent.
      if (draft && JSON.stringify(drafts.get(draft)) === stored) discard(draft)
      const { activeElement } = document
      const isElsewhere = activeElement !== document.body && !created.contains(activeElement)
      // The focus stays where the member has moved it while the request ran.
      if (created.isConnected) await then?.((target) => isElsewhere || target.focus())
      else announce("Sent")
    } catch (error) {
      if (error.status === 401 && token && used === token) return await forget("The token is no longer valid. What you wrote is kept in this tab.")
      const names = new Set([...created.elements].filter((field) => field.type !== "hidden" && field.name).map((field) => field.name))
      mark(/\w+(?=[[\]\d]*$)/.exec(error.field)?.[0])
      problem.textContent = names.size > 1 ? error.message : error.message.replace(/^\w+: /, "")
    } finally {
      sending.delete(draft)
      sender.ariaDisabled = null
      for (const other of formsOf(draft)) other.querySelector("button:not([type])").ariaDisabled = null
    }
  })
  return created
}

const formsOf = (draft) => [...document.forms].filter((one) => draft && one.dataset.draft === draft)
const fieldsOf = (of) => [...of.elements].filter((field) => field.name)
const propertyOf = (field) => field.type === "checkbox" ? "checked" : "value"
const valuesOf = (of) => Object.fromEntries(fieldsOf(of).map((field) => [field.name, field[propertyOf(field)]]))

/// Stores the fields of a form, or removes its draft if they are as they were at first.
function keep(of) {
  const values = valuesOf(of)
  drafts.set(of.dataset.draft, JSON.stringify(values) === of.unchanged ? null : values)
}

/// Fills the fields of a form with its draft.
function restore(of) {
  const draft = drafts.get(of.dataset.draft)
  for (const field of fieldsOf(of)) field[propertyOf(field)] = draft?.[field.name] ?? field[propertyOf(field)]
}

/// Returns the position at which a member writes in a field, or nothing for other elements.
function cursor(field) {
  if (!field?.matches("input, textarea")) return null
  const { name, form, selectionStart, selectionEnd } = field
  return { field, name, draft: form?.dataset.draft, selectionStart, selectionEnd }
}

/// Moves the focus to a position, in the view that is shown to the same field of the same draft. Opens what is folded around
/// it. Returns whether there is such a field.
function resume(position, options) {
  if (!position) return false
  const { name, draft, selectionStart, selectionEnd } = position
  const field = position.field.isConnected ? position.field : formsOf(draft)[0]?.elements[name]
  if (!field) return false
  for (let fold = field.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true
  field.focus(options)
  // A field for a number has no selection.
  if (selectionStart !== null) field.setSelectionRange(selectionStart, selectionEnd)
  return true
}

/// Removes a draft that was sent, also from the forms of the view that is shown.
function discard(draft) {
  drafts.set(draft, null)
  for (const one of formsOf(draft)) {
    one.reset()
    one.dispatchEvent(new Event("restored"))
  }
}

function textarea(id, label, text = "") {
  const area = element("textarea", { id, name: "body", rows: "5", dir: "auto", required: true })
  area.value = text
  return [element("label", { for: id }, label), area]
}

function input(id, label, attributes = {}) {
  return [element("label", { for: id }, label), element("input", { id, name: id, dir: "auto", ...attributes })]
}

function checkbox(name, label) {
  return element("label", { class: "option" }, element("input", { type: "checkbox", name }), ` ${label}`)
}
