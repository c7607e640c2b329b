//! Messages that the rules send and read.

use std::collections::BTreeSet;

use super::{Capability, Suite, TestCaller, TestResult, only, with};
use crate::model::*;

pub(crate) async fn three_members(suite: &Suite) -> TestResult<[TestCaller; 3]> {
    suite.members(["alice", "bob", "carol"]).await
}

impl Suite {
    /// Returns all recipients, or only the last one without [`Capability::SeveralRecipients`].
    pub(crate) fn recipients<'a, T>(&self, all: &'a [T]) -> &'a [T] {
        match self.require(Capability::SeveralRecipients) {
            Ok(()) => all,
            Err(_) => all.last_chunk::<1>().map_or(all, |last| last),
        }
    }

    /// Returns a new subject; an empty one without [`Capability::Subjects`].
    pub(crate) fn subject(&self) -> String {
        let subject = self.require(Capability::Subjects);
        subject.map(|()| self.text("Subject")).unwrap_or_default()
    }
}

/// Returns a valid message that requests no receipt.
pub(crate) fn new_message(suite: &Suite, to: impl Into<Vec<UserRef>>) -> NewMessage {
    NewMessage {
        to: to.into(),
        subject: suite.subject(),
        body: suite.text("Words about"),
        request_receipt: false,
        extra: None,
    }
}

impl TestCaller {
    /// Sends a message that requests no receipt.
    pub(crate) async fn send(&self, suite: &Suite, to: &[&Self]) -> TestResult<Message> {
        let to: Vec<UserRef> = to.iter().map(|caller| caller.id_ref()).collect();
        self.send_message(&new_message(suite, to)).await.expect_ok()
    }

    /// Opens a message and marks it as read.
    pub(crate) async fn open(&self, message: &MessageId) -> TestResult<Message> {
        self.open_message(message, &MarkRead::Yes).await.expect_ok()
    }

    /// Opens the only message of the inbox and marks it as read.
    pub(crate) async fn open_only(&self) -> TestResult<Message> {
        self.open(&only(self.inbox().await?)?.message_id).await
    }

    pub(crate) async fn inbox(&self) -> TestResult<Vec<MessageSummary>> {
        self.folder(Folder::Inbox).await
    }

    /// Returns the first page of a folder.
    pub(crate) async fn folder(&self, folder: Folder) -> TestResult<Vec<MessageSummary>> {
        let filter = with(MessageFilter::default(), |filter| filter.folder = folder);
        let params = List::new(filter);
        Ok(self.list_messages(&params).await.expect_ok()?.items)
    }

    /// Checks the count of unread messages in `get_me`.
    pub(crate) async fn expect_unread(&self, count: u64) -> TestResult {
        let unread = self.get_me().await.expect_ok()?.unread_messages;
        check_eq!(unread, Some(count), "unreadMessages of {self:?}")
    }
}

pub(crate) fn message_ids(messages: Vec<MessageSummary>) -> Vec<MessageId> {
    let messages = messages.into_iter();
    messages.map(|message| message.message_id).collect()
}

pub(crate) fn author_ids<'a>(authors: impl IntoIterator<Item = &'a Author>) -> BTreeSet<UserId> {
    let authors = authors.into_iter();
    authors.map(|author| author.user_id.clone()).collect()
}

pub(crate) fn caller_ids(callers: &[&TestCaller]) -> BTreeSet<UserId> {
    callers.iter().map(|caller| caller.id()).collect()
}
