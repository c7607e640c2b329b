//! No event is lost: whatever happened on the board was told to every receiver, signed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::walk::Contents;
use crate::load::Sent;
use crate::receiver::Received;

/// Which event a done write causes: its kind, the topic, and where in the event's data the id is that is also in the
/// write's answer or, for want of one, in its path. `message.sent` is left out: it is sent to the parties of a message only,
/// and the receiver's endpoint acts for the administrator.
const CAUSED: [(&str, &str, &str, &str); 5] = [
    ("edit", "post.updated", "post", "postId"),
    ("delete", "post.deleted", "post", "postId"),
    ("rate", "member.rated", "rating", "ratingId"),
    ("vote", "poll.voted", "poll", "pollId"),
    ("edit poll", "poll.updated", "poll", "pollId"),
];

/// What a receiver was told: for each topic and each id, the deliveries.
#[derive(Debug, Default)]
pub struct Told(BTreeMap<(String, String), BTreeSet<String>>);

impl Told {
    /// What these requests say, all of them signed with the secret.
    pub fn new(received: &[Received], secret: &str) -> Self {
        let mut told = Self::default();
        for one in received {
            assert!(one.is_signed_with(secret), "{one:?}");
            let (topic, event) = (one.header("x-forum-event").to_owned(), one.json());
            let key = (topic.clone(), about(&topic, &event["data"]));
            told.0.entry(key).or_default().insert(one.delivery());
        }
        told
    }

    /// How many deliveries there were.
    pub fn len(&self) -> usize {
        self.0.values().map(BTreeSet::len).sum()
    }

    fn ids(&self, topic: &str) -> BTreeSet<&str> {
        let keys = self.0.iter().filter(|((of, _), _)| of == topic);
        keys.inspect(|(key, deliveries)| assert_eq!(deliveries.len(), 1, "{key:?}"))
            .map(|((_, id), _)| id.as_str())
            .collect()
    }

    /// Whether all was told that is new on the board, and all that was done to it.
    pub fn is_complete(&self, before: &Contents, after: &Contents, sent: &[Sent]) -> bool {
        self.ids("thread.created") == new(&before.threads, &after.threads)
            && self.ids("post.created") == new(&before.posts, &after.posts)
            && self.lacks(sent).is_empty()
    }

    /// What was done more often than it was told.
    pub fn lacks(&self, sent: &[Sent]) -> Vec<(String, String)> {
        let mut done: BTreeMap<(String, String), usize> = BTreeMap::new();
        for sent in sent.iter().filter(|sent| sent.is_done()) {
            for (kind, topic, _, field) in CAUSED {
                if sent.kind.name == kind {
                    let answer = sent.answered().unwrap().json();
                    let in_path = sent.ask.path.rsplit('/').next();
                    let id = answer[field].as_str().or(in_path).unwrap().into();
                    *done.entry((topic.into(), id)).or_default() += 1;
                }
            }
        }
        let told = |key: &_| self.0.get(key).map_or(0, BTreeSet::len);
        done.retain(|key, times| told(key) < *times);
        done.into_keys().collect()
    }
}

fn about(topic: &str, data: &Value) -> String {
    let created = [
        ("", "thread.created", "thread", "threadId"),
        ("", "post.created", "post", "postId"),
    ];
    let mut topics = CAUSED.iter().chain(&created);
    let row = topics.find(|(_, of, _, _)| *of == topic);
    row.map_or(String::new(), |(_, _, name, field)| {
        data[name][field].as_str().unwrap().into()
    })
}

fn new<'a>(
    before: &BTreeMap<String, Value>,
    after: &'a BTreeMap<String, Value>,
) -> BTreeSet<&'a str> {
    let new = after.keys().filter(|id| !before.contains_key(*id));
    new.map(String::as_str).collect()
}
