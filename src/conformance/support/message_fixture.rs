//! What the rules on messages are tried with.

use std::collections::BTreeSet;

use super::{Someone, Stop, Suite, Verdict, equal};
use crate::model::{
    Folder, ListMessages, Message, MessageId, MessageSummary, Opening, SendMessage, UserId, UserRef,
};

/// Alice, Bob and Carol.
pub(crate) async fn three(suite: &Suite) -> Verdict<(Someone, Someone, Someone)> {
    Ok((
        suite.member("alice").await?,
        suite.member("bob").await?,
        suite.member("carol").await?,
    ))
}

/// A message that can be sent.
pub(crate) fn message(suite: &Suite, to: impl Into<Vec<UserRef>>) -> SendMessage {
    SendMessage {
        to: to.into(),
        subject: suite.text("Subject"),
        body: suite.text("Words about"),
        request_receipt: false,
    }
}

/// Sends a message, which asks for no receipt.
pub(crate) async fn send(suite: &Suite, from: &Someone, to: &[&Someone]) -> Verdict<Message> {
    let to: Vec<UserRef> = to.iter().map(|someone| someone.by_id()).collect();
    from.send_message(&message(suite, to)).await?.granted()
}

/// Opens a message.
pub(crate) async fn open(who: &Someone, message: &MessageId) -> Verdict<Message> {
    who.message(message, &Opening::Read).await?.granted()
}

/// What somebody received.
pub(crate) async fn inbox(who: &Someone) -> Verdict<Vec<MessageSummary>> {
    folder(who, Folder::Inbox).await
}

/// What is in a folder, newest first.
pub(crate) async fn folder(who: &Someone, folder: Folder) -> Verdict<Vec<MessageSummary>> {
    let list = ListMessages {
        folder,
        ..ListMessages::default()
    };
    Ok(who.messages(&list).await?.granted()?.items)
}

/// The one message of a list.
pub(crate) fn only(list: &[MessageSummary]) -> Verdict<MessageSummary> {
    match list {
        [message] => Ok(message.clone()),
        _ => Err(Stop::broken(
            "a folder",
            format_args!("{list:?}"),
            "one message",
        )),
    }
}

/// `GET /me` counts so many unread messages.
pub(crate) async fn unread(who: &Someone, count: u64) -> Verdict {
    let account = who.me().await?.granted()?;
    let (name, found) = (who.name(), account.unread_messages);
    equal(format_args!("unreadMessages of {name}"), found, Some(count))
}

/// The ids of a list.
pub(crate) fn ids(list: &[MessageSummary]) -> Vec<MessageId> {
    list.iter()
        .map(|message| message.message_id.clone())
        .collect()
}

/// To whom a message was sent.
pub(crate) fn recipients(message: &MessageSummary) -> BTreeSet<UserId> {
    let recipients = message.recipients.iter();
    recipients
        .map(|recipient| recipient.user_id.clone())
        .collect()
}
