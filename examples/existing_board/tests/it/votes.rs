//! Votes: an operation of this board only, with its own scope and topic.

use std::time::Duration;

use serde_json::{Value, json};

use crate::added;
use crate::fixture::run_with_postgres;
use crate::site::{Site, TOPIC};

#[test]
fn a_vote_is_counted_once_and_has_an_event() {
    run_with_postgres(async {
        let site = Site::new(Duration::ZERO).await;
        let posts = site.list_posts(TOPIC).await.json();
        let entry = posts["items"][0]["postId"].as_str().unwrap();
        for status in [201, 200] {
            let voted = site.vote(TOPIC, entry).await;
            assert_eq!((voted.status.as_u16(), voted.json()), (status, json!({ "voteCount": 1 })));
        }
        let [event] = &*site.pending_events().await else {
            panic!("one vote has one event");
        };
        let body: Value = serde_json::from_str(&event.body).unwrap();
        assert_eq!(body["topic"], "post.voted");
        let data = json!({ "postId": entry, "votes": { "voteCount": 1 } });
        assert_eq!(body["data"], data);

        assert_eq!(site.vote(TOPIC, "9999").await.status, 404);
        site.change("UPDATE section SET rank = 3", &[]).await;
        assert_eq!(site.vote(TOPIC, entry).await.status, 404);
        let guest = format!("/api/v1/threads/{TOPIC}/posts/{entry}/votes");
        assert_eq!(site.send_as_guest("POST", &guest).await.status, 401);

        let document = added::api(&site.club).unwrap().openapi();
        let operation = &document["paths"]["/threads/{threadId}/posts/{postId}/votes"]["post"];
        assert_eq!(operation["x-scope"], "votes:write");
        let scopes = &document["info"]["x-scopes"];
        assert_eq!(scopes["votes:write"], "Vote for posts.");
        let webhook = &document["webhooks"]["post.voted"]["post"];
        assert_eq!(webhook["operationId"], "onPostVotedEvent");
    });
}

#[test]
fn a_vote_counts_one_that_was_committed_while_it_waited() {
    run_with_postgres(async {
        let site = Site::new(Duration::ZERO).await;
        let posts = site.list_posts(TOPIC).await.json();
        let entry = posts["items"][0]["postId"].as_str().unwrap();
        let id: i64 = entry.parse().unwrap();
        let mut client = site.club.pool.get().await.unwrap();
        let earlier = client.transaction().await.unwrap();
        let lock = "SELECT FROM entry WHERE id = $1 FOR NO KEY UPDATE";
        earlier.execute(lock, &[&id]).await.unwrap();
        let vote = "INSERT INTO vote (entry, member) VALUES ($1, $2)";
        earlier.execute(vote, &[&id, &site.alice]).await.unwrap();
        let commit = async {
            let waiting = "
                SELECT FROM pg_locks
                WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))";
            while earlier.execute(waiting, &[]).await.unwrap() == 0 {
                tokio::task::yield_now().await;
            }
            earlier.commit().await.unwrap();
        };
        let (voted, ()) = tokio::join!(site.vote(TOPIC, entry), commit);
        assert_eq!((voted.status.as_u16(), voted.json()), (200, json!({ "voteCount": 1 })));
    });
}
