//! Polls: read, voted in and edited. One is written with its thread.

mod draft;
mod read;
mod rows;
mod rules;
#[cfg(test)]
mod sample;
pub mod texts;

use forum_api::host::{In, Result};
use forum_api::model::{EditPoll, NewPoll, Poll, Timestamp, Vote};
use forum_api::webhook::Event;

use super::actor::Actor;
use super::db::{Connection, Transaction};
use super::events::Events;
use super::rules::expected;
use super::settings::{OPTIONS_MAX, TITLE_MAX};
use super::texts::Texts;
use draft::Limits;
pub use draft::{Choice, Draft};
use read::Found;
#[cfg(test)]
pub use read::OF_THREAD;
pub use read::forum;
pub use rows::add;

/// The poll of a thread, as it is `now`.
pub async fn of_thread(
    connection: &Connection<'_>,
    actor: &Actor,
    thread: i64,
    now: Timestamp,
) -> Result<In<Poll>> {
    let found = read::of_thread(connection, actor, thread, now).await;
    found.map(Found::answer)
}

/// The poll that a new thread is to carry, if it can.
pub async fn draft<'a>(
    tx: &Transaction<'_>,
    poll: &'a NewPoll,
    now: Timestamp,
    say: &Texts,
) -> Result<Draft<'a>> {
    draft::new(poll, limits(tx).await?, now, say)
}

/// Votes, or changes the vote.
pub async fn vote(
    tx: &Transaction<'_>,
    events: &mut Events,
    actor: &Actor,
    poll: i64,
    vote: &Vote,
    say: &Texts,
) -> Result<In<Poll>> {
    let found = read::with_id(tx, actor, poll, events.now).await?;
    rules::may_change(found.state, say)?;
    let options = rules::vote(&found.poll, vote, say)?;
    if found.poll.own_vote.is_some() {
        rows::take_back(tx, poll, actor.member).await?;
    }
    rows::cast(tx, poll, actor.member, &options).await?;
    let found = read::with_id(tx, actor, poll, events.now).await?;
    Ok(found.changed(events, Event::poll_voted))
}

/// Edits a poll.
pub async fn edit(
    tx: &Transaction<'_>,
    events: &mut Events,
    actor: &Actor,
    poll: i64,
    edit: &EditPoll,
    say: &Texts,
) -> Result<In<Poll>> {
    let found = read::with_id(tx, actor, poll, events.now).await?;
    rules::may_change(found.state, say)?;
    let editor = found.editor(actor);
    rules::may_edit(editor, found.locked, say)?;
    expected(edit.expected_version, found.poll.version, say)?;
    let draft = draft::edited(&found.poll, edit, limits(tx).await?, say)?;
    if !editor.moderator {
        let largest_vote = rows::largest_vote(tx, poll).await?;
        rules::may_become(&found.poll, &draft, largest_vote, say)?;
    }
    rows::update(tx, poll, &draft).await?;
    let found = read::with_id(tx, actor, poll, events.now).await?;
    Ok(found.changed(events, Event::poll_updated))
}

async fn limits(tx: &Transaction<'_>) -> Result<Limits> {
    Ok(Limits {
        text: TITLE_MAX.get(tx).await?,
        options: OPTIONS_MAX.get(tx).await?,
    })
}
