//! Replies: written, and their threads followed.

use forum_api::host::{In, Refusal, Result};
use forum_api::model::{ForumId, Post, Reply, State, TargetKind};

use super::actor::Actor;
use super::db::Transaction;
use super::events::{Around, Events, Happening, REPLIED};
use super::insert::{self, NewPost};
use super::settings::{BODY_MAX, EDIT_WINDOW, Values};
use super::texts::Texts;
use super::{flood, place, posts, rules, subscriptions};

/// Writes a reply. It is ordered after all posts of its thread, also if one of them is dated later because a clock was
/// ahead.
pub async fn reply(
    tx: &Transaction<'_>,
    events: &mut Events,
    actor: &Actor,
    thread: i64,
    reply: &Reply,
    say: &Texts,
) -> Result<In<Post>> {
    let spot = place::find(tx, actor, thread, None).await?;
    let (forum, access) = (spot.forum, actor.access(spot.forum));
    if let Some(obstacle) = rules::obstacle(access, spot.state, spot.locked) {
        return Err(Refusal::Forbidden(obstacle(say).into()));
    }
    let settings = Values::now(tx).await?;
    rules::body(&reply.body, settings.of(&BODY_MAX), say)?;
    flood::check(tx, actor, &settings, events.now, say).await?;
    let new = NewPost {
        author: actor.member,
        body: &reply.body,
        state: rules::first_state(actor.groups),
        at: events.now,
        counts: access.counts,
    };
    let ordered_at = new.at.max(spot.last_ordered_at);
    let post = insert::reply(tx, (forum, thread), new, ordered_at).await?;
    if reply.subscribe {
        subscriptions::put(tx, actor, forum, (TargetKind::Thread, thread), events.now).await?;
    }
    let around = Around::load(tx, thread, Some(post), actor.member).await?;
    let post = posts::seen(&around, actor, settings.of(&EDIT_WINDOW), events.now)?;
    if new.state == State::Visible {
        events.note(Happening::Post(REPLIED, around.into()));
    }
    Ok(In::new(ForumId::from(forum), post))
}
