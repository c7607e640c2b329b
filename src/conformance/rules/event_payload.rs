//! Payloads of events: the public view of their subject.

use serde::Serialize;
use serde_json::{Value, json};

use super::events::{recorded_poll, recorded_thread};
use super::reputation::new_rating;
use super::*;
use crate::webhook::{Event, Topic};

board_rules! {
    mod event_payload, __rules_event_payload;

    /// A post event contains the post and its thread as a reader finds both afterwards, even if a moderator made the
    /// edit.
    async fn a_post_event_has_the_public_view(suite: &Suite) -> TestResult {
        let ThreadFixture { otto, alice, reply, .. } = recorded_thread(suite).await?;
        let by_moderators = suite.require(Capability::ModeratorEdits).is_ok();
        let editor = if by_moderators { suite.admin("ada").await? } else { alice };
        editor.edit(&reply, "Other words").await.expect_ok()?;
        let event = only(suite.recorded().await?)?;
        check_public_view(&event, "/post", &otto.fetch_post(&reply).await?)?;
        check_public_view(&event, "/thread", &otto.fetch_thread(&reply.thread_id).await?)
    }

    /// The event of a new title, `thread.updated`, contains the thread with this title.
    async fn the_event_of_a_new_title_has_this_title(suite: &Suite) -> TestResult {
        suite.require(Capability::TitleEdits)?;
        let ThreadFixture { otto, alice, first, .. } = recorded_thread(suite).await?;
        otto.edit_title(&first, "Kettles").await.expect_ok()?;
        let event = only(suite.recorded().await?)?;
        check_eq!(event.name, event_name(&Topic::THREAD_UPDATED, &first.thread_id))?;
        check_public_view(&event, "/thread", &alice.fetch_thread(&first.thread_id).await?)?;
        check_eq!(event.value("/thread/title"), "Kettles")
    }

    /// The events of a new thread contain the thread as a reader finds it afterwards.
    async fn a_thread_event_has_the_public_view(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, otto, alice, .. } = recorded_thread(suite).await?;
        let id = alice.start_thread(&forum, "Kettles", "Which one?").await.expect_ok()?.thread_id;
        let thread = otto.fetch_thread(&id).await?;
        let events = suite.recorded().await?;
        check_eq!(events.len(), 2)?;
        for event in &events {
            check_public_view(event, "/thread", &thread)?;
        }
        Ok(())
    }

    /// A poll event contains the poll as a reader without a vote finds it.
    async fn a_poll_event_has_the_public_view(suite: &Suite) -> TestResult {
        let poll = recorded_poll(suite).await?;
        poll.vote(&poll.bob, &[1]).await.expect_ok()?;
        let event = only(suite.recorded().await?)?;
        check_public_view(&event, "/poll", &poll.fetch(&poll.alice).await?)
    }

    /// A vote event does not contain the voter. Its actor is null.
    async fn a_vote_event_omits_the_voter(suite: &Suite) -> TestResult {
        let poll = recorded_poll(suite).await?;
        poll.vote(&poll.bob, &[1]).await.expect_ok()?;
        let event = only(suite.recorded().await?)?;
        check_eq!(event.value("/actor"), &Value::Null)?;
        event.omits(&[poll.bob.name(), &format!(r#""userId":"{}""#, poll.bob.id())])
    }

    /// A message event contains only ids, without the subject, the text and names.
    async fn a_message_event_has_only_ids(suite: &Suite) -> TestResult {
        let [alice, bob, carol] = three_members(suite).await?;
        let new = new_message(suite, suite.recipients(&[bob.id_ref(), carol.id_ref()]));
        let sent = alice.send_message(&new).await.expect_ok()?.summary;
        let event = only(suite.recorded().await?)?;
        let recipients = sent.recipients.iter().map(|author| &author.user_id);
        let message = json!({
            "messageId": sent.message_id,
            "senderId": alice.id(),
            "recipientIds": recipients.collect::<Vec<_>>(),
        });
        check_eq!(event.data, json!({ "message": message, "actor": null }))?;
        if suite.require(Capability::Subjects).is_ok() {
            event.omits(&[&new.subject])?;
        }
        event.omits(&[&new.body, alice.name(), bob.name()])
    }

    /// A deletion event does not contain the text of the post.
    async fn a_deletion_event_omits_the_text(suite: &Suite) -> TestResult {
        let ThreadFixture { alice, first, .. } = recorded_thread(suite).await?;
        let reply = suite.write_reply(&alice, &first.thread_id, "Regretted").await?;
        suite.recorded().await?;
        alice.delete_post(&reply).await.expect_ok()?;
        let event = only(suite.recorded().await?)?;
        check_eq!(event.value("/post/state"), "deleted")?;
        event.omits(&["Regretted"])
    }

    /// Events of a thread contain nothing of a post that awaits approval.
    async fn content_awaiting_approval_appears_in_no_event(suite: &Suite) -> TestResult {
        let ThreadFixture { alice, reply, .. } = recorded_thread(suite).await?;
        let nora = suite.newcomer("nora").await?;
        let pending = suite.post(&nora, &reply.thread_id).await?.post_id;
        suite.post(&alice, &reply.thread_id).await?;
        let event = only(suite.recorded().await?)?;
        event.omits(&[nora.name(), "awaiting_approval"])?;
        check!(*event.value("/thread/lastPost/postId") != json!(pending))
    }

    /// The actor of an edit is its editor, who may be a moderator.
    async fn an_event_names_its_actor(suite: &Suite) -> TestResult {
        let ThreadFixture { alice, reply, .. } = recorded_thread(suite).await?;
        let mut editors = vec![alice];
        if suite.require(Capability::ModeratorEdits).is_ok() {
            editors.push(suite.admin("ada").await?);
        }
        for editor in editors {
            editor.edit(&reply, &format!("Words of {}", editor.name())).await.expect_ok()?;
            let event = only(suite.recorded().await?)?;
            check_eq!(event.value("/actor/userId"), &json!(editor.id()))?;
            check_eq!(event.value("/actor/username"), editor.name())?;
        }
        Ok(())
    }

    /// An event has its forum, so that only endpoints whose owners see the forum receive it.
    async fn an_event_names_its_forum(suite: &Suite) -> TestResult {
        let forum = suite.forum(Audience::Staff).await?;
        let sam = suite.staff("sam").await?;
        let sue = suite.staff("sue").await?;
        let thread = sam.start_thread(&forum, "Kettles", "Which one?").await.expect_ok()?;
        let rating = new_rating(1, Some(&thread.first_post_id));
        sue.rate_member(&sam.id_ref(), &rating).await.expect_ok()?;
        let events = suite.recorded().await?;
        check_eq!(events.len(), 3)?;
        for event in events {
            check_eq!(event.forum_id.as_ref(), Some(&forum), "the forum of {}", event.name)?;
            check_eq!(event.value("/forum/forumId"), &json!(forum))?;
        }
        Ok(())
    }

    /// The event of a rating of a post that awaits approval has the forum, and does not name the post.
    async fn a_rating_event_omits_a_hidden_post(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, reply, .. } = recorded_thread(suite).await?;
        let nora = suite.newcomer("nora").await?;
        let pending = suite.post(&nora, &reply.thread_id).await?;
        let ada = suite.admin("ada").await?;
        let rating = new_rating(1, Some(&pending.post_id));
        ada.rate_member(&nora.id_ref(), &rating).await.expect_ok()?;
        let event = only(suite.recorded().await?)?;
        check_eq!(event.forum_id, Some(forum))?;
        check_eq!(event.value("/rating/postId"), &Value::Null)
    }

    /// The event of a rating without a post has no forum.
    async fn a_rating_event_without_a_post_has_no_forum(suite: &Suite) -> TestResult {
        let [alice, bob, _] = three_members(suite).await?;
        alice.rate_member(&bob.id_ref(), &new_rating(1, None)).await.expect_ok()?;
        let event = only(suite.recorded().await?)?;
        check_eq!(event.forum_id, None)?;
        check_eq!(event.value("/forum"), &Value::Null)
    }
}

/// Checks that the event contains a resource as a reader finds it, without the fields that depend on the reader. If the board
/// leaves `webUrl` to the library, it is null in the resource, and the event can have a URL of
/// [`EventMeta::web_urls`](crate::webhook::EventMeta::web_urls).
fn check_public_view(
    event: &RecordedEvent,
    pointer: &str,
    resource: &impl Serialize,
) -> TestResult {
    let found = event.value(pointer);
    let mut expected = json!(resource);
    if let Some(fields) = expected.as_object_mut() {
        fields.retain(|name, _| !Event::READER_FIELDS.contains(&name.as_str()));
        if let (Some(url @ Value::Null), Value::String(linked)) =
            (fields.get_mut("webUrl"), &found["webUrl"])
        {
            *url = linked.as_str().into();
        }
    }
    check_eq!(found, &expected, "{pointer} of {}", event.name)
}
