//! Messages that the rules send and read.

use std::collections::BTreeSet;

use super::{Suite, TestCaller, TestResult, only};
use crate::model::*;

pub(crate) async fn three(suite: &Suite) -> TestResult<[TestCaller; 3]> {
    suite.members(["alice", "bob", "carol"]).await
}

/// A valid message that asks for no receipt.
pub(crate) fn message(suite: &Suite, to: impl Into<Vec<UserRef>>) -> NewMessage {
    NewMessage {
        to: to.into(),
        subject: suite.text("Subject"),
        body: suite.text("Words about"),
        request_receipt: false,
    }
}

impl TestCaller {
    /// Sends a message that asks for no receipt.
    pub(crate) async fn send(&self, suite: &Suite, to: &[&Self]) -> TestResult<Message> {
        let to: Vec<UserRef> = to.iter().map(|caller| caller.id_ref()).collect();
        self.send_message(&message(suite, to)).await.expect_ok()
    }

    /// Reads a message, which marks it as read.
    pub(crate) async fn open(&self, message: &MessageId) -> TestResult<Message> {
        self.open_message(message, &MarkRead::Yes).await.expect_ok()
    }

    pub(crate) async fn open_only(&self) -> TestResult<Message> {
        self.open(&only(self.inbox().await?)?.message_id).await
    }

    pub(crate) async fn inbox(&self) -> TestResult<Vec<MessageSummary>> {
        self.folder(Folder::Inbox).await
    }

    /// The first page of a folder, newest first.
    pub(crate) async fn folder(&self, folder: Folder) -> TestResult<Vec<MessageSummary>> {
        let list = ListMessagesParams {
            folder,
            ..ListMessagesParams::default()
        };
        Ok(self.list_messages(&list).await.expect_ok()?.items)
    }

    /// `GET /me` counts so many unread messages.
    pub(crate) async fn has_unread(&self, count: u64) -> TestResult {
        let unread = self.get_me().await.expect_ok()?.unread_messages;
        check_eq!(unread, Some(count), "unreadMessages of {}", self.name())
    }
}

pub(crate) fn message_ids(list: &[MessageSummary]) -> Vec<MessageId> {
    list.iter()
        .map(|message| message.message_id.clone())
        .collect()
}

pub(crate) fn user_ids<'a>(authors: impl IntoIterator<Item = &'a Author>) -> BTreeSet<UserId> {
    let authors = authors.into_iter();
    authors.map(|author| author.user_id.clone()).collect()
}

pub(crate) fn ids_of<const N: usize>(callers: [&TestCaller; N]) -> BTreeSet<UserId> {
    callers.map(TestCaller::id).into()
}
