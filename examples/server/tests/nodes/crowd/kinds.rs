//! What people want of the board, and how often.

use serde_json::{Value, json};

use super::person::{Person, Poll, Post, text};

/// A kind of request.
#[derive(Debug)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// What it costs.
    pub cost: u32,
    /// Its method.
    pub method: &'static str,
    /// How often it is wished for, beside the others.
    pub weight: usize,
    /// Whether guests may.
    pub guests: bool,
    /// The path and the body, if the person knows enough for it.
    pub wish: fn(&mut Person) -> Option<(String, Value)>,
    /// What a person learns when it is done, from the wish and the answer.
    pub learn: fn(&mut Person, &Value, &Value),
}

const fn read(
    name: &'static str,
    cost: u32,
    weight: usize,
    wish: fn(&mut Person) -> Option<(String, Value)>,
) -> Kind {
    Kind {
        name,
        cost,
        method: "GET",
        weight,
        guests: true,
        wish,
        learn: |_, _, _| {},
    }
}

const fn write(
    method: &'static str,
    name: &'static str,
    cost: u32,
    weight: usize,
    wish: fn(&mut Person) -> Option<(String, Value)>,
) -> Kind {
    Kind {
        method,
        ..read(name, cost, weight, wish).of_members()
    }
}

impl Kind {
    const fn of_members(mut self) -> Self {
        self.guests = false;
        self
    }

    const fn teaches(mut self, learn: fn(&mut Person, &Value, &Value)) -> Self {
        self.learn = learn;
        self
    }

    /// Whether it may change something.
    pub fn is_write(&self) -> bool {
        self.method != "GET"
    }

    /// Whether it takes an `Idempotency-Key`.
    pub fn takes_key(&self) -> bool {
        self.method == "POST"
    }
}

fn at(path: impl Into<String>) -> Option<(String, Value)> {
    Some((path.into(), Value::Null))
}

/// Every kind.
pub static KINDS: &[Kind] = &[
    read("me", 1, 3, |_| at("/me")).of_members(),
    read("forums", 1, 3, |_| at("/forums")),
    read("threads", 1, 6, |_| at("/forums/2/threads?limit=10")),
    read("thread", 1, 4, |person| {
        at(format!("/threads/{}", person.thread()))
    }),
    read("posts", 1, 10, |person| {
        at(format!(
            "/threads/{}/posts?limit=10&body=html",
            person.thread()
        ))
    })
    .teaches(|person, _, reply| person.meets(reply)),
    read("member", 1, 3, |_| at("/members/@alice")),
    read("inbox", 1, 3, |_| at("/messages?unread=true"))
        .of_members()
        .teaches(|person, _, reply| {
            person.letters = reply["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|item| text(&item["messageId"]))
                .collect();
        }),
    read("message", 1, 3, |person| {
        at(format!("/messages/{}", person.letters.pop()?))
    })
    .of_members(),
    read("poll", 1, 4, |person| {
        at(format!("/threads/{}/poll", person.poll()?.thread))
    })
    .of_members()
    .teaches(|person, _, reply| person.sees_poll(reply)),
    read("subscriptions", 1, 2, |_| at("/subscriptions")).of_members(),
    read("search", 10, 2, |_| at("/search?q=still%20here&limit=5")),
    write("POST", "start", 10, 2, |person| {
        let (title, body) = (person.words(), person.words());
        let poll = json!({ "question": "Which?", "options": ["one", "other", "third"] });
        let thread = json!({ "title": title, "body": body, "poll": poll });
        Some(("/forums/2/threads".into(), thread))
    })
    .teaches(|person, _, reply| {
        person.threads.push(text(&reply["threadId"]));
        person.polls.push(Poll {
            poll: text(&reply["pollId"]),
            thread: text(&reply["threadId"]),
            options: Vec::new(),
        });
    }),
    write("POST", "reply", 5, 12, |person| {
        let path = format!("/threads/{}/posts", person.thread());
        Some((path, json!({ "body": person.words() })))
    })
    .teaches(|person, _, reply| {
        person.posts.push(Post {
            thread: text(&reply["threadId"]),
            post: text(&reply["postId"]),
        });
    }),
    write("PATCH", "edit", 5, 4, |person| {
        let path = person.post()?.path();
        Some((path, json!({ "body": person.words() })))
    }),
    write("DELETE", "delete", 5, 1, |person| {
        at(person.posts.pop()?.path())
    }),
    write("POST", "rate", 5, 2, |person| {
        let (user, post) = person.strangers.pop()?;
        let rating = json!({ "points": 1, "comment": person.words(), "postId": post });
        Some((format!("/members/{user}/reputation"), rating))
    }),
    write("POST", "send", 10, 3, |person| {
        let letter =
            json!({ "to": [person.other()], "subject": person.words(), "body": "Still here?" });
        Some(("/messages".into(), letter))
    }),
    write("POST", "vote", 5, 3, |person| {
        let index = person
            .polls
            .iter()
            .position(|poll| !poll.options.is_empty())?;
        let poll = person.polls.swap_remove(index);
        Some((
            format!("/polls/{}/votes", poll.poll),
            json!({ "optionIds": [poll.options[1]] }),
        ))
    }),
    write("PATCH", "edit poll", 5, 1, |person| {
        let path = format!("/polls/{}", person.poll()?.poll);
        Some((path, json!({ "question": person.words() })))
    }),
    write("POST", "follow", 2, 3, |person| {
        let follow = json!({ "target": "thread", "targetId": person.thread() });
        Some(("/subscriptions".into(), follow))
    })
    .teaches(|person, wish, _| person.followed.push(text(&wish["targetId"]))),
    write("DELETE", "unfollow", 2, 1, |person| {
        at(format!("/subscriptions/thread/{}", person.followed.pop()?))
    }),
];
