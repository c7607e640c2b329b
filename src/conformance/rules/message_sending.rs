//! Sending messages.

use super::*;

board_rules! {
    mod message_sending, __rules_message_sending;

    /// A recipient who is named several times gets one copy.
    async fn a_repeated_recipient_gets_one_copy(suite: &Suite) -> TestResult {
        let [alice, bob, carol] = three_members(suite).await?;
        let both = [&carol, &bob];
        let recipients = suite.recipients(&both);
        let mut to: Vec<_> = recipients.iter().map(|recipient| recipient.id_ref()).collect();
        to.extend([bob.name_ref(), bob.id_ref()]);
        let sent = alice.send_message(&new_message(suite, to)).await.expect_ok()?.summary;
        check_eq!(sent.recipients.len(), recipients.len())?;
        check_eq!(author_ids(&sent.recipients), caller_ids(recipients))?;
        only(bob.inbox().await?).map(drop)
    }

    /// A message to several recipients reaches each of them. On a board whose messages have one recipient, `to` is
    /// invalid.
    async fn several_recipients_are_all_reached_or_rejected(suite: &Suite) -> TestResult {
        let [alice, bob, carol] = three_members(suite).await?;
        let new = new_message(suite, [bob.id_ref(), carol.id_ref()]);
        let sent = alice.send_message(&new).await;
        if suite.require(Capability::SeveralRecipients).is_err() {
            sent.expect_validation_error("to")?;
            check_eq!(carol.inbox().await?, [])?;
            return expect_nothing_sent(&alice, &bob).await;
        }
        sent.expect_ok()?;
        for reader in [&bob, &carol] {
            only(reader.inbox().await?)?;
        }
        only(alice.folder(Folder::Sent).await?).map(drop)
    }

    /// A message that a member sends to themselves has two copies. One of the copies is unread.
    async fn members_can_message_themselves(suite: &Suite) -> TestResult {
        suite.require(Capability::SelfMessages)?;
        let alice = suite.member("alice").await?;
        let sent = alice.send(suite, &[&alice]).await?.summary;
        let received = only(alice.inbox().await?)?;
        check!(sent.message_id != received.message_id)?;
        check_eq!((received.read, sent.read), (false, true))?;
        check_eq!(alice.folder(Folder::Sent).await?, [sent])
    }

    /// A message without recipients (`to`), or with an empty or blank `subject` or `body`, is invalid.
    async fn an_incomplete_message_is_invalid(suite: &Suite) -> TestResult {
        let [alice, bob, _] = three_members(suite).await?;
        let complete = new_message(suite, [bob.id_ref()]);
        for blank in ["", " \n"] {
            if suite.require(Capability::Subjects).is_ok() {
                let without = with(complete.clone(), |new| new.subject = blank.into());
                alice.send_message(&without).await.expect_validation_error("subject")?;
            }
            let without = with(complete.clone(), |new| new.body = blank.into());
            alice.send_message(&without).await.expect_validation_error("body")?;
        }
        let without = with(complete, |new| new.to.clear());
        alice.send_message(&without).await.expect_validation_error("to")?;
        expect_nothing_sent(&alice, &bob).await
    }

    /// A `subject` with control characters, line breaks or bidirectional overrides is invalid.
    async fn a_subject_is_a_single_line(suite: &Suite) -> TestResult {
        suite.require(Capability::Subjects)?;
        let [alice, bob, _] = three_members(suite).await?;
        for subject in NOT_SINGLE_LINE {
            let new = with(new_message(suite, [bob.id_ref()]), |new| new.subject = subject.into());
            alice.send_message(&new).await.expect_validation_error("subject")?;
        }
        expect_nothing_sent(&alice, &bob).await
    }

    /// If one recipient is not found, no recipient gets the message.
    async fn an_unknown_recipient_cancels_the_message(suite: &Suite) -> TestResult {
        let [alice, bob, _] = three_members(suite).await?;
        for unknown in [UserRef::Name("unknown".into()), UserRef::Id(UserId::empty())] {
            let new = new_message(suite, suite.recipients(&[bob.id_ref(), unknown]));
            alice.send_message(&new).await.expect_not_found()?;
        }
        expect_nothing_sent(&alice, &bob).await
    }

    /// A message to a member who ignores the sender is forbidden, and no other recipient gets it.
    async fn an_ignored_sender_is_forbidden(suite: &Suite) -> TestResult {
        suite.require(Capability::IgnoreLists)?;
        let [alice, bob, carol] = three_members(suite).await?;
        suite.fixture.ignore(&carol.id(), &bob.id()).await?;
        let new = new_message(suite, suite.recipients(&[alice.id_ref(), carol.id_ref()]));
        bob.send_message(&new).await.expect_forbidden()?;
        expect_nothing_sent(&bob, &alice).await?;
        carol.send(suite, &[&bob]).await?;
        alice.send(suite, &[&carol]).await?;
        only(carol.inbox().await?).map(drop)
    }

    /// A member who was banned after the request began sends nothing.
    async fn a_banned_member_cannot_send_messages(suite: &Suite) -> TestResult {
        let [alice, bob, _] = three_members(suite).await?;
        let cached = suite.ban_during_request(&alice).await?;
        cached.send_message(&new_message(suite, [bob.id_ref()])).await.expect_denied()?;
        check_eq!(bob.inbox().await?, [])
    }
}

async fn expect_nothing_sent(from: &TestCaller, to: &TestCaller) -> TestResult {
    check_eq!(from.folder(Folder::Sent).await?, [])?;
    check_eq!(to.inbox().await?, [])
}
