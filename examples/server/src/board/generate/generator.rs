//! Generates members, threads and posts.

use std::time::Duration;

use forum_api::host::{BoardError, BoardResult};
use forum_api::model::Timestamp;

use super::batch::Batch;
use super::words::Random;
use crate::board::access::board_rules::BoardRules;
use crate::board::access::groups::{Group, Groups};
use crate::board::accounts;
use crate::board::db::{Connection, Transaction, bind};
use crate::board::demo;

#[derive(Clone, Copy, Debug)]
pub struct ContentSize {
    pub members: u64,
    /// Number of threads. Half of them are in General, the others in Help and in Members.
    pub threads: u64,
    /// Number of posts, including the first posts of the threads. Half of the other posts are in one thread of General.
    pub posts: u64,
}

impl ContentSize {
    pub const fn total(&self) -> u64 {
        self.members + self.posts
    }
}

/// Titles of the forums that get content.
const FORUMS: [&str; 3] = ["General", "Help", "Members"];

/// Writes random content and tracks how much is written.
#[derive(Clone, Debug)]
pub struct ContentGenerator {
    amount: ContentSize,
    random: Random,
    general: GeneratedForum,
    help: GeneratedForum,
    members_only: GeneratedForum,
    members: Vec<i64>,
    threads: Vec<i64>,
    posts: u64,
    begin: Timestamp,
    end: Timestamp,
    newest: Timestamp,
}

#[derive(Clone, Copy, Debug)]
struct GeneratedForum {
    id: i64,
    counts: bool,
}

const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

impl ContentGenerator {
    /// Prepares content with times from the board's newest post (or a year ago) until `now`, so that ids follow time.
    /// Finds the forums to fill. Adds them to a board without forums.
    ///
    /// # Errors
    /// [`BoardError::NotFound`] if the board has forums, but not all of these.
    pub async fn begin(
        tx: &Transaction<'_>,
        amount: ContentSize,
        seed: u64,
        now: Timestamp,
    ) -> BoardResult<Self> {
        if !tx.any("SELECT 1 FROM forum", &[]).await? {
            demo::add_forums(tx, &FORUMS, now).await?;
        }
        let [general, help, members_only] = FORUMS;
        let begin = newest(tx).await?.unwrap_or(now.saturating_sub(YEAR));
        Ok(Self {
            amount,
            random: Random::new(seed),
            general: find_forum(tx, general).await?,
            help: find_forum(tx, help).await?,
            members_only: find_forum(tx, members_only).await?,
            members: Vec::new(),
            threads: Vec::new(),
            posts: 0,
            begin,
            end: now,
            newest: begin,
        })
    }

    pub fn generated_items(&self) -> u64 {
        self.members.len() as u64 + self.posts
    }

    /// Writes up to `count` more members and posts, none older than the board's newest post.
    pub async fn generate(&mut self, tx: &Transaction<'_>, count: u64) -> BoardResult<()> {
        self.newest = newest(tx).await?.unwrap_or(self.begin);
        let mut batch = Batch::begin(tx).await?;
        for _ in 0..count {
            if (self.members.len() as u64) < self.amount.members {
                self.add_member(tx).await?;
            } else if self.posts < self.amount.posts {
                self.write(&mut batch);
            }
        }
        let forums = [self.general, self.help, self.members_only];
        let on_profiles: Vec<i64> =
            forums.iter().filter(|forum| forum.counts).map(|forum| forum.id).collect();
        batch.write(tx, &on_profiles).await
    }

    async fn add_member(&mut self, tx: &Transaction<'_>) -> BoardResult<()> {
        let name = format!("{}-{}", self.random.word(), next_member(tx).await?);
        let member = accounts::add(tx, &name, Groups::of([Group::Members]), self.begin).await?;
        self.members.push(member);
        Ok(())
    }

    /// Writes one post. Threads start at even intervals, and the first post starts a thread.
    fn write(&mut self, batch: &mut Batch) {
        let body = self.random.text();
        let author = self.random.choose(&self.members);
        let started = self.threads.len() as u64;
        let amount = self.amount;
        let due = ((self.posts + 1) * amount.threads).div_ceil(amount.posts);
        let thread = match self.threads.split_first() {
            Some((first, others)) if started >= due => {
                let is_for_first = (self.posts - started).is_multiple_of(2);
                match self.random.choose_recent(others) {
                    Some(other) if !is_for_first => other,
                    _ => *first,
                }
            }
            _ => {
                let forum = self.forum().id;
                let title = self.random.title();
                let thread = batch.add_thread(forum, title, author, self.time());
                self.threads.push(thread);
                thread
            }
        };
        batch.add_post(thread, body, author, self.time());
        self.posts += 1;
    }

    fn forum(&self) -> GeneratedForum {
        match self.threads.len() % 4 {
            1 => self.help,
            3 => self.members_only,
            _ => self.general,
        }
    }

    fn time(&self) -> Timestamp {
        let part = (self.posts + 1) as f64 / self.amount.posts as f64;
        let time =
            self.begin.saturating_add(self.end.saturating_duration_since(self.begin).mul_f64(part));
        time.max(self.newest)
    }
}

async fn find_forum(connection: &Connection<'_>, title: &str) -> BoardResult<GeneratedForum> {
    let find = "SELECT id FROM forum WHERE title = ?1 ORDER BY id";
    let [general, help, members_only] = FORUMS;
    let absent = || {
        BoardError::not_found(format!(
            "the board has no forum {title:?}; `generate` fills the forums {general}, {help} and {members_only}; add the missing forum with `forum add`"
        ))
    };
    let id: i64 =
        connection.first(find, bind![title], |row| row.value("id")).await?.ok_or_else(absent)?;
    let counts = BoardRules::load(connection).await?.counts(id);
    Ok(GeneratedForum { id, counts })
}

async fn newest(connection: &Connection<'_>) -> BoardResult<Option<Timestamp>> {
    let find = "SELECT max(created_at) AS newest FROM post";
    connection.one(find, &[], |row| row.value("newest")).await
}

async fn next_member(connection: &Connection<'_>) -> BoardResult<i64> {
    let find = "SELECT coalesce(max(id), 0) + 1 AS next FROM member";
    connection.one(find, &[], |row| row.value("next")).await
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use forum_api::Language;
    use forum_api::model::ContentState;
    use forum_api::runtime::ManualClock;
    use forum_api::store::sqlite::{Database, DatabasePath};

    use super::*;
    use crate::board::ReferenceBoard;
    use crate::board::posts::post_insert::{self, PostInsert};

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    #[tokio::test]
    async fn generated_posts_are_not_older_than_posts_written_meanwhile() {
        let database = Database::open(&DatabasePath::Memory).unwrap();
        let clock = Arc::new(ManualClock::new(NOW));
        let board = ReferenceBoard::new(database, clock, Language::English);
        let (times, threads) = board
            .begin(|tx, now| {
                Box::pin(async move {
                    fill(tx, now).await?;
                    let find = "SELECT created_at FROM post ORDER BY id";
                    let times: Vec<Timestamp> =
                        tx.all(find, &[], |row| row.value("created_at")).await?;
                    let find_threads = "
                        SELECT thread.created_at AS began_at, post.created_at AS first_at
                        FROM thread JOIN post ON post.id = thread.first_post_id";
                    let threads: Vec<(Timestamp, Timestamp)> = tx
                        .all(find_threads, &[], |row| {
                            Ok((row.value("began_at")?, row.value("first_at")?))
                        })
                        .await?;
                    Ok((times, threads))
                })
            })
            .await
            .unwrap()
            .unwrap();
        assert_eq!(times.len(), 10);
        assert!(times.is_sorted(), "{times:?}");
        assert_eq!(threads.len(), 3);
        assert!(threads.iter().all(|(began, first)| began == first), "{threads:?}");
    }

    async fn fill(tx: &Transaction<'_>, now: Timestamp) -> BoardResult<()> {
        let amount = ContentSize { members: 1, threads: 2, posts: 9 };
        let mut generator = ContentGenerator::begin(tx, amount, 1, now).await?;
        generator.generate(tx, 5).await?;
        let new = PostInsert {
            author: None,
            body: "x",
            html: "x",
            state: ContentState::Visible,
            at: now.saturating_add(YEAR),
            counts: false,
            in_reply_to: None,
            subscribe: false,
        };
        post_insert::insert_thread(tx, 1, "x", new).await?;
        generator.generate(tx, 5).await
    }
}
