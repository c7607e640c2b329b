//! A copy of the public content of a board, which its events keep up to date.

use std::collections::BTreeMap;

use crate::prelude::*;

/// Threads, posts and polls of the events, by number. The posts of a deleted thread stay.
#[derive(Default)]
pub struct Mirror {
    threads: BTreeMap<u64, Value>,
    deleted_threads: BTreeSet<u64>,
    posts: BTreeMap<u64, Value>,
    deleted_posts: BTreeSet<u64>,
    /// Polls by the number of their thread. An event of a new thread does not contain the poll, which is read.
    polls: BTreeMap<u64, Value>,
    reputations: BTreeMap<u64, Value>,
}

impl Mirror {
    /// Applies events. Returns the first one that does not follow from what the mirror has.
    pub fn apply(&mut self, events: &Value) -> Option<String> {
        let mut events = events.as_array().unwrap().iter();
        let fault = events.find(|event| !self.apply_one(event));
        fault.map(|event| format!("the mirror cannot apply {event}"))
    }

    fn apply_one(&mut self, event: &Value) -> bool {
        let data = &event["data"];
        let topic = event["topic"].as_str().unwrap();
        if topic == "member.rated" {
            let rating = &data["rating"];
            self.reputations.insert(number_of(rating, "userId"), rating["reputation"].clone());
            return true;
        }
        let thread = &data["thread"];
        let id = number_of(thread, "threadId");
        let was_known = self.threads.insert(id, thread.clone()).is_some();
        let is_deleted = self.deleted_threads.contains(&id);
        let is_possible = match topic {
            "thread.created" => !was_known,
            "thread.restored" => self.deleted_threads.remove(&id),
            "thread.deleted" => was_known && self.deleted_threads.insert(id),
            _ => was_known && !is_deleted,
        };
        is_possible
            && match topic.split_once('.') {
                Some(("post", change)) => self.apply_post(change, &data["post"]),
                Some(("poll", _)) => self.polls.insert(id, data["poll"].clone()).is_some(),
                _ => true,
            }
    }

    fn apply_post(&mut self, change: &str, post: &Value) -> bool {
        let id = number_of(post, "postId");
        let was_known = self.posts.insert(id, post.clone()).is_some();
        match change {
            "created" => !was_known,
            "restored" => self.deleted_posts.remove(&id),
            "deleted" => was_known && self.deleted_posts.insert(id),
            _ => was_known && !self.deleted_posts.contains(&id),
        }
    }

    /// Returns whether a new thread has a poll, which the next comparison reads.
    pub fn lacks_poll(&self) -> bool {
        let mut threads = self.threads.iter();
        threads.any(|(id, thread)| !thread["pollId"].is_null() && !self.polls.contains_key(id))
    }

    /// Compares the mirror with the board, and reads missing polls. What awaits approval is not compared.
    pub fn difference(&mut self, board: &Value) -> Option<String> {
        let entries = board["threads"].as_array().unwrap().iter();
        let mut threads = entries.filter(|entry| entry["thread"].is_object());
        let members = board["members"].as_array().unwrap();
        let of_members = members.iter().find_map(|member| {
            let known = self.reputations.get(&number_of(member, "userId"));
            compare(known.unwrap_or(&json!(0)), &member["reputation"])
        });
        of_members.or_else(|| threads.find_map(|entry| self.difference_of_thread(entry)))
    }

    fn difference_of_thread(&mut self, entry: &Value) -> Option<String> {
        let thread = &entry["thread"];
        let id = number_of(thread, "threadId");
        let is_shown = self.threads.contains_key(&id) && !self.deleted_threads.contains(&id);
        match thread["state"].as_str().unwrap() {
            "visible" if !is_shown => return Some(format!("the mirror has no {thread}")),
            "deleted" if is_shown => return Some(format!("the mirror has {thread}")),
            "visible" => {}
            _ => return None,
        }
        let all_posts = entry["posts"].as_array().unwrap();
        let awaits = |post: &Value| post["state"] == "awaiting_approval";
        // The counts of the mirror contain a post whose edit awaits approval.
        let fields: &[&str] = if all_posts.iter().any(awaits) {
            &["title", "locked", "pinned"]
        } else {
            &["title", "locked", "pinned", "replyCount", "lastActivityAt", "lastPost"]
        };
        let poll = &entry["poll"];
        if poll.is_object() {
            self.polls.entry(id).or_insert_with(|| poll.clone());
        }
        let of_thread = compare_fields(&self.threads[&id], thread, fields);
        let of_poll = self.polls.get(&id).and_then(|known| {
            compare_fields(known, poll, &["question", "options", "totalVotes", "closesAt"])
        });
        let mut posts = all_posts.iter().filter(|post| !awaits(post));
        of_thread.or(of_poll).or_else(|| posts.find_map(|post| self.difference_of_post(post)))
    }

    fn difference_of_post(&self, post: &Value) -> Option<String> {
        let id = number_of(post, "postId");
        let known = self.posts.get(&id).filter(|_| !self.deleted_posts.contains(&id));
        match (known, post["state"] == "deleted") {
            (None, true) => None,
            (None, false) => Some(format!("the mirror has no {post}")),
            (Some(_), true) => Some(format!("the mirror has {post}")),
            // A new title changes the first post without an event of its own.
            (Some(known), _) if post["number"] == 1 => compare_fields(known, post, &["body"]),
            (Some(known), _) => compare_fields(known, post, &["body", "number", "editedAt"]),
        }
    }
}

fn number_of(resource: &Value, field: &str) -> u64 {
    resource[field].as_u64().unwrap()
}

fn compare_fields(known: &Value, resource: &Value, fields: &[&str]) -> Option<String> {
    fields.iter().find_map(|field| compare(&known[*field], &resource[*field]))
}

fn compare(known: &Value, expected: &Value) -> Option<String> {
    (known != expected).then(|| format!("the mirror has {known}, and the board {expected}"))
}
