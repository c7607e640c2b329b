//! Makes one member or post after the other, with the board's own hands, so that all counts are right.

use std::time::Duration;

use forum_api::host::{Refusal, Result};
use forum_api::model::{State, Timestamp};
use rusqlite::{Connection, OptionalExtension, Savepoint};

use super::super::accounts;
use super::super::actor::Actor;
use super::super::groups::{Group, Groups};
use super::super::insert::{self, NewPost};
use super::Amount;
use super::random::Random;

/// What was made, and what is still to be made.
#[derive(Debug)]
pub struct Maker {
    amount: Amount,
    random: Random,
    general: Place,
    help: Place,
    members_only: Place,
    members: Vec<i64>,
    threads: Vec<Place>,
    posts: u64,
    begin: Timestamp,
    end: Timestamp,
    /// When the board's newest post was written.
    newest: Timestamp,
}

/// A forum or a thread.
#[derive(Clone, Copy, Debug)]
struct Place {
    id: i64,
    /// Whether posts in it count on their authors' profiles.
    counts: bool,
}

const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

impl Maker {
    /// Ready to make it, in the time from the board's newest post (from a year ago where there is none) until `now`:
    /// ids follow time.
    pub fn begin(tx: &Savepoint<'_>, amount: Amount, seed: u64, now: Timestamp) -> Result<Self> {
        let begin = newest(tx)?.unwrap_or(now.minus(YEAR));
        Ok(Self {
            amount,
            random: Random::new(seed),
            general: forum(tx, "General")?,
            help: forum(tx, "Help")?,
            members_only: forum(tx, "Members")?,
            members: Vec::new(),
            threads: Vec::new(),
            posts: 0,
            begin,
            end: now,
            newest: begin,
        })
    }

    /// How much is made.
    pub fn made(&self) -> u64 {
        self.members.len() as u64 + self.posts
    }

    /// Makes so many more, unless all is made. Nothing is older than what others have written meanwhile.
    pub fn make(&mut self, tx: &Savepoint<'_>, count: u64) -> Result<()> {
        self.newest = newest(tx)?.unwrap_or(self.begin);
        (0..count).try_for_each(|_| self.make_one(tx))
    }

    fn make_one(&mut self, tx: &Savepoint<'_>) -> Result<()> {
        if (self.members.len() as u64) < self.amount.members {
            self.add_member(tx)
        } else if self.posts < self.amount.posts {
            self.write(tx)
        } else {
            Ok(())
        }
    }

    fn add_member(&mut self, tx: &Savepoint<'_>) -> Result<()> {
        let name = format!("{}-{}", self.random.word(), next_member(tx)?);
        let member = accounts::add(tx, &name, Groups::of([Group::Members]), self.begin)?;
        self.members.push(member);
        Ok(())
    }

    /// Threads are started at even intervals, and the first post starts one.
    fn write(&mut self, tx: &Savepoint<'_>) -> Result<()> {
        let (body, author) = (self.random.text(), self.random.one_of(&self.members));
        let new = NewPost {
            author,
            body: &body,
            state: State::Visible,
            at: self.time(),
            counts: false,
        };
        let (started, amount) = (self.threads.len() as u64, self.amount);
        let due = ((self.posts + 1) * amount.threads).div_ceil(amount.posts);
        match self.threads.split_first() {
            Some((first, others)) if started >= due => {
                let is_for_first = (self.posts - started).is_multiple_of(2);
                let other = self
                    .random
                    .one_of_the_last(others)
                    .filter(|_| !is_for_first);
                let Place { id, counts } = other.unwrap_or(*first);
                insert::reply(tx, id, NewPost { counts, ..new })?;
            }
            _ => {
                let Place { id: forum, counts } = self.forum();
                let first = NewPost { counts, ..new };
                let (id, _) = insert::thread(tx, forum, &self.random.title(), first)?;
                self.threads.push(Place { id, counts });
            }
        }
        self.posts += 1;
        Ok(())
    }

    /// Where the next thread goes.
    fn forum(&self) -> Place {
        match self.threads.len() % 4 {
            1 => self.help,
            3 => self.members_only,
            _ => self.general,
        }
    }

    /// When the next post is written.
    fn time(&self) -> Timestamp {
        let part = (self.posts + 1) as f64 / self.amount.posts as f64;
        let time = self.begin.plus(self.end.since(self.begin).mul_f64(part));
        time.max(self.newest)
    }
}

fn forum(connection: &Connection, title: &str) -> Result<Place> {
    let mut query =
        connection.prepare_cached("SELECT id FROM forum WHERE title = ?1 ORDER BY id")?;
    let id: Option<i64> = query.query_row([title], |row| row.get(0)).optional()?;
    let id = id.ok_or_else(|| Refusal::NotFound(format!("there is no forum {title:?} to fill")))?;
    let guest = Actor::load(connection, None)?;
    let counts = guest.is_some_and(|guest| guest.access(id).counts);
    Ok(Place { id, counts })
}

fn newest(connection: &Connection) -> rusqlite::Result<Option<Timestamp>> {
    connection.query_row("SELECT max(created_at) FROM post", [], |row| row.get(0))
}

fn next_member(connection: &Connection) -> rusqlite::Result<i64> {
    let mut query = connection.prepare_cached("SELECT ifnull(max(id), 0) + 1 FROM member")?;
    query.query_row([], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::super::super::{STEPS, forums};
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    #[test]
    fn what_is_made_is_newer_than_what_others_write_meanwhile() {
        let mut connection = Connection::open_in_memory().unwrap();
        STEPS
            .iter()
            .for_each(|step| connection.execute_batch(step).unwrap());
        let tx = connection.savepoint().unwrap();
        for title in ["General", "Help", "Members"] {
            let new = forums::NewForum {
                title: title.into(),
                ..forums::NewForum::default()
            };
            forums::add(&tx, &new).unwrap();
        }
        let amount = Amount {
            members: 1,
            threads: 2,
            posts: 9,
        };
        let mut maker = Maker::begin(&tx, amount, 1, NOW).unwrap();
        maker.make(&tx, 5).unwrap();
        let new = NewPost {
            author: None,
            body: "x",
            state: State::Visible,
            at: NOW.plus(YEAR),
            counts: false,
        };
        insert::thread(&tx, 1, "x", new).unwrap();
        maker.make(&tx, 5).unwrap();
        let mut query = tx
            .prepare("SELECT created_at FROM post ORDER BY id")
            .unwrap();
        let times = query.query_map([], |row| row.get(0)).unwrap();
        let times: Vec<Timestamp> = times.map(|time| time.unwrap()).collect();
        assert_eq!(times.len(), 10);
        assert!(times.is_sorted(), "{times:?}");
    }
}
