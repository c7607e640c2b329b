//! Kinds of requests and their frequency.

use serde_json::{Value, json};

use super::client::{Client, Poll, Post, text};

/// A kind of request.
#[derive(Debug)]
pub struct Kind {
    pub name: &'static str,
    /// Cost in units.
    pub cost: u32,
    pub method: &'static str,
    /// Relative frequency.
    pub weight: usize,
    /// True if guests can send it.
    pub guests: bool,
    /// Returns path and body, if the client has the ids.
    pub intent: fn(&mut Client) -> Option<(String, Value)>,
    /// Records ids from the request body and the response.
    pub record: fn(&mut Client, &Value, &Value),
}

const fn read(
    name: &'static str,
    cost: u32,
    weight: usize,
    intent: fn(&mut Client) -> Option<(String, Value)>,
) -> Kind {
    Kind {
        name,
        cost,
        method: "GET",
        weight,
        guests: true,
        intent,
        record: |_, _, _| {},
    }
}

const fn write(
    method: &'static str,
    name: &'static str,
    cost: u32,
    weight: usize,
    intent: fn(&mut Client) -> Option<(String, Value)>,
) -> Kind {
    Kind {
        method,
        ..read(name, cost, weight, intent).of_members()
    }
}

impl Kind {
    const fn of_members(mut self) -> Self {
        self.guests = false;
        self
    }

    const fn records(mut self, record: fn(&mut Client, &Value, &Value)) -> Self {
        self.record = record;
        self
    }

    /// Returns whether the request changes the board.
    pub fn is_write(&self) -> bool {
        self.method != "GET"
    }

    /// Returns whether the request may have an `Idempotency-Key`.
    pub fn takes_key(&self) -> bool {
        self.method == "POST"
    }
}

fn at(path: impl Into<String>) -> Option<(String, Value)> {
    Some((path.into(), Value::Null))
}

/// All kinds.
pub static KINDS: &[Kind] = &[
    read("me", 1, 3, |_| at("/me")).of_members(),
    read("forums", 1, 3, |_| at("/forums")),
    read("threads", 1, 6, |_| at("/forums/2/threads?limit=10")),
    read("thread", 1, 4, |client| {
        at(format!("/threads/{}", client.thread()))
    }),
    read("posts", 1, 10, |client| {
        at(format!(
            "/threads/{}/posts?limit=10&body=html",
            client.thread()
        ))
    })
    .records(|client, _, reply| client.record_posts(reply)),
    read("member", 1, 3, |_| at("/members/@alice")),
    read("inbox", 1, 3, |_| at("/messages?unread=true"))
        .of_members()
        .records(|client, _, reply| {
            client.unread_messages = reply["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|item| text(&item["messageId"]))
                .collect();
        }),
    read("message", 1, 3, |client| {
        at(format!("/messages/{}", client.unread_messages.pop()?))
    })
    .of_members(),
    read("poll", 1, 4, |client| {
        at(format!("/threads/{}/poll", client.poll()?.thread))
    })
    .of_members()
    .records(|client, _, reply| client.record_poll(reply)),
    read("subscriptions", 1, 2, |_| at("/subscriptions")).of_members(),
    read("search", 10, 2, |_| at("/search?q=still%20here&limit=5")),
    write("POST", "start", 10, 2, |client| {
        let (title, body) = (client.unique_body(), client.unique_body());
        let poll = json!({ "question": "Which?", "options": ["one", "other", "third"] });
        let thread = json!({ "title": title, "body": body, "poll": poll });
        Some(("/forums/2/threads".into(), thread))
    })
    .records(|client, _, reply| {
        client.threads.push(text(&reply["threadId"]));
        client.polls.push(Poll {
            poll: text(&reply["pollId"]),
            thread: text(&reply["threadId"]),
            options: Vec::new(),
        });
    }),
    write("POST", "reply", 5, 12, |client| {
        let path = format!("/threads/{}/posts", client.thread());
        Some((path, json!({ "body": client.unique_body() })))
    })
    .records(|client, _, reply| {
        client.posts.push(Post {
            thread: text(&reply["threadId"]),
            post: text(&reply["postId"]),
        });
    }),
    write("PATCH", "edit", 5, 4, |client| {
        let path = client.post()?.path();
        Some((path, json!({ "body": client.unique_body() })))
    }),
    write("DELETE", "delete", 5, 1, |client| {
        at(client.posts.pop()?.path())
    }),
    write("POST", "rate", 5, 2, |client| {
        let (user, post) = client.others_posts.pop()?;
        let rating = json!({ "points": 1, "comment": client.unique_body(), "postId": post });
        Some((format!("/members/{user}/reputation"), rating))
    }),
    write("POST", "send", 10, 3, |client| {
        let message = json!({ "to": [client.other_member()], "subject": client.unique_body(), "body": "Still here?" });
        Some(("/messages".into(), message))
    }),
    write("POST", "vote", 5, 3, |client| {
        let index = client
            .polls
            .iter()
            .position(|poll| !poll.options.is_empty())?;
        let poll = client.polls.swap_remove(index);
        Some((
            format!("/polls/{}/votes", poll.poll),
            json!({ "optionIds": [poll.options[1]] }),
        ))
    }),
    write("PATCH", "edit poll", 5, 1, |client| {
        let path = format!("/polls/{}", client.poll()?.poll);
        Some((path, json!({ "question": client.unique_body() })))
    }),
    write("POST", "follow", 2, 3, |client| {
        let follow = json!({ "target": "thread", "targetId": client.thread() });
        Some(("/subscriptions".into(), follow))
    })
    .records(|client, intent, _| client.followed.push(text(&intent["targetId"]))),
    write("DELETE", "unfollow", 2, 1, |client| {
        at(format!("/subscriptions/thread/{}", client.followed.pop()?))
    }),
];
