//! What may be sent, and to whom.

use std::collections::BTreeSet;

use super::message_fixture::{folder, inbox, message, only, recipients, send, three};
use super::sanitizing::NOT_SINGLE_LINE;
use super::{Part, Someone, Suite, Verdict, equal, holds};
use crate::model::{Folder, SendMessage, UserId, UserRef};

board_rules!(
    mod message_sending;

    /// One who is named twice, by id and by name, gets one copy.
    async fn a_recipient_who_is_named_twice_gets_one_copy(suite: &Suite) -> Verdict {
        let (alice, bob, carol) = three(suite).await?;
        let to = [bob.by_name(), carol.by_id(), bob.by_id(), bob.by_id()];
        let sent = alice.send_message(&message(suite, to)).await?.granted()?;
        equal("how many recipients", sent.summary.recipients.len(), 2)?;
        let expected = BTreeSet::from([bob.id(), carol.id()]);
        equal("the recipients", recipients(&sent.summary), expected)?;
        only(&inbox(&bob).await?).map(drop)
    }

    /// Who writes to themselves has two copies, of which one is to be read.
    async fn a_member_may_write_to_themselves(suite: &Suite) -> Verdict {
        let alice = suite.member("alice").await?;
        let sent = send(suite, &alice, &[&alice]).await?.summary;
        let received = only(&inbox(&alice).await?)?;
        let what = "the two copies differ";
        holds(what, sent.message_id != received.message_id)?;
        equal("when it was read", received.read_at, None)?;
        let found = folder(&alice, Folder::Sent).await?;
        equal("the sent ones", found, &[sent])
    }

    /// A message to nobody, without a subject or without text is refused.
    async fn an_incomplete_message_is_refused(suite: &Suite) -> Verdict {
        let (alice, bob, _) = three(suite).await?;
        let whole = message(suite, [bob.by_id()]);
        for blank in ["", " \n"] {
            let (subject, body) = (blank.to_owned(), blank.to_owned());
            let without = SendMessage {
                subject,
                ..whole.clone()
            };
            alice.send_message(&without).await?.invalid("subject")?;
            let without = SendMessage {
                body,
                ..whole.clone()
            };
            alice.send_message(&without).await?.invalid("body")?;
        }
        let without = SendMessage {
            to: Vec::new(),
            ..whole
        };
        alice.send_message(&without).await?.invalid("to")?;
        nothing_came(&alice, &bob).await
    }

    /// Refuses a subject that is not a single-line text as invalid; a body can be any text.
    async fn a_subject_is_a_single_line(suite: &Suite) -> Verdict {
        let (alice, bob, _) = three(suite).await?;
        let whole = message(suite, [bob.by_id()]);
        for subject in NOT_SINGLE_LINE {
            let new = SendMessage {
                subject: subject.into(),
                ..whole.clone()
            };
            alice.send_message(&new).await?.invalid("subject")?;
        }
        nothing_came(&alice, &bob).await
    }

    /// When one recipient is not there nobody gets the message: all of it, or nothing.
    async fn nobody_gets_a_message_with_an_unknown_recipient(suite: &Suite) -> Verdict {
        let (alice, bob, _) = three(suite).await?;
        let nobody = [
            UserRef::Name("nobody".into()),
            UserRef::Id(UserId::nothing()),
        ];
        for unknown in nobody {
            let new = message(suite, [bob.by_id(), unknown]);
            alice.send_message(&new).await?.not_found()?;
        }
        nothing_came(&alice, &bob).await
    }

    /// Who is ignored by a recipient may not write to them, and the other recipients get nothing either.
    async fn an_ignored_member_may_not_write(suite: &Suite) -> Verdict {
        suite.needs(Part::Ignoring)?;
        let (alice, bob, carol) = three(suite).await?;
        suite.stage.ignore(&carol.id(), &bob.id()).await?;
        let new = message(suite, [alice.by_id(), carol.by_id()]);
        bob.send_message(&new).await?.forbidden()?;
        nothing_came(&bob, &alice).await?;
        send(suite, &carol, &[&bob]).await?;
        send(suite, &alice, &[&carol]).await?;
        only(&inbox(&carol).await?).map(drop)
    }

    /// What one sends who was banned since the request began reaches nobody.
    async fn a_banned_member_writes_no_longer(suite: &Suite) -> Verdict {
        suite.needs(Part::Bans)?;
        let (alice, bob, _) = three(suite).await?;
        let under_way = alice.hold().await?;
        suite.stage.set_banned(&alice.id(), true).await?;
        let new = message(suite, [bob.by_id()]);
        under_way.send_message(&new).await?.barred()?;
        equal("the recipient's inbox", inbox(&bob).await?, &[])
    }
);

async fn nothing_came(from: &Someone, to: &Someone) -> Verdict {
    let found = folder(from, Folder::Sent).await?;
    equal("the sender's copies", found, &[])?;
    equal("the recipient's inbox", inbox(to).await?, &[])
}
