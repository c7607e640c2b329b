
// Profiles, ratings and private messages.

async function showMember(id) {
  const [profile] = await Promise.all([call("getMember", encoded`/members/${id}`), identify()])
  const { userId, username } = profile
  const isOther = userId !== me?.owner.userId
  return {
    title: username,
    about: "profile",
    way: way(null),
    content: [
      profile.title && element("p", { dir: "auto" }, profile.title),
      facts(`${count(profile.postCount, "post")} · reputation ${grouped(profile.reputation)} · joined `, time(profile.joinedAt),
        profile.lastSeenAt && [" · last seen ", time(profile.lastSeenAt)]),
      element("p", {}, link(`/search${queryOf({ by: userId })}`, "Posts of ", written(username))),
      isOther && may("reputation:write") && folded("Rate", form("Rate", [
        ...input("points", "Points", { type: "number", value: "1", required: true }),
        ...input("comment", "Comment"),
      ], async (data) => {
        const rating = { points: Number(data.get("points")), comment: data.get("comment") }
        const { reputation } = await call("rateMember", encoded`/members/${userId}/reputation`, rating)
        return () => show({ message: `Rated. The reputation is ${grouped(reputation)}.`, focus: "h1" })
      }, `rating of ${userId}`)),
      isOther && may("messages:write") && folded("Send a message", messageForm(profile)),
      guestNote(),
    ],
  }
}

function messageForm({ userId }, subject = "") {
  return form("Send message", [
    ...input("subject", "Subject", { required: true, value: subject }),
    ...textarea("body", "Message"),
    checkbox("receipt", "Ask for a receipt"),
  ], async (data) => {
    const message = { to: [userId], subject: data.get("subject"), body: data.get("body"), requestReceipt: data.has("receipt") }
    const sent = await call("sendMessage", "/messages", message)
    return () => open(encoded`/messages/${sent.messageId}`, "Sent")
  }, `message to ${userId} ${subject}`)
}

async function showMessages(params) {
  const folder = params.get("folder") === "sent" ? "sent" : "inbox"
  const folders = { inbox: ["/messages", "Inbox"], sent: ["/messages?folder=sent", "Sent"] }
  const [start] = folders[folder]
  const [page] = await Promise.all([
    call("listMessages", `/messages${queryOf({ folder, after: params.get("after") })}`),
    me ? countUnread() : identify(),
  ])
  const items = page.items.map((message) => element("li", { class: "item" },
    link(encoded`/messages/${message.messageId}`, written(message.subject)), " ", !message.read && badge("unread"), element("br", {}),
    element("small", {}, parties(message), ", ", time(message.sentAt))))
  return {
    title: folder === "sent" ? "Sent messages" : "Inbox",
    about: count(items.length, "message"),
    way: way(null),
    content: [
      paging(Object.entries(folders).map(([name, [path, label]]) =>
        element("a", { href: `#${path}`, "aria-current": name === folder && "page" }, label))),
      list(start, page, items, "No messages."),
    ],
  }
}

function parties({ folder, sender, recipients }) {
  if (folder === "inbox") return ["from ", member(sender)]
  return ["to ", recipients.map((one, number) => [number > 0 && ", ", member(one)])]
}

async function showMessage(id) {
  const [message] = await Promise.all([call("openMessage", encoded`/messages/${id}`), identify()])
  if (message.folder === "inbox") countUnread()
  const subject = message.subject.startsWith("Re: ") ? message.subject : `Re: ${message.subject}`
  return {
    title: message.subject,
    about: "message",
    way: way(null, " › ", link("/messages", "Messages")),
    content: [
      facts(parties(message), ", ", time(message.sentAt)),
      rendered(message.bodyHtml),
      message.folder === "inbox" && message.sender && may("messages:write") && folded("Answer", messageForm(message.sender, subject)),
    ],
  }
}
