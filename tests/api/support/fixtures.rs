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
    let fetched = (start + 1..=total)
        .take(limit.get() + 1)
        .map(|n| (n, item(n)));
    let page = Page::from_overfetch(fetched.collect(), limit, |(n, _)| PageKey::new(n));
    Page {
        items: page.items.into_iter().map(|(_, item)| item).collect(),
        next: page.next,
    }
}

pub(crate) fn author(name: &str) -> Author {
    Author {
        user_id: UserId::parse(name).unwrap(),
        username: name.into(),
        avatar_url: None,
    }
}

/// Fields that only the test board has.
pub(crate) fn extra() -> Option<Extra> {
    Some(Extra::new(serde_json::json!({ "score": 12 })).unwrap())
}

pub(crate) fn member(name: &str) -> Member {
    Member {
        user_id: UserId::parse(name).unwrap(),
        username: name.into(),
        title: None,
        avatar_url: None,
        joined_at: time(),
        last_seen_at: None,
        post_count: 7,
        reputation: 1,
        extra: extra(),
    }
}

/// Returns the nearest ancestor of `forum` in `among`.
pub(crate) fn nearest(forum: &str, among: &[&str]) -> Option<&'static str> {
    let above = |forum: &str| FORUMS.iter().find(|(id, _)| *id == forum)?.1;
    std::iter::successors(above(forum), |forum| above(forum)).find(|forum| among.contains(forum))
}

pub(crate) fn forum(id: &str, parent: Option<&str>) -> Forum {
    Forum {
        forum_id: ForumId::parse(id).unwrap(),
        parent_id: parent.map(|id| ForumId::parse(id).unwrap()),
        title: format!("The {id} forum"),
        description: String::new(),
        position: 1,
        thread_count: THREADS as u64,
        post_count: (THREADS * POSTS) as u64,
        last_activity_at: Some(time()),
        can_start_thread: true,
        extra: extra(),
    }
}

pub(crate) fn thread(id: &str) -> Thread {
    Thread {
        thread_id: ThreadId::parse(id).unwrap(),
        forum_id: ForumId::parse(id.split('-').next().unwrap()).unwrap(),
        title: format!("Thread {id}"),
        author: Some(author("alice")),
        state: ContentState::Visible,
        created_at: time(),
        last_activity_at: time(),
        last_post: None,
        reply_count: POSTS as u64 - 1,
        pinned: false,
        locked: false,
        first_post_id: PostId::parse(&format!("{id}-1")).unwrap(),
        poll_id: id.ends_with("-1").then(|| PollId::parse(id).unwrap()),
        can_reply: true,
        version: 1,
        extra: extra(),
    }
}

/// Returns a post. Posts with odd numbers are alice's, the others bob's.
pub(crate) fn post(thread: &str, number: usize, body: &str) -> Post {
    Post {
        post_id: PostId::parse(&format!("{thread}-{number}")).unwrap(),
        thread_id: ThreadId::parse(thread).unwrap(),
        number: number as u64,
        in_reply_to: (number > 2).then(|| PostId::parse(&format!("{thread}-2")).unwrap()),
        author: Some(author(if number % 2 == 1 { "alice" } else { "bob" })),
        state: ContentState::Visible,
        created_at: time(),
        edited_at: None,
        edited_by: None,
        body: Some(body.into()),
        body_html: Some(format!("<p>{body}</p>")),
        can_edit: true,
        can_delete: true,
        version: 1,
        extra: extra(),
        can_read_deleted: true,
    }
}

pub(crate) fn poll(id: &str) -> Poll {
    Poll {
        poll_id: PollId::parse(id).unwrap(),
        thread_id: ThreadId::parse(id).unwrap(),
        question: "Which tea?".into(),
        author: Some(author("alice")),
        options: vec![PollOption {
            option_id: OptionId::from(1),
            text: "Green".into(),
            votes: Some(1),
        }],
        total_votes: Some(1),
        max_choices: 1,
        can_change_vote: false,
        closes_at: None,
        closed: false,
        own_vote: None,
        version: 1,
    }
}

pub(crate) fn message(owner: &str, number: usize, folder: Folder) -> Message {
    let summary = MessageSummary {
        message_id: MessageId::parse(&format!("{owner}-{number}")).unwrap(),
        folder,
        subject: "Tea".into(),
        sender: Some(author("bob")),
        recipients: vec![author(owner)],
        sent_at: time(),
        read: false,
        read_at: None,
        receipt_requested: true,
        extra: extra(),
    };
    Message {
        summary,
        body: "At five?".into(),
        body_html: "<p>At five?</p>".into(),
    }
}

pub(crate) fn subscription(target: SubscriptionTargetKind, id: &str) -> Subscription {
    Subscription {
        target,
        target_id: ThreadId::parse(id).unwrap().into(),
        forum_id: ForumId::parse(id.split('-').next().unwrap()).unwrap(),
        title: format!("Title of {id}"),
        created_at: time(),
    }
}

pub(crate) fn hit(forum: &str) -> SearchHit {
    SearchHit {
        kind: SearchHitKind::Post,
        forum_id: ForumId::parse(forum).unwrap(),
        thread_id: ThreadId::parse(&format!("{forum}-1")).unwrap(),
        post_id: PostId::parse(&format!("{forum}-1-1")).unwrap(),
        title: format!("Thread {forum}-1"),
        author: Some(author("alice")),
        created_at: time(),
        excerpt: format!("tea in {forum}"),
        score: 1.0,
    }
}
