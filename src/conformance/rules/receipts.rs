//! Opening a message: it is read once, and told once.

use std::collections::BTreeSet;
use std::time::Duration;

use super::message_fixture::{inbox, message, only, open, three, unread};
use super::{Part, Someone, Suite, Verdict, equal, holds};
use crate::model::{Author, MessageId, Opening, SendMessage, UserId, UserRef};

board_rules!(
    mod receipts;

    /// The first opening is when it was read, and no later one changes that.
    async fn a_message_is_read_once(suite: &Suite) -> Verdict {
        suite.needs(Part::SuiteClock)?;
        let (alice, bob, _) = three(suite).await?;
        let copy = received(suite, &alice, &bob, false).await?;
        suite.wait(Duration::from_secs(60));
        let first = suite.now();
        for _ in 0..2 {
            let opened = open(&bob, &copy).await?.summary;
            equal("when it was read", opened.read_at, Some(first))?;
            equal("as the list has it", only(&inbox(&bob).await?)?, opened)?;
            suite.wait(Duration::from_secs(60));
        }
        Ok(())
    }

    /// Looking without opening shows the message, and changes nothing.
    async fn a_peek_changes_nothing(suite: &Suite) -> Verdict {
        let (alice, bob, _) = three(suite).await?;
        let copy = received(suite, &alice, &bob, true).await?;
        let shown = bob.message(&copy, &Opening::Peek).await?.granted()?;
        equal("when it was read", shown.summary.read_at, None)?;
        let found = only(&inbox(&bob).await?)?;
        equal("as the list has it", found, shown.summary)?;
        equal("the sender's inbox", inbox(&alice).await?, &[])
    }

    /// Nobody is told of a reading that they did not ask to hear of.
    async fn no_receipt_comes_unasked(suite: &Suite) -> Verdict {
        let (alice, bob, _) = three(suite).await?;
        let copy = received(suite, &alice, &bob, false).await?;
        let what = "it is opened";
        holds(what, open(&bob, &copy).await?.summary.read_at.is_some())?;
        equal("the sender's inbox", inbox(&alice).await?, &[])
    }

    /// However many openings race, the sender gets one receipt: a message from the reader that tells what was read.
    async fn one_receipt_comes_however_many_race(suite: &Suite) -> Verdict {
        suite.needs(Part::Receipts)?;
        let (alice, bob, _) = three(suite).await?;
        let copy = received(suite, &alice, &bob, true).await?;
        let subject = only(&inbox(&bob).await?)?.subject;
        let openings = (0..16).map(|_| {
            let (bob, copy) = (bob.clone(), copy.clone());
            async move { open(&bob, &copy).await }
        });
        let mut times = Vec::new();
        for opened in suite.race(openings).await {
            times.push(opened?.summary.read_at);
        }
        times.dedup();
        equal("times at which it was read", times.len(), 1)?;
        let receipt = only(&inbox(&alice).await?)?;
        let found = &receipt.subject;
        equal("the receipt's subject", found, &format!("Read: {subject}"))?;
        let (from, to) = (ids(&receipt.sender), ids(&receipt.recipients));
        let found = (from, to);
        let expected = (vec![bob.id()], vec![alice.id()]);
        equal("who it is from and to", found, expected)
    }

    /// Each reader has a receipt of their own, and opening a receipt sends none.
    async fn each_reader_is_told_of_once(suite: &Suite) -> Verdict {
        suite.needs(Part::Receipts)?;
        let (alice, bob, carol) = three(suite).await?;
        let new = asking(suite, [bob.by_id(), carol.by_id()]);
        alice.send_message(&new).await?.granted()?;
        for reader in [&bob, &carol] {
            open(reader, &only(&inbox(reader).await?)?.message_id).await?;
        }
        let receipts = inbox(&alice).await?;
        let senders = receipts.iter().flat_map(|receipt| ids(&receipt.sender));
        let readers = BTreeSet::from([bob.id(), carol.id()]);
        equal("how many receipts came", receipts.len(), 2)?;
        let found = senders.collect::<BTreeSet<_>>();
        equal("whom they are from", found, readers)?;
        for receipt in &receipts {
            open(&alice, &receipt.message_id).await?;
        }
        for reader in [&bob, &carol] {
            only(&inbox(reader).await?)?;
        }
        Ok(())
    }

    /// A receipt is a message like any other: unread until it is opened.
    async fn a_receipt_is_unread(suite: &Suite) -> Verdict {
        suite.needs(Part::Receipts)?;
        let (alice, bob, _) = three(suite).await?;
        let copy = received(suite, &alice, &bob, true).await?;
        open(&bob, &copy).await?;
        unread(&alice, 1).await?;
        let receipt = only(&inbox(&alice).await?)?;
        equal("when the receipt was read", receipt.read_at, None)?;
        open(&alice, &receipt.message_id).await?;
        unread(&alice, 0).await
    }

    /// Who ignores the reader asked for the receipt all the same: it does not fail the opening.
    async fn an_ignored_reader_opens_as_any_other(suite: &Suite) -> Verdict {
        suite.needs(Part::Ignoring)?;
        let (alice, bob, _) = three(suite).await?;
        let copy = received(suite, &alice, &bob, true).await?;
        suite.stage.ignore(&alice.id(), &bob.id()).await?;
        open(&bob, &copy).await.map(drop)
    }

    /// A receipt for an account that is gone does not fail the opening.
    async fn a_message_is_opened_when_nobody_is_left_to_be_told(suite: &Suite) -> Verdict {
        suite.needs(Part::Removal)?;
        let (alice, bob, _) = three(suite).await?;
        let copy = received(suite, &alice, &bob, true).await?;
        suite.stage.remove_account(&alice.id()).await?;
        let opened = open(&bob, &copy).await?.summary;
        holds("it is read", opened.read_at.is_some())
    }

    /// Each party sees whether a receipt was asked for.
    async fn a_request_for_a_receipt_is_told(suite: &Suite) -> Verdict {
        suite.needs(Part::Receipts)?;
        let (alice, bob, _) = three(suite).await?;
        for request_receipt in [true, false] {
            let new = SendMessage {
                request_receipt,
                ..message(suite, [bob.by_id()])
            };
            let sent = alice.send_message(&new).await?.granted()?.summary;
            let newest = inbox(&bob).await?.into_iter().next();
            let told = (
                sent.receipt_requested,
                newest.map(|copy| copy.receipt_requested),
            );
            equal(
                "what is told",
                told,
                (request_receipt, Some(request_receipt)),
            )?;
        }
        Ok(())
    }

    /// The sender's own copy is none that is waited for: to open it sends no receipt.
    async fn a_sender_who_opens_their_copy_is_told_of_nothing(suite: &Suite) -> Verdict {
        let (alice, bob, _) = three(suite).await?;
        let sent = alice.send_message(&asking(suite, [bob.by_id()])).await?;
        open(&alice, &sent.granted()?.summary.message_id).await?;
        for someone in [&alice, &bob] {
            let receipts = inbox(someone).await?.into_iter();
            let receipts = receipts.filter(|message| message.subject.starts_with("Read: "));
            equal("how many receipts came", receipts.count(), 0)?;
        }
        Ok(())
    }
);

/// A message that asks for receipts.
fn asking(suite: &Suite, to: impl Into<Vec<UserRef>>) -> SendMessage {
    SendMessage {
        request_receipt: true,
        ..message(suite, to)
    }
}

/// The recipient's copy of a new message.
async fn received(
    suite: &Suite,
    from: &Someone,
    to: &Someone,
    request_receipt: bool,
) -> Verdict<MessageId> {
    let new = SendMessage {
        request_receipt,
        ..message(suite, [to.by_id()])
    };
    from.send_message(&new).await?.granted()?;
    Ok(only(&inbox(to).await?)?.message_id)
}

fn ids<'a>(authors: impl IntoIterator<Item = &'a Author>) -> Vec<UserId> {
    let authors = authors.into_iter();
    authors.map(|author| author.user_id.clone()).collect()
}
