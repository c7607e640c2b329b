//! Posts that are changed by those who may: edited, deleted.

use forum_api::host::{In, Refusal, Result};
use forum_api::model::{EditPost, ForumId, Post, State, Timestamp};

use super::actor::Actor;
use super::changes::{self, Change, Window};
use super::db::{Transaction, bind, stored};
use super::events::{EDITED, Events, Happening, REPLY_DELETED, THREAD_DELETED};
use super::item::Item;
use super::settings::{BODY_MAX, EDIT_WINDOW, TITLE_MAX, Values};
use super::texts::Texts;
use super::{markdown, place, posts, rules, search};

/// Gives a post another body. If the posts of its editor await approval, it awaits approval from then on.
pub async fn edit(
    tx: &Transaction<'_>,
    events: &mut Events,
    actor: &Actor,
    (thread, post): (i64, i64),
    edit: &EditPost,
    say: &Texts,
) -> Result<In<Post>> {
    let settings = Values::now(tx).await?;
    let window = settings.of(&EDIT_WINDOW);
    let may = (Change::Edit, window, events.now);
    let mut item = changeable(tx, actor, (thread, post), may, say).await?;
    rules::expected(edit.expected_version, item.version, say)?;
    rules::body(&edit.body, settings.of(&BODY_MAX), say)?;
    if let Some(reason) = &edit.reason {
        rules::reason(reason, settings.of(&TITLE_MAX), say)?;
    }
    let update = "
        UPDATE post SET
            body = :body, body_html = :html, body_words = :words, version = version + 1,
            edited_at = :now, edited_by = :editor, edit_reason = :reason, state = :state
        WHERE id = :post";
    let state = rules::edited_state(item.state, actor.groups);
    let parameters = bind! {
        ":post": post,
        ":state": stored(state),
        ":body": edit.body,
        ":html": markdown::render(&edit.body),
        ":words": search::folded(&edit.body),
        ":now": events.now,
        ":editor": actor.member,
        ":reason": edit.reason,
    };
    tx.change(update, parameters).await?;
    item.follow(tx, state).await?;
    let around = item.around(tx, actor.member).await?;
    let edited = posts::seen(&around, actor, window, events.now)?;
    if item.is_public() {
        events.note(Happening::Post(EDITED, around.into()));
    }
    Ok(In::new(ForumId::from(item.at.forum), edited))
}

/// Soft-deletes a post; the first one with its whole thread.
pub async fn delete(
    tx: &Transaction<'_>,
    events: &mut Events,
    actor: &Actor,
    (thread, post): (i64, i64),
    say: &Texts,
) -> Result<()> {
    let may = (Change::Delete, EDIT_WINDOW.get(tx).await?, events.now);
    let mut item = changeable(tx, actor, (thread, post), may, say).await?;
    let was_public = item.is_public();
    item.shift(tx, State::Deleted).await?;
    if was_public {
        let tell = (THREAD_DELETED, REPLY_DELETED);
        item.note(tx, events, tell).await?;
    }
    Ok(())
}

/// The post, if `actor` sees it and may change it so.
async fn changeable(
    tx: &Transaction<'_>,
    actor: &Actor,
    (thread, post): (i64, i64),
    (change, window, now): (Change, Window, Timestamp),
    say: &Texts,
) -> Result<Item> {
    let spot = place::find(tx, actor, thread, Some(post)).await?;
    let item = Item::load(tx, post).await?.ok_or(Refusal::Absent)?;
    let (access, subject) = (actor.access(spot.forum), item.subject(actor.member));
    match changes::obstacle(access, subject, change, window, now) {
        Some((refusal, text)) => Err(refusal(text(say).into())),
        None => Ok(item),
    }
}
