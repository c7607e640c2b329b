//! Opening messages, and read receipts.

use std::time::Duration;

use super::*;

board_rules! {
    mod receipts, __rules_receipts;

    /// A message is read once it was opened.
    async fn an_opened_message_is_read(suite: &Suite) -> TestResult {
        let (_, bob, copy) = send_to_bob(suite, false).await?;
        let unread = only(bob.inbox().await?)?;
        check_eq!((unread.read, unread.read_at), (false, None))?;
        for _ in 0..2 {
            let opened = bob.open(&copy).await?.summary;
            check!(opened.read)?;
            check_eq!(bob.inbox().await?, [opened])?;
        }
        Ok(())
    }

    /// `readAt` is the time of the first opening.
    async fn read_at_is_the_time_of_the_first_opening(suite: &Suite) -> TestResult {
        suite.require(Capability::ReadTimes)?;
        suite.require(Capability::InjectedClock)?;
        let (_, bob, copy) = send_to_bob(suite, false).await?;
        suite.advance(Duration::from_secs(60));
        let first = suite.now();
        for _ in 0..2 {
            let opened = bob.open(&copy).await?.summary;
            check_eq!(opened.read_at, Some(first))?;
            check_eq!(bob.inbox().await?, [opened])?;
            suite.advance(Duration::from_secs(60));
        }
        Ok(())
    }

    /// `MarkRead::No` returns the message and changes nothing.
    async fn opening_without_mark_read_changes_nothing(suite: &Suite) -> TestResult {
        let (alice, bob, copy) = send_to_bob(suite, true).await?;
        let shown = bob.open_message(&copy, &MarkRead::No).await.expect_ok()?.summary;
        check_eq!((shown.read, shown.read_at), (false, None))?;
        check_eq!(bob.inbox().await?, [shown])?;
        check_eq!(alice.inbox().await?, [])
    }

    /// A message without `requestReceipt` sends no receipt.
    async fn no_receipt_is_sent_unless_requested(suite: &Suite) -> TestResult {
        let (alice, bob, copy) = send_to_bob(suite, false).await?;
        check!(bob.open(&copy).await?.summary.read)?;
        check_eq!(alice.inbox().await?, [])
    }

    /// Concurrent openings send one receipt: a message from the reader with the subject `Read: ` and the subject of the
    /// message.
    async fn concurrent_openings_send_one_receipt(suite: &Suite) -> TestResult {
        suite.require(Capability::Receipts)?;
        suite.require(Capability::AtomicCommands)?;
        let (alice, bob, copy) = send_to_bob(suite, true).await?;
        let subject = only(bob.inbox().await?)?.subject;
        let openings = repeat_n((bob.clone(), copy.clone()), 16)
            .map(|(bob, copy)| async move { bob.open(&copy).await });
        let opened = succeed_concurrently(openings).await?.into_iter();
        let mut times: Vec<_> = opened.map(|copy| copy.summary.read_at).collect();
        times.dedup();
        check_eq!(times.len(), 1)?;
        let receipt = only(alice.inbox().await?)?;
        if suite.require(Capability::Subjects).is_ok() {
            check_eq!(receipt.subject, format!("Read: {subject}"))?;
        }
        check_eq!(author_id(&receipt.sender), Some(bob.id()))?;
        check_eq!(author_id(&Some(only(receipt.recipients)?)), Some(alice.id()))
    }

    /// Each reader sends one receipt. Opening a receipt sends no further receipt.
    async fn each_reader_sends_one_receipt(suite: &Suite) -> TestResult {
        suite.require(Capability::Receipts)?;
        let [alice, bob, carol] = three_members(suite).await?;
        let both = [&bob, &carol];
        let readers = suite.recipients(&both);
        let to: Vec<_> = readers.iter().map(|reader| reader.id_ref()).collect();
        let new = with(new_message(suite, to), |new| new.request_receipt = true);
        alice.send_message(&new).await.expect_ok()?;
        for reader in readers {
            reader.open_only().await?;
        }
        let receipts = alice.inbox().await?;
        check_eq!(receipts.len(), readers.len())?;
        let senders = receipts.iter().flat_map(|receipt| &receipt.sender);
        check_eq!(author_ids(senders), caller_ids(readers))?;
        for receipt in &receipts {
            alice.open(&receipt.message_id).await?;
        }
        for reader in readers {
            only(reader.inbox().await?)?;
        }
        Ok(())
    }

    /// A receipt is unread until it is opened.
    async fn a_receipt_is_unread_until_opened(suite: &Suite) -> TestResult {
        suite.require(Capability::Receipts)?;
        let (alice, bob, copy) = send_to_bob(suite, true).await?;
        bob.open(&copy).await?;
        alice.expect_unread(1).await?;
        let receipt = only(alice.inbox().await?)?;
        check_eq!((receipt.read, receipt.read_at), (false, None))?;
        alice.open(&receipt.message_id).await?;
        alice.expect_unread(0).await
    }

    /// A message can be opened if its sender ignores the reader.
    async fn a_message_opens_when_its_sender_ignores_the_reader(suite: &Suite) -> TestResult {
        suite.require(Capability::IgnoreLists)?;
        let (alice, bob, copy) = send_to_bob(suite, true).await?;
        suite.fixture.ignore(&alice.id(), &bob.id()).await?;
        bob.open(&copy).await.map(drop)
    }

    /// A message can be opened after its sender's account was removed.
    async fn a_message_opens_when_its_sender_is_removed(suite: &Suite) -> TestResult {
        suite.require(Capability::AccountRemoval)?;
        let (alice, bob, copy) = send_to_bob(suite, true).await?;
        suite.fixture.remove_account(&alice.id()).await?;
        check!(bob.open(&copy).await?.summary.read)
    }

    /// All copies return the sender's choice in `receiptRequested`.
    async fn receipt_requested_is_returned(suite: &Suite) -> TestResult {
        suite.require(Capability::Receipts)?;
        let [alice, bob, _] = three_members(suite).await?;
        for requested in [true, false] {
            let new = with(new_message(suite, [bob.id_ref()]), |new| new.request_receipt = requested);
            let sent = alice.send_message(&new).await.expect_ok()?.summary;
            check_eq!(sent.receipt_requested, requested)?;
            let received = bob.inbox().await?.into_iter().next();
            check_eq!(received.map(|copy| copy.receipt_requested), Some(requested))?;
        }
        Ok(())
    }

    /// Opening the sender's own copy sends no receipt.
    async fn opening_the_senders_copy_sends_no_receipt(suite: &Suite) -> TestResult {
        let (alice, bob, _) = send_to_bob(suite, true).await?;
        alice.open(&only(alice.folder(Folder::Sent).await?)?.message_id).await?;
        check_eq!(alice.inbox().await?, [])?;
        check_eq!(author_id(&only(bob.inbox().await?)?.sender), Some(alice.id()))
    }
}

/// Sends a message from alice to bob, and returns both and bob's copy.
async fn send_to_bob(
    suite: &Suite,
    request_receipt: bool,
) -> TestResult<(TestCaller, TestCaller, MessageId)> {
    let [alice, bob] = suite.members(["alice", "bob"]).await?;
    let mut new = new_message(suite, [bob.id_ref()]);
    new.request_receipt = request_receipt;
    alice.send_message(&new).await.expect_ok()?;
    let copy = only(bob.inbox().await?)?.message_id;
    Ok((alice, bob, copy))
}
