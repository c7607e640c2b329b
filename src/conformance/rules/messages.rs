//! Private messages: each participant has a separate copy.

use std::collections::BTreeSet;
use std::slice;

use super::*;

board_rules! {
    mod messages, __rules_messages;

    /// The sender has a copy in the folder `sent`, which is read. Each recipient has an unread copy in `inbox`. All
    /// copies have different ids.
    async fn each_participant_has_a_separate_copy(suite: &Suite) -> TestResult {
        let [alice, bob, carol] = three_members(suite).await?;
        let both = [&bob, &carol];
        let readers = suite.recipients(&both);
        let sent = alice.send(suite, readers).await?.summary;
        let mut ids = BTreeSet::from([sent.message_id.clone()]);
        check_eq!((sent.folder, sent.read, sent.read_at), (Folder::Sent, true, Some(sent.sent_at)))?;
        check_eq!(alice.folder(Folder::Sent).await?, slice::from_ref(&sent))?;
        check_eq!(alice.inbox().await?, [])?;
        for reader in readers {
            let actual = only(reader.inbox().await?)?;
            ids.insert(actual.message_id.clone());
            let expected = MessageSummary {
                message_id: actual.message_id.clone(),
                folder: Folder::Inbox,
                read: false,
                read_at: None,
                ..sent.clone()
            };
            check_eq!(actual, expected)?;
            check_eq!(reader.folder(Folder::Sent).await?, [])?;
        }
        check_eq!(ids.len(), readers.len() + 1)
    }

    /// All copies have the same text, sender and recipients.
    async fn a_message_has_its_sender_and_recipients(suite: &Suite) -> TestResult {
        let [alice, bob, carol] = three_members(suite).await?;
        let both = [&bob, &carol];
        let recipients = suite.recipients(&both);
        let sent = alice.send(suite, recipients).await?;
        let read = carol.open_only().await?;
        check_eq!((&read.body, &read.body_html), (&sent.body, &sent.body_html))?;
        for message in [&sent.summary, &read.summary] {
            check_eq!(author_id(&message.sender), Some(alice.id()))?;
            check_eq!(author_ids(&message.recipients), caller_ids(recipients))?;
        }
        Ok(())
    }

    /// A copy that belongs to another member is not found, even by the sender and the other recipients.
    async fn another_members_copy_is_not_found(suite: &Suite) -> TestResult {
        let [alice, bob, carol] = three_members(suite).await?;
        let dave = suite.member("dave").await?;
        let sent = alice.send(suite, suite.recipients(&[&carol, &bob])).await?.summary.message_id;
        let received = only(bob.inbox().await?)?.message_id;
        let of_others = [(&bob, &sent), (&alice, &received), (&carol, &received), (&dave, &sent)];
        for (caller, copy) in of_others {
            for opening in [MarkRead::No, MarkRead::Yes] {
                caller.open_message(copy, &opening).await.expect_path_not_found()?;
            }
        }
        check_eq!(only(bob.inbox().await?)?.read, false)
    }

    /// A folder is listed newest first. Its pages contain each message once while other messages arrive.
    async fn pagination_finds_each_message_once_during_writes(suite: &Suite) -> TestResult {
        let [alice, bob, _] = three_members(suite).await?;
        let mut newest = Vec::new();
        for _ in 0..5 {
            let subject = alice.send(suite, &[&bob]).await?.summary.subject;
            let received = bob.inbox().await?.into_iter().next().map(|message| message.message_id);
            newest.insert(0, (received, subject));
        }
        let mut pager = Pager::new(2);
        while pager.has_next() {
            pager.read(&bob, &Folder::Inbox).await?;
            alice.send(suite, &[&bob]).await?;
        }
        let key = |message: &MessageSummary| (Some(message.message_id.clone()), message.subject.clone());
        check_eq!(pager.ids(key), newest)
    }

    /// The `unread` filter selects unread or read messages.
    async fn the_unread_filter_selects_unread_messages(suite: &Suite) -> TestResult {
        let [alice, bob, _] = three_members(suite).await?;
        for _ in 0..3 {
            alice.send(suite, &[&bob]).await?;
        }
        let [newest, middle, oldest] = &exactly(message_ids(bob.inbox().await?))?;
        bob.open(middle).await?;
        for (unread, expected) in [
            (None, vec![newest, middle, oldest]),
            (Some(true), vec![newest, oldest]),
            (Some(false), vec![middle]),
        ] {
            let params = List::new(MessageFilter { unread, ..MessageFilter::default() });
            let page = bob.list_messages(&params).await.expect_ok()?;
            let actual: Vec<_> = page.items.iter().map(|message| &message.message_id).collect();
            check_eq!(actual, expected, "messages with the filter unread={unread:?}")?;
            for message in &page.items {
                check_eq!(message.read, message.message_id == *middle, "`read` of {message:?}")?;
            }
        }
        Ok(())
    }

    /// The count of unread messages covers only the inbox. Only opening a message reduces it.
    async fn unread_messages_are_counted(suite: &Suite) -> TestResult {
        let [alice, bob, _] = three_members(suite).await?;
        for count in 1..=2 {
            alice.send(suite, &[&bob]).await?;
            bob.expect_unread(count).await?;
            alice.expect_unread(0).await?;
        }
        let all: [MessageId; 2] = exactly(message_ids(bob.inbox().await?))?;
        for message in &all {
            bob.open_message(message, &MarkRead::No).await.expect_ok()?;
            bob.expect_unread(2).await?;
        }
        for (message, left) in all.iter().zip([1, 0]) {
            for _ in 0..2 {
                bob.open(message).await?;
                bob.expect_unread(left).await?;
            }
        }
        if suite.require(Capability::SelfMessages).is_ok() {
            alice.send(suite, &[&alice]).await?;
            alice.expect_unread(1).await?;
        }
        Ok(())
    }

    /// Subject and body are returned as they were sent.
    async fn a_message_is_stored_verbatim(suite: &Suite) -> TestResult {
        let [alice, bob, _] = three_members(suite).await?;
        let mut new = new_message(suite, [bob.id_ref()]);
        new.body = "Grüße, 茶 & \"tea\" <b>\n\n- ☕️".into();
        if suite.require(Capability::Subjects).is_ok() {
            new.subject = "Grüße & 茶 <b>".into();
        }
        let sent = alice.send_message(&new).await.expect_ok()?;
        for copy in [sent, bob.open_only().await?] {
            check_eq!((&copy.summary.subject, &copy.body), (&new.subject, &new.body))?;
        }
        Ok(())
    }

    /// The HTML of a message executes no script.
    async fn message_html_is_sanitized(suite: &Suite) -> TestResult {
        let [alice, bob, _] = three_members(suite).await?;
        let new = with(new_message(suite, [bob.id_ref()]), |new| new.body = XSS_PAYLOAD.into());
        alice.send_message(&new).await.expect_ok()?;
        check_sanitized(&bob.open_only().await?.body_html)
    }

    /// A message remains when its sender's account is removed, and lists the remaining recipients.
    async fn a_message_remains_when_its_sender_is_removed(suite: &Suite) -> TestResult {
        suite.require(Capability::AccountRemoval)?;
        let [alice, bob, carol] = three_members(suite).await?;
        alice.send(suite, suite.recipients(&[&carol, &bob])).await?;
        for removed in [&alice, &carol] {
            suite.fixture.remove_account(&removed.id()).await?;
        }
        let remaining = bob.open_only().await?.summary;
        check_eq!(remaining.sender, None)?;
        check_eq!(author_ids(&remaining.recipients), caller_ids(&[&bob]))
    }
}

paged! {
    Folder, MessageSummary: |self, reader, limit, after| {
        let filter = MessageFilter { folder: *self, unread: None };
        let params = List { limit, after, ..List::new(filter) };
        reader.list_messages(&params).await
    };
}
