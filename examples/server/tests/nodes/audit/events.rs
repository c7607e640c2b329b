//! Checks that no event is lost: every receiver got a signed delivery of each change.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::walk::Contents;
use crate::load::Sent;
use crate::receiver::Received;

/// Events of successful writes: the kind of request, the topic, and the object and the field in the event's data that
/// contain the id from the response or the path. `message.sent` and `member.rated` are omitted: only the parties of a
/// message or a rating receive them, and the receiver's endpoint belongs to the administrator.
const EVENTS_OF_WRITES: [(&str, &str, &str, &str); 4] = [
    ("edit", "post.updated", "post", "postId"),
    ("delete", "post.deleted", "post", "postId"),
    ("vote", "poll.voted", "poll", "pollId"),
    ("edit poll", "poll.updated", "poll", "pollId"),
];

/// The received deliveries of each topic and id.
#[derive(Debug, Default)]
pub struct DeliveredEvents(BTreeMap<(String, String), BTreeSet<String>>);

impl DeliveredEvents {
    /// Reads these requests and checks their signatures.
    pub fn new(received: &[Received], secret: &str) -> Self {
        let mut delivered = Self::default();
        for one in received {
            assert!(one.is_signed_with(secret), "{one:?}");
            let (topic, event) = (one.header("x-forum-event").to_owned(), one.json());
            let key = (topic.clone(), about(&topic, &event["data"]));
            delivered.0.entry(key).or_default().insert(one.delivery());
        }
        delivered
    }

    /// Number of deliveries.
    pub fn len(&self) -> usize {
        self.0.values().map(BTreeSet::len).sum()
    }

    fn ids(&self, topic: &str) -> BTreeSet<&str> {
        let keys = self.0.iter().filter(|((of, _), _)| of == topic);
        keys.inspect(|(key, deliveries)| assert_eq!(deliveries.len(), 1, "{key:?}"))
            .map(|((_, id), _)| id.as_str())
            .collect()
    }

    /// Returns whether the deliveries cover all new content and all changes.
    pub fn is_complete(&self, before: &Contents, after: &Contents, sent: &[Sent]) -> bool {
        self.ids("thread.created") == new(&before.threads, &after.threads)
            && self.ids("post.created") == new(&before.posts, &after.posts)
            && self.missing(sent).is_empty()
    }

    /// Returns the changes that lack a delivery.
    pub fn missing(&self, sent: &[Sent]) -> Vec<(String, String)> {
        let mut done: BTreeMap<(String, String), usize> = BTreeMap::new();
        for sent in sent.iter().filter(|sent| sent.is_done()) {
            for (kind, topic, _, field) in EVENTS_OF_WRITES {
                if sent.kind.name == kind {
                    let answer = sent.response().unwrap().json();
                    let in_path = sent.request.path.rsplit('/').next();
                    let id = answer[field].as_str().or(in_path).unwrap().into();
                    *done.entry((topic.into(), id)).or_default() += 1;
                }
            }
        }
        let delivered = |key: &_| self.0.get(key).map_or(0, BTreeSet::len);
        done.retain(|key, times| delivered(key) < *times);
        done.into_keys().collect()
    }
}

fn about(topic: &str, data: &Value) -> String {
    let created = [
        ("", "thread.created", "thread", "threadId"),
        ("", "post.created", "post", "postId"),
    ];
    let mut topics = EVENTS_OF_WRITES.iter().chain(&created);
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
