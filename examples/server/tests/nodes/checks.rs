//! Checks after a load: acknowledged replies exist once, and each event is delivered.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use crate::connection::{ApiClient, Nodes};
use crate::load::Sent;
use crate::postgres::Database;
use crate::random::Random;
use crate::receiver::Receiver;
use crate::wait::wait_until;

/// Sends each reply again with its key. An acknowledged one gets its first response, unless its outcome was not
/// recorded; returns the number of these. Otherwise the outcome may be unknown, or the first request had no effect.
pub async fn repeat(nodes: &Nodes, sent: &[Sent]) -> usize {
    let mut client = ApiClient::new(nodes, Random::new(0));
    let mut unrecorded = 0;
    for sent in sent.iter().filter(|sent| sent.text.is_some()) {
        let repeated = client.send(&sent.request).await.unwrap();
        match sent.acknowledged_reply() {
            Some(_) if repeated.status == 409 => unrecorded += 1,
            Some((_, first)) => {
                assert!(repeated.is_replayed(), "{sent:?} {repeated:?}");
                assert_eq!(repeated.body, first.body);
            }
            None => assert!([201, 409].contains(&repeated.status), "{repeated:?}"),
        }
    }
    unrecorded
}

/// Checks that each acknowledged reply is stored, and none twice. Returns the ids of all.
pub async fn check_posts(database: &Database, sent: &[Sent]) -> BTreeSet<String> {
    let query = "SELECT CAST(id AS TEXT), body FROM post WHERE body LIKE 'Still here %'";
    let rows = database.connect().await.query(query, &[]).await.unwrap();
    let mut posts = BTreeMap::<String, Vec<String>>::new();
    for row in rows {
        posts.entry(row.get(1)).or_default().push(row.get(0));
    }
    for (text, ids) in &posts {
        assert_eq!(ids.len(), 1, "{text}");
    }
    for (text, response) in sent.iter().filter_map(Sent::acknowledged_reply) {
        assert_eq!(response.json()["postId"], posts[text][0], "{text}");
    }
    posts.into_values().flatten().collect()
}

/// Waits until the receiver has accepted the event of each of the posts and of no other, and checks that all requests
/// are signed and that no event has two deliveries.
pub async fn check_deliveries(receiver: &Receiver, secret: &str, posts: &BTreeSet<String>) {
    let mut deliveries = BTreeMap::<String, BTreeSet<String>>::new();
    wait_until("the event of each post", async || {
        for received in iter::from_fn(|| receiver.try_next()) {
            assert!(received.is_signed_with(secret), "{received:?}");
            let post = &received.json()["data"]["post"]["postId"];
            let accepted = deliveries.entry(post.as_str().unwrap().into()).or_default();
            if received.status == Some(204) {
                accepted.insert(received.delivery());
            }
        }
        deliveries.keys().eq(posts) && deliveries.values().all(|accepted| !accepted.is_empty())
    })
    .await;
    let mut repeated = deliveries.iter().filter(|(_, ids)| ids.len() > 1);
    assert_eq!(repeated.next(), None);
}
