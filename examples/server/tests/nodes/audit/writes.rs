//! Checks that no acknowledged write is lost.

use std::collections::BTreeMap;

use serde_json::Value;

use super::walk::{Contents, Reader};
use crate::load::Sent;

/// Checks that each successful write exists. Returns their number.
pub async fn check(
    sent: &[Sent],
    contents: &Contents,
    readers: &mut BTreeMap<String, Reader>,
) -> usize {
    posts(sent, contents);
    let mut done = 0;
    for sent in sent
        .iter()
        .filter(|sent| sent.kind.is_write() && sent.is_done())
    {
        let (intent, reply) = (json(&sent.request.body), json_of(sent));
        let reader = readers.get_mut(&sent.budget_owner).unwrap();
        match sent.kind.name {
            "start" => {
                let thread = &contents.threads[text(&reply["threadId"])];
                assert_eq!(thread["title"], intent["title"]);
            }
            "send" => {
                let path = format!("/messages/{}", text(&reply["messageId"]));
                assert_eq!(reader.get(&path).await["subject"], intent["subject"]);
            }
            "vote" => {
                let path = format!("/threads/{}/poll", text(&reply["threadId"]));
                assert_eq!(reader.get(&path).await["ownVote"], intent["optionIds"]);
            }
            _ => {}
        }
        done += 1;
    }
    done
}

/// Checks that each post has its latest body. If the outcome of the last edit is unknown, the previous body is valid as
/// well. Only one client edits a post, one request after the other.
fn posts(sent: &[Sent], contents: &Contents) {
    let mut words: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut deleted = BTreeMap::new();
    for sent in sent {
        let said = text(&json(&sent.request.body)["body"]).to_owned();
        let last = sent.request.path.rsplit('/').next().unwrap().to_owned();
        match (sent.kind.name, sent.response()) {
            ("reply", _) if sent.is_done() => {
                words.insert(text(&json_of(sent)["postId"]).into(), vec![said]);
            }
            ("edit", None) => words.entry(last).or_default().push(said),
            ("edit", _) if sent.is_done() => {
                words.insert(last, vec![said]);
            }
            ("delete", None) => {
                deleted.entry(last).or_insert(false);
            }
            ("delete", _) if sent.is_done() => {
                deleted.insert(last, true);
            }
            _ => {}
        }
    }
    for (post, words) in words {
        let found = contents
            .posts
            .get(&post)
            .unwrap_or_else(|| panic!("{post} is lost"));
        assert!(
            words.iter().any(|words| found["body"] == **words),
            "{words:?} {found:?}"
        );
        match deleted.get(&post) {
            Some(true) => assert_eq!(found["state"], "deleted"),
            Some(false) => {}
            None => assert_eq!(found["state"], "visible"),
        }
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

fn json_of(sent: &Sent) -> Value {
    sent.response().unwrap().json()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
