//! The content of the test board. An id names its content: thread `open-2` is the second of forum `open`, post
//! `open-2-7` the seventh of that thread, poll `open-1` the one of thread `open-1`, message `alice-3` alice's third.

use forum_api::model::*;

/// Forums with their parents. `porch` is visible to guests, but its parent is not.
pub(crate) const FORUMS: [(&str, Option<&str>); 4] = [
    ("open", None),
    ("members", Some("open")),
    ("staff", Some("members")),
    ("porch", Some("staff")),
];

pub(crate) const MEMBERS: [&str; 5] = ["alice", "bob", "moderator", "admin", "banned"];

/// Number of threads of a forum, posts of a thread, and messages of a member.
pub(crate) const THREADS: usize = 3;
pub(crate) const POSTS: usize = 45;
pub(crate) const MESSAGES: usize = 5;

pub(crate) fn time() -> Timestamp {
    Timestamp::from_millis(1_767_225_600_000)
}

/// Returns the forum at the start of an id, if the numbers after it are within their bounds.
pub(crate) fn forum_in(id: &str, bounds: &[usize]) -> Option<&'static str> {
    let mut parts = id.split('-');
    let name = parts.next()?;
    let (forum, _) = FORUMS.iter().find(|(forum, _)| *forum == name)?;
    let within = |bound: &usize| {
        let number = parts.next().and_then(|part| part.parse().ok());
        number.is_some_and(|number| (1..=*bound).contains(&number))
    };
    (bounds.iter().all(within) && parts.next().is_none()).then_some(*forum)
}

/// Returns a page of items that are numbered from 1 to `total`.
pub(crate) fn page<T>(
    limit: PageLimit,
    after: Option<&PageKey>,
    total: usize,
    item: impl Fn(usize) -> T,
) -> Page<T> {
    let start = after.map_or(0, |after| after.as_str().parse().unwrap());
    let fetched = (start + 1..=total).take(limit.get() + 1).map(|n| (n, item(n)));
    let page = Page::from_overfetch(fetched.collect(), limit, |(n, _)| PageKey::new(n));
    Page { items: page.items.into_iter().map(|(_, item)| item).collect(), next: page.next }
}

pub(crate) fn author(name: &str) -> Author {
    Author::new(UserId::parse(name).unwrap(), name)
}

/// Fields that only the test board has.
pub(crate) fn extra() -> Option<Extra> {
    Some(Extra::new(serde_json::json!({ "score": 12 })).unwrap())
}

pub(crate) fn member(name: &str) -> Member {
    let mut member = Member::new(UserId::parse(name).unwrap(), name, time());
    member.post_count = 7;
    member.reputation = 1;
    member.extra = extra();
    member
}

/// Returns the nearest ancestor of `forum` in `among`.
pub(crate) fn nearest(forum: &str, among: &[&str]) -> Option<&'static str> {
    let above = |forum: &str| FORUMS.iter().find(|(id, _)| *id == forum)?.1;
    std::iter::successors(above(forum), |forum| above(forum)).find(|forum| among.contains(forum))
}

pub(crate) fn forum(id: &str, parent: Option<&str>) -> Forum {
    let mut forum = Forum::new(ForumId::parse(id).unwrap(), format!("The {id} forum"));
    forum.parent_id = parent.map(|id| ForumId::parse(id).unwrap());
    forum.thread_count = THREADS as u64;
    forum.post_count = (THREADS * POSTS) as u64;
    forum.last_activity_at = Some(time());
    forum.can_start_thread = true;
    forum.extra = extra();
    forum
}

pub(crate) fn thread(id: &str) -> Thread {
    let mut thread = Thread::new(
        ThreadId::parse(id).unwrap(),
        ForumId::parse(id.split('-').next().unwrap()).unwrap(),
        format!("Thread {id}"),
        ContentState::Visible,
        PostId::parse(&format!("{id}-1")).unwrap(),
        time(),
    );
    thread.author = Some(author("alice"));
    thread.reply_count = POSTS as u64 - 1;
    thread.poll_id = id.ends_with("-1").then(|| PollId::parse(id).unwrap());
    thread.can_reply = true;
    thread.extra = extra();
    thread
}

/// Returns a post. Posts with odd numbers are alice's, the others bob's.
pub(crate) fn post(thread: &str, number: usize, body: &str) -> Post {
    let mut post = Post::new(
        PostId::parse(&format!("{thread}-{number}")).unwrap(),
        ThreadId::parse(thread).unwrap(),
        number as u64,
        ContentState::Visible,
        time(),
    );
    post.in_reply_to = (number > 2).then(|| PostId::parse(&format!("{thread}-2")).unwrap());
    post.author = Some(author(if number % 2 == 1 { "alice" } else { "bob" }));
    post.body = Some(body.into());
    post.body_html = Some(format!("<p>{body}</p>"));
    post.can_edit = true;
    post.can_delete = true;
    post.extra = extra();
    post.can_read_deleted = true;
    post
}

pub(crate) fn poll(id: &str) -> Poll {
    let mut green = PollOption::new(OptionId::from(1), "Green");
    green.votes = Some(1);
    let mut poll = Poll::new(
        PollId::parse(id).unwrap(),
        ThreadId::parse(id).unwrap(),
        "Which tea?",
        vec![green],
    );
    poll.author = Some(author("alice"));
    poll.total_votes = Some(1);
    poll
}

pub(crate) fn message(owner: &str, number: usize, folder: Folder) -> Message {
    let id = MessageId::parse(&format!("{owner}-{number}")).unwrap();
    let mut summary = MessageSummary::new(id, folder, "Tea", time());
    summary.sender = Some(author("bob"));
    summary.recipients = vec![author(owner)];
    summary.receipt_requested = true;
    summary.extra = extra();
    Message::new(summary, "At five?", "<p>At five?</p>")
}

/// Returns a forum, or its first thread.
pub(crate) fn target(kind: SubscriptionTargetKind, forum: &str) -> SubscriptionTarget {
    match kind {
        SubscriptionTargetKind::Thread => {
            SubscriptionTarget::Thread(ThreadId::parse(&format!("{forum}-1")).unwrap())
        }
        SubscriptionTargetKind::Forum => SubscriptionTarget::Forum(ForumId::parse(forum).unwrap()),
    }
}

pub(crate) fn target_id(target: &SubscriptionTarget) -> String {
    match target {
        SubscriptionTarget::Thread(id) => id.to_string(),
        SubscriptionTarget::Forum(id) => id.to_string(),
    }
}

pub(crate) fn subscription(target: SubscriptionTarget) -> Subscription {
    let id = target_id(&target);
    let forum = ForumId::parse(id.split('-').next().unwrap()).unwrap();
    Subscription::new(target, forum, format!("Title of {id}"), time())
}

pub(crate) fn hit(forum: &str) -> SearchHit {
    let mut hit = SearchHit::new(
        SearchHitKind::Post,
        ForumId::parse(forum).unwrap(),
        ThreadId::parse(&format!("{forum}-1")).unwrap(),
        PostId::parse(&format!("{forum}-1-1")).unwrap(),
        format!("Thread {forum}-1"),
        time(),
    );
    hit.author = Some(author("alice"));
    hit.excerpt = format!("tea in {forum}");
    hit.score = 1.0;
    hit
}
