//! Commands that run at the same time on two nodes that share a Postgres.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use forum_api::Language;
use forum_api::store::postgres::deadpool_postgres::Client;
use forum_api::test_util::TestApi;
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::backend::Backend;
use crate::board::groups::{Group, Groups};
use crate::board::{accounts, settings};
use crate::demo::{Demo, all, body, code, posts_of};
use crate::postgres::run_with_postgres;

/// A request of a member.
#[derive(Clone)]
struct Ask {
    member: i64,
    method: &'static str,
    path: String,
    body: Value,
}

fn post(member: i64, path: impl Into<String>, body: Value) -> Ask {
    Ask {
        member,
        method: "POST",
        path: path.into(),
        body,
    }
}

fn delete(member: i64, path: impl Into<String>) -> Ask {
    Ask {
        method: "DELETE",
        ..post(member, path, Value::Null)
    }
}

/// Two nodes on the demo board, without a minimum interval between posts.
struct Race {
    demo: Demo,
    other: TestApi,
    /// Members without content.
    members: Vec<i64>,
}

impl Race {
    async fn new() -> Arc<Self> {
        let place = Backend::Postgres.place().await;
        place.add_endpoint().await;
        let demo = Demo::within(place, Language::English).await;
        demo.set(settings::POST_INTERVAL.key, "0").await;
        let add = demo.board.write(|tx, events| {
            Box::pin(async move {
                let (mut members, groups) = (Vec::new(), Groups::of([Group::Members]));
                for number in 0..12 {
                    let name = format!("racer{number}");
                    members.push(accounts::add(tx, &name, groups, events.now).await?);
                }
                Ok(members)
            })
        });
        Arc::new(Self {
            members: add.await.unwrap(),
            other: demo.another_node(),
            demo,
        })
    }

    /// Sends all requests at the same time, every second one to the other node. Returns the responses in order.
    async fn all(self: &Arc<Self>, asks: Vec<Ask>) -> Vec<(u16, Value)> {
        let mut sent = JoinSet::new();
        for (number, ask) in asks.into_iter().enumerate() {
            let race = self.clone();
            sent.spawn(async move { (number, race.send(number, &ask).await) });
        }
        let answers: BTreeMap<_, _> = sent.join_all().await.into_iter().collect();
        answers.into_values().collect()
    }

    async fn send(&self, node: usize, ask: &Ask) -> (u16, Value) {
        let api = match node % 2 {
            0 => &self.demo.api,
            _ => &self.other,
        };
        let client = api.as_member(&ask.member.to_string());
        let answer = match ask.method {
            "DELETE" => client.delete(&ask.path).await,
            "PATCH" => client.patch(&ask.path, &ask.body).await,
            _ => client.post(&ask.path, &ask.body).await,
        };
        let json = match answer.status {
            204 => Value::Null,
            _ => answer.json(),
        };
        (answer.status, json)
    }

    /// Returns the numbers of responses with each status.
    async fn statuses(self: &Arc<Self>, asks: Vec<Ask>) -> BTreeMap<u16, usize> {
        let mut counts = BTreeMap::new();
        for (status, _) in self.all(asks).await {
            *counts.entry(status).or_default() += 1;
        }
        counts
    }

    /// Starts a thread in General and returns the path of its posts.
    async fn thread(&self, member: i64, title: &str) -> String {
        let general = self.demo.threads_of("General").await;
        let new = json!({ "title": title, "body": "x" });
        let (status, thread) = self.send(0, &post(member, general, new)).await;
        assert_eq!(status, 201, "{thread}");
        posts_of(&thread)
    }

    async fn id(&self, name: &'static str) -> i64 {
        self.demo.id(name).await
    }

    async fn client(&self) -> Client {
        self.demo.pool().get().await.unwrap()
    }

    /// Compares all counters with what they count.
    async fn recount(&self) {
        let client = self.client().await;
        let rows = client
            .query(include_str!("recount.sql"), &[])
            .await
            .unwrap();
        let wrong: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        assert_eq!(wrong, [] as [&str; 0]);
    }

    /// Returns the response to `ask` if `change` commits after the command has begun.
    async fn overtaken(self: &Arc<Self>, change: &str, ask: Ask) -> (u16, Value) {
        let client = self.client().await;
        client.batch_execute("BEGIN").await.unwrap();
        client.batch_execute(change).await.unwrap();
        let race = self.clone();
        let asked = tokio::spawn(async move { race.send(0, &ask).await });
        let waiting = "SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while client
            .query_one(waiting, &[])
            .await
            .unwrap()
            .get::<_, i64>(0)
            == 0
        {
            assert!(!asked.is_finished(), "the command did not wait: {change}");
            tokio::time::sleep(Duration::from_millis(5)).await;
            // The statistics are those of the beginning of the transaction.
            let renew = "SELECT pg_stat_clear_snapshot()";
            client.query(renew, &[]).await.unwrap();
        }
        client.batch_execute("COMMIT").await.unwrap();
        asked.await.unwrap()
    }
}

fn number(id: &str) -> i64 {
    id.parse().unwrap()
}

#[test]
fn concurrent_replies_are_numbered_in_the_order_of_their_ids() {
    run_with_postgres(async {
        let race = Race::new().await;
        let threads = [
            race.thread(race.members[0], "One").await,
            race.thread(race.members[1], "Two").await,
        ];
        for _ in 0..4 {
            let asks = race.members.iter().enumerate();
            let asks =
                asks.map(|(number, member)| post(*member, &threads[number % 2], body("A reply")));
            assert_eq!(race.statuses(asks.collect()).await, [(201, 12)].into());
        }
        for thread in &threads {
            let (_, list) = race.demo.get("guest", &format!("{thread}?limit=100")).await;
            let numbers = list["items"].as_array().unwrap().iter();
            let numbers: Vec<_> = numbers
                .map(|post| post["number"].as_u64().unwrap())
                .collect();
            assert_eq!(numbers, Vec::from_iter(1..=25));
            let ids = all(&list, "postId").into_iter().map(number);
            assert!(ids.is_sorted());
        }
        race.recount().await;
    });
}

#[test]
fn a_reply_sees_the_lock_and_the_deletion_of_its_thread_and_the_ban_of_its_author() {
    run_with_postgres(async {
        let race = Race::new().await;
        let (thread, member) = (race.thread(race.members[0], "One").await, race.members[1]);
        let id = thread.split('/').nth(2).unwrap();
        let reply = || post(member, &thread, body("x"));
        for (change, undo, expected) in [
            (
                format!("UPDATE thread SET locked = TRUE WHERE id = {id}"),
                format!("UPDATE thread SET locked = FALSE WHERE id = {id}"),
                (403, "FORBIDDEN"),
            ),
            (
                format!("UPDATE thread SET state = 'deleted' WHERE id = {id}"),
                format!("UPDATE thread SET state = 'visible' WHERE id = {id}"),
                (404, "not_found"),
            ),
            (
                format!("UPDATE member SET banned = TRUE WHERE id = {member}"),
                format!("UPDATE member SET banned = FALSE WHERE id = {member}"),
                (403, "FORBIDDEN"),
            ),
        ] {
            let refused = race.overtaken(&change, reply()).await;
            assert_eq!(code(&refused), expected, "{change}");
            race.client().await.batch_execute(&undo).await.unwrap();
            assert_eq!(race.send(0, &reply()).await.0, 201, "{undo}");
        }
        race.recount().await;
    });
}

#[test]
fn a_refused_reply_does_not_affect_concurrent_replies() {
    run_with_postgres(async {
        let race = Race::new().await;
        let thread = race.thread(race.members[0], "One").await;
        let asks = race.members.iter().enumerate().map(|(number, member)| {
            let text = if number % 3 == 0 { " " } else { "Words" };
            post(*member, &thread, body(text))
        });
        let statuses = race.statuses(asks.collect()).await;
        assert_eq!(statuses, [(201, 8), (422, 4)].into());
        race.recount().await;
    });
}

#[test]
fn concurrent_posts_of_one_member_keep_to_the_flood_limits() {
    run_with_postgres(async {
        let race = Race::new().await;
        let mut threads = Vec::new();
        for title in ["One", "Two", "Three", "Four"] {
            threads.push(race.thread(race.members[0], title).await);
        }
        let general = race.demo.threads_of("General").await;
        let asks = |member: i64| {
            let replies = threads.iter().cycle().take(10);
            let replies = replies.map(move |thread| post(member, thread, body("x")));
            let start = json!({ "title": "x", "body": "x" });
            let starts = [(); 2].map(|()| post(member, &general, start.clone()));
            replies.chain(starts).collect::<Vec<_>>()
        };
        race.demo.set(settings::POSTS_PER_HOUR.key, "3").await;
        let statuses = race.statuses(asks(race.members[1])).await;
        assert_eq!(statuses, [(201, 3), (429, 9)].into());
        race.demo.set(settings::POST_INTERVAL.key, "15").await;
        let statuses = race.statuses(asks(race.members[2])).await;
        assert_eq!(statuses, [(201, 1), (422, 11)].into());
        race.recount().await;
    });
}

#[test]
fn a_member_votes_and_rates_once() {
    run_with_postgres(async {
        let race = Race::new().await;
        let general = race.demo.threads_of("General").await;
        let poll = json!({ "question": "Which?", "options": ["A", "B"] });
        let new = json!({ "title": "x", "body": "x", "poll": poll });
        let (_, thread) = race.send(0, &post(race.members[0], general, new)).await;
        let (_, poll) = race
            .demo
            .get("alice", &posts_of(&thread).replace("posts", "poll"))
            .await;
        let votes = format!("/polls/{}/votes", poll["pollId"].as_str().unwrap());
        let ratings = format!("/members/{}/reputation", race.members[0]);
        let mut asks = Vec::new();
        for member in &race.members[1..5] {
            for option in 0..2 {
                let vote = json!({ "optionIds": [poll["options"][option]["optionId"]] });
                asks.push(post(*member, &votes, vote));
            }
        }
        let statuses = race.statuses(asks).await;
        assert_eq!(statuses, [(201, 4), (409, 4)].into());
        let rating = json!({ "points": 1, "comment": "x" });
        let twice = race.members[1..5].iter().flat_map(|member| [*member; 2]);
        let asks = twice.map(|member| post(member, &ratings, rating.clone()));
        let statuses = race.statuses(asks.collect()).await;
        assert_eq!(statuses, [(201, 4), (409, 4)].into());
        race.recount().await;
    });
}

#[test]
fn concurrent_messages_do_not_exceed_the_inbox_quota() {
    run_with_postgres(async {
        let race = Race::new().await;
        race.demo.set(settings::INBOX_QUOTA.key, "3").await;
        let (to, senders) = race.members.split_first().unwrap();
        let message = json!({ "to": [to.to_string()], "subject": "x", "body": "x" });
        let asks = senders
            .iter()
            .map(|sender| post(*sender, "/messages", message.clone()));
        let statuses = race.statuses(asks.collect()).await;
        assert_eq!(statuses, [(201, 3), (422, 8)].into());
        race.recount().await;
    });
}

/// Each of two members locks both.
#[test]
fn members_who_message_and_rate_each_other_do_not_deadlock() {
    run_with_postgres(async {
        let race = Race::new().await;
        let before = deadlocks(&race).await;
        for round in 0..6 {
            let mut asks = Vec::new();
            for pair in race.members.chunks_exact(2) {
                for (from, to) in [(pair[0], pair[1]), (pair[1], pair[0])] {
                    let message = json!({ "to": [to.to_string()], "subject": "x", "body": "x" });
                    asks.push(post(from, "/messages", message));
                    if round == 0 {
                        let rating = json!({ "points": 1, "comment": "x" });
                        asks.push(post(from, format!("/members/{to}/reputation"), rating));
                    }
                }
            }
            let count = asks.len();
            assert_eq!(race.statuses(asks).await, [(201, count)].into());
        }
        race.recount().await;
        assert_eq!(deadlocks(&race).await, before);
    });
}

async fn deadlocks(race: &Race) -> i64 {
    let client = race.client().await;
    let count = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    client.query_one(count, &[]).await.unwrap().get(0)
}

#[test]
fn a_deferred_statement_that_fails_undoes_the_write() {
    run_with_postgres(async {
        let race = Race::new().await;
        let member = race.members[0];
        let write = race.demo.board.write(move |tx, _| {
            Box::pin(async move {
                for update in [
                    "UPDATE member SET reputation = 1 WHERE id = :id",
                    "UPDATE member SET username = NULL WHERE id = :id",
                ] {
                    tx.defer(update, crate::board::db::own! { ":id": member })?;
                }
                Ok(())
            })
        });
        assert!(write.await.is_err());
        let query = "SELECT reputation FROM member WHERE id = $1";
        let row = race.client().await.query_one(query, &[&member]).await;
        assert_eq!(row.unwrap().get::<_, i64>(0), 0);
    });
}

/// The second statement of each transaction is sent with its commit.
#[test]
fn a_transaction_that_a_deadlock_ends_runs_again() {
    run_with_postgres(async {
        let race = Race::new().await;
        let both = Arc::new(Barrier::new(2));
        let write = |[first, second]: [i64; 2]| {
            let (both, is_repeated) = (both.clone(), Arc::new(AtomicBool::new(false)));
            let board = race.demo.board.clone();
            let write = async move {
                let write = board.write(move |tx, _| {
                    Box::pin(async move {
                        let update = "UPDATE member SET reputation = reputation + 1 WHERE id = ?1";
                        tx.change(update, crate::board::db::bind![first]).await?;
                        if !is_repeated.swap(true, Ordering::SeqCst) {
                            both.wait().await;
                        }
                        tx.defer(update, crate::board::db::own! { "?1": second })?;
                        Ok(())
                    })
                });
                write.await
            };
            tokio::spawn(write)
        };
        let [one, two] = [race.members[0], race.members[1]];
        let written = [write([one, two]), write([two, one])];
        for write in written {
            write.await.unwrap().unwrap();
        }
        let client = race.client().await;
        let query = "SELECT sum(reputation)::BIGINT FROM member WHERE id IN ($1, $2)";
        let sum: i64 = client.query_one(query, &[&one, &two]).await.unwrap().get(0);
        assert_eq!(sum, 4);
    });
}

/// Members reply, start threads, edit, rate, send messages and vote, moderators delete, and an operator approves and
/// restores, all at the same time.
#[test]
fn counters_equal_a_recount_after_concurrent_writes() {
    run_with_postgres(async {
        let race = Race::new().await;
        let (moderator, newbie) = (race.id("mod").await, race.id("newbie").await);
        let general = race.demo.threads_of("General").await;
        let mut threads = Vec::new();
        for title in ["One", "Two", "Three"] {
            threads.push(race.thread(race.members[0], title).await);
        }
        let mut written: Vec<(i64, String)> = Vec::new();
        for round in 0..5 {
            let mut asks = Vec::new();
            for (number, member) in race.members.iter().enumerate() {
                asks.push(post(*member, &threads[number % 3], body("A reply")));
                if number % 4 == 0 {
                    let new = json!({ "title": "x", "body": "x" });
                    asks.push(post(*member, &general, new));
                }
            }
            asks.push(post(newbie, &threads[round % 3], body("Awaits approval")));
            for (number, (author, path)) in written.drain(..).enumerate() {
                match number % 3 {
                    0 => asks.push(delete(moderator, path)),
                    1 => asks.push(Ask {
                        method: "PATCH",
                        ..post(author, path, body("Edited"))
                    }),
                    _ => {}
                }
            }
            let operator = operate(&race);
            let (answers, ()) = tokio::join!(race.all(asks), operator);
            for (status, answer) in answers {
                assert!(matches!(status, 200 | 201 | 204), "{status} {answer}");
                if let (Some(post), Some(thread)) =
                    (answer["postId"].as_str(), answer["threadId"].as_str())
                {
                    let author = number(answer["author"]["userId"].as_str().unwrap());
                    if author != newbie {
                        written.push((author, format!("/threads/{thread}/posts/{post}")));
                    }
                }
            }
            race.recount().await;
        }
        // A whole thread is deleted while members reply to it.
        let first = race.demo.get("mod", &threads[0]).await.1["items"][0]["postId"].clone();
        let first = format!("{}/{}", threads[0], first.as_str().unwrap());
        let replies = race
            .members
            .iter()
            .map(|member| post(*member, &threads[0], body("x")));
        let mut asks: Vec<_> = replies.collect();
        asks.insert(6, delete(moderator, first));
        let answers = race.all(asks).await;
        assert_eq!(answers[6].0, 204);
        assert!(
            answers
                .iter()
                .all(|(status, _)| matches!(status, 201 | 204 | 404)),
            "{answers:?}"
        );
        race.recount().await;
    });
}

/// Approves the posts that await approval, and restores the deleted ones.
async fn operate(race: &Race) {
    let find = "SELECT id, state FROM post WHERE state <> 'visible' ORDER BY id LIMIT 6";
    let rows = race.client().await.query(find, &[]).await.unwrap();
    for row in rows {
        let post: i64 = row.get(0);
        match row.get::<_, String>(1).as_str() {
            "deleted" => race.demo.restore(post).await.unwrap(),
            _ => race.demo.approve(post).await.unwrap(),
        }
    }
}
