//! Polls as a caller sees them.

use std::sync::LazyLock;

use forum_api::host::{In, Refusal, Result};
use forum_api::model::{ForumId, OptionId, Poll, PollOption, State, Timestamp};

use super::super::actor::Actor;
use super::super::db::{self, Columns, Connection, bind};
use super::super::events::{Events, Happening, OfPoll};
use super::super::sight::{Sight, sees_thread};
use super::rules::Editor;

/// A poll, and what the rules ask of its thread.
#[derive(Clone, Debug)]
pub struct Found {
    /// The forum it is in.
    pub forum: i64,
    /// Whether its thread is there for everybody.
    pub state: State,
    /// Whether its thread is locked.
    pub locked: bool,
    /// The poll.
    pub poll: Poll,
}

impl Found {
    /// The poll, for its caller.
    pub fn answer(self) -> In<Poll> {
        In::new(ForumId::from(self.forum), self.poll)
    }

    /// The poll, for its caller who changed it. It is noted when it is there for everybody who sees the forum.
    pub fn changed(self, events: &mut Events, tell: OfPoll) -> In<Poll> {
        if self.state == State::Visible {
            events.note(Happening::Poll(tell, self.poll.clone()));
        }
        self.answer()
    }

    /// What `actor` is to it.
    pub fn editor(&self, actor: &Actor) -> Editor {
        let author = self.poll.author.as_ref();
        let author = author.and_then(|author| author.user_id.number().ok());
        let access = actor.access(self.forum);
        Editor {
            writer: author.is_some_and(|author| actor.member == Some(author)),
            moderator: access.moderate,
            replies: access.reply,
        }
    }
}

/// A row for each option.
const SELECT: &str = "
    SELECT
        poll.id, thread.forum_id, thread.state, thread.locked,
        poll.thread_id, poll.question, author.id, author.username, author.avatar_url,
        poll.voters, poll.max_choices, poll.can_change_vote, poll.closes_at, poll.version, ballot.id IS NOT NULL,
        option.id, option.text, option.votes, vote.option_id IS NOT NULL
    FROM poll
    JOIN thread ON thread.id = poll.thread_id
    JOIN poll_option AS option ON option.poll_id = poll.id
    LEFT JOIN member AS author ON author.id = thread.author_id
    LEFT JOIN ballot ON ballot.poll_id = poll.id AND ballot.member_id = :member
    LEFT JOIN vote ON vote.ballot_id = ballot.id AND vote.option_id = option.id";

/// The poll of a thread.
pub static OF_THREAD: LazyLock<String> = LazyLock::new(|| query("poll.thread_id"));

static WITH_ID: LazyLock<String> = LazyLock::new(|| query("poll.id"));

fn query(key: &str) -> String {
    let sees = sees_thread();
    format!("{SELECT} WHERE {key} = :key AND {sees} ORDER BY option.position")
}

/// The poll of a thread, as it is `now`.
pub async fn of_thread(
    connection: &Connection<'_>,
    actor: &Actor,
    thread: i64,
    now: Timestamp,
) -> Result<Found> {
    find(connection, actor, &OF_THREAD, thread, now).await
}

/// The poll with this id, as it is `now`.
pub async fn with_id(
    connection: &Connection<'_>,
    actor: &Actor,
    poll: i64,
    now: Timestamp,
) -> Result<Found> {
    find(connection, actor, &WITH_ID, poll, now).await
}

/// In which forum a poll is, for a caller who sees it there.
pub async fn forum(connection: &Connection<'_>, actor: &Actor, poll: i64) -> Result<i64> {
    static QUERY: LazyLock<String> = LazyLock::new(|| {
        let sees = sees_thread();
        format!(
            "SELECT thread.forum_id FROM poll JOIN thread ON thread.id = poll.thread_id WHERE poll.id = :poll AND {sees}"
        )
    });
    let sight = Sight::of(actor);
    let parameters = sight.with(bind! { ":poll": poll });
    let forum = connection.first(&QUERY, &parameters, |columns| columns.value());
    forum.await?.ok_or(Refusal::Absent)
}

async fn find(
    connection: &Connection<'_>,
    actor: &Actor,
    query: &'static str,
    key: i64,
    now: Timestamp,
) -> Result<Found> {
    let sight = Sight::of(actor);
    let parameters = sight.with(bind! { ":key": key });
    let mut found = None;
    let options = connection.all(query, &parameters, |columns| {
        let head = head(columns, now)?;
        add_option(&mut found.get_or_insert(head).poll, columns)
    });
    options.await?;
    found.ok_or(Refusal::Absent)
}

/// What each row says again.
fn head(columns: &mut Columns<'_>, now: Timestamp) -> db::Result<Found> {
    let poll_id = columns.id()?;
    let (forum, state, locked) = (columns.value()?, columns.state()?, columns.value()?);
    let mut poll = Poll {
        poll_id,
        thread_id: columns.id()?,
        question: columns.value()?,
        author: columns.author()?,
        total_votes: columns.count()?,
        max_choices: columns.count()?,
        can_change_vote: columns.value()?,
        closes_at: columns.value()?,
        version: columns.value()?,
        own_vote: columns.value::<bool>()?.then(Vec::new),
        options: Vec::new(),
        closed: false,
    };
    poll.closed = poll.closes_at.is_some_and(|end| end <= now);
    Ok(Found {
        forum,
        state,
        locked,
        poll,
    })
}

fn add_option(poll: &mut Poll, columns: &mut Columns<'_>) -> db::Result<()> {
    let option_id: OptionId = columns.id()?;
    poll.options.push(PollOption {
        option_id: option_id.clone(),
        text: columns.value()?,
        votes: columns.count()?,
    });
    let chosen: bool = columns.value()?;
    let own_vote = poll.own_vote.as_mut().filter(|_| chosen);
    own_vote
        .into_iter()
        .for_each(|vote| vote.push(option_id.clone()));
    Ok(())
}
