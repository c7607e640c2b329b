//! What events hold: what they tell of as everybody finds it who sees the forum, and nothing else.

use serde::Serialize;
use serde_json::{Value, json};

use super::events::{poll, scene};
use super::message_fixture::{message, three};
use super::recorded_event::{Told, told};
use super::reputation::rate;
use super::sanitizing::start;
use super::thread_fixture::{Scene, edit, post};
use super::{Audience, Role, Stop, Suite, Verdict, equal, holds};
use crate::webhook::Event;

board_rules!(
    mod event_payload;

    /// A post is told with its thread as a reader finds both afterwards, also when a moderator changed it.
    async fn a_post_is_told_as_everybody_finds_it(suite: &Suite) -> Verdict {
        let Scene { otto, at, .. } = scene(suite).await?;
        let ada = suite.join("ada", Role::Administrator).await?;
        ada.edit_post(&at, &edit("Moderated words"))
            .await?
            .granted()?;
        let told = one(suite).await?;
        let found = told.at("/post");
        equal("the post", found, &lasting(&post(&otto, &at).await?))?;
        let thread = otto.thread(&at.thread).await?.granted()?;
        equal("the thread", told.at("/thread"), &lasting(&thread))
    }

    /// A thread is told as a reader finds it afterwards, and so is its first post with it.
    async fn a_thread_is_told_as_everybody_finds_it(suite: &Suite) -> Verdict {
        let Scene {
            forum, otto, alice, ..
        } = scene(suite).await?;
        let started = alice
            .start_thread(&forum, &start("Kettles", "Which one?"))
            .await?;
        let thread = otto
            .thread(&started.granted()?.thread_id)
            .await?
            .granted()?;
        for told in told(suite).await? {
            let found = told.at("/thread");
            let expected = &lasting(&thread);
            equal(format_args!("the thread of {}", told.of), found, expected)?;
        }
        Ok(())
    }

    /// A poll is told with its totals, as somebody finds it who has not voted.
    async fn a_poll_is_told_as_everybody_finds_it(suite: &Suite) -> Verdict {
        let poll = poll(suite).await?;
        poll.cast(&poll.bob, &[1]).await?.granted()?;
        let told = one(suite).await?;
        let found = told.at("/poll");
        equal("the poll", found, &lasting(&poll.seen(&poll.alice).await?))
    }

    /// Who voted is told to nobody.
    async fn a_vote_is_told_without_its_voter(suite: &Suite) -> Verdict {
        let poll = poll(suite).await?;
        poll.cast(&poll.bob, &[1]).await?.granted()?;
        let told = one(suite).await?;
        equal("the actor", told.at("/actor"), &Value::Null)?;
        let id = format!(r#""userId":"{}""#, poll.bob.id());
        told.hides([poll.bob.name(), &id])
    }

    /// A message is told by its ids: of its subject and its text nothing is told, nor a name.
    async fn a_message_is_told_by_its_ids(suite: &Suite) -> Verdict {
        let (alice, bob, carol) = three(suite).await?;
        let new = message(suite, [bob.by_id(), carol.by_id()]);
        let sent = alice.send_message(&new).await?.granted()?.summary;
        let told = one(suite).await?;
        let ids = json!({
            "messageId": sent.message_id,
            "senderId": alice.id(),
            "recipientIds": sent.recipients.iter().map(|author| &author.user_id).collect::<Vec<_>>(),
        });
        let found = &told.data;
        equal("data", found, &json!({ "message": ids, "actor": null }))?;
        told.hides([&*new.subject, &*new.body, alice.name(), bob.name()])
    }

    /// What was deleted is not told again.
    async fn a_deleted_post_is_told_without_its_text(suite: &Suite) -> Verdict {
        let Scene { alice, at, .. } = scene(suite).await?;
        alice.edit_post(&at, &edit("Regretted")).await?.granted()?;
        told(suite).await?;
        alice.delete_post(&at).await?.granted()?;
        let told = one(suite).await?;
        equal("its state", told.at("/post/state"), "deleted")?;
        told.hides(["Regretted"])
    }

    /// What awaits approval shows in no event of its thread.
    async fn what_awaits_approval_shows_in_no_event(suite: &Suite) -> Verdict {
        let Scene { alice, at, .. } = scene(suite).await?;
        let nora = suite.newcomer("nora").await?;
        let waiting = suite.post(&nora, &at.thread).await?;
        alice
            .edit_post(&at, &edit("Better words"))
            .await?
            .granted()?;
        let told = one(suite).await?;
        told.hides([nora.name(), "awaiting_approval"])?;
        let id = json!(waiting);
        let what = "the last post is one that everybody sees";
        holds(what, *told.at("/thread/lastPost/postId") != id)
    }

    /// Who did it is told: the moderator who edited, not the author.
    async fn who_did_it_is_told(suite: &Suite) -> Verdict {
        let Scene { at, alice, .. } = scene(suite).await?;
        let ada = suite.join("ada", Role::Administrator).await?;
        for editor in [&alice, &ada] {
            editor
                .edit_post(&at, &edit("Other words"))
                .await?
                .granted()?;
            let told = one(suite).await?;
            let expected = json!({ "userId": editor.id(), "username": editor.name() });
            let found = json!({ "userId": told.at("/actor/userId"), "username": told.at("/actor/username") });
            equal("the actor", found, expected)?;
        }
        Ok(())
    }

    /// An event says in which forum it happened, so that nobody is told of it who does not see that.
    async fn an_event_says_where_it_happened(suite: &Suite) -> Verdict {
        let forum = suite.forum(Audience::Staff).await?;
        let (sam, sue) = (
            suite.join("sam", Role::Staff).await?,
            suite.join("sue", Role::Staff).await?,
        );
        let started = sam
            .start_thread(&forum, &start("Kettles", "Which one?"))
            .await?
            .granted()?;
        sue.rate(&sam.by_id(), &rate(1, Some(&started.first_post_id)))
            .await?
            .granted()?;
        let all = told(suite).await?;
        equal("how many events", all.len(), 3)?;
        for told in all {
            let found = &told.forum;
            let expected = &Some(forum.clone());
            equal(format_args!("the forum of {}", told.of), found, expected)?;
            equal("the same in data", told.at("/forum/forumId"), &json!(forum))?;
        }
        Ok(())
    }

    /// A rating without a post is in no forum.
    async fn a_rating_without_a_post_is_in_no_forum(suite: &Suite) -> Verdict {
        let (alice, bob, _) = three(suite).await?;
        alice.rate(&bob.by_id(), &rate(1, None)).await?.granted()?;
        let told = one(suite).await?;
        equal("its forum", &told.forum, &None)?;
        equal("the same in data", told.at("/forum"), &Value::Null)
    }
);

/// The only event since the last time.
async fn one(suite: &Suite) -> Verdict<Told> {
    let mut all = told(suite).await?;
    match (all.pop(), all.is_empty()) {
        (Some(told), true) => Ok(told),
        (last, _) => Err(Stop::broken(
            "what is told",
            format_args!("{all:?} {last:?}"),
            "one event",
        )),
    }
}

/// A resource without what depends on a reader.
fn lasting(resource: &impl Serialize) -> Value {
    let mut resource = json!(resource);
    if let Some(fields) = resource.as_object_mut() {
        fields.retain(|name, _| !Event::OF_A_READER.contains(&name.as_str()));
    }
    resource
}
