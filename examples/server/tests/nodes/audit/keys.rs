//! Checks that each key's request ran at most once and has one response.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::walk::Contents;
use crate::connection::ApiClient;
use crate::load::Sent;

/// Results of repeated keys.
#[derive(Debug, Default)]
pub struct Repeats {
    /// The first response was replayed.
    pub replayed: usize,
    /// The outcome is unknown.
    pub unknown: usize,
    /// The request had not reached a node before.
    pub first: usize,
    /// The response is about a post that was deleted afterwards.
    pub deleted: usize,
    /// The request was refused, which releases the key.
    pub refused: usize,
}

/// Sends each request with a key again, without rate limits.
pub async fn repeat(sent: &[Sent], connections: &mut ApiClient) -> Repeats {
    let mut repeats = Repeats::default();
    let deletes = sent.iter().filter(|sent| sent.request.method == "DELETE");
    let deleted: BTreeSet<_> = deletes
        .filter_map(|sent| sent.request.path.rsplit('/').next())
        .collect();
    for sent in sent.iter().filter(|sent| sent.has_key) {
        let repeated = connections.send(&sent.request).await.unwrap();
        let is_unknown = repeated.status == 409
            && !repeated.is_replayed()
            && repeated.error_code() == "CONFLICT";
        match sent.response() {
            Some(first) if first.status < 300 && repeated.status == 404 => {
                let post = &first.json()["postId"];
                assert!(
                    post.as_str().is_some_and(|id| deleted.contains(id)),
                    "{sent:?} {repeated:?}"
                );
                repeats.deleted += 1;
            }
            Some(first) if first.status < 300 => {
                assert!(repeated.is_replayed(), "{sent:?} {repeated:?}");
                assert_eq!(
                    (repeated.status, &repeated.body),
                    (first.status, &first.body)
                );
                repeats.replayed += 1;
            }
            Some(_) => repeats.refused += 1,
            None if repeated.is_replayed() => repeats.replayed += 1,
            None if is_unknown => repeats.unknown += 1,
            None => repeats.first += 1,
        }
    }
    repeats
}

/// Checks that no reply and no thread exists twice, whether edited or not.
pub fn check_once(sent: &[Sent], contents: &Contents) {
    let mut said: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (id, post) in &contents.posts {
        let words = post["body"].as_str().unwrap();
        if words.starts_with("Still here ") {
            said.entry(words).or_default().push(id);
        }
    }
    let twice: Vec<_> = said.iter().filter(|(_, posts)| posts.len() > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
    for reply in sent
        .iter()
        .filter(|sent| sent.kind.name == "reply" && sent.is_done())
    {
        let words: Value = serde_json::from_str(&reply.request.body).unwrap();
        let first = reply.response().unwrap().json();
        let posts = said.get(words["body"].as_str().unwrap());
        let other = posts.filter(|posts| first["postId"] != posts[0]);
        assert!(other.is_none(), "{reply:?} {other:?}");
    }
}
