//! Private messages: a copy for each party, in folders of their own.

use std::collections::BTreeSet;

use super::message_fixture::{
    folder, ids, inbox, message, only, open, recipients, send, three, unread,
};
use super::sanitizing::{HARM, harmless};
use super::{Part, Stop, Suite, Verdict, equal};
use crate::model::{Folder, Limit, ListMessages, MessageSummary, Opening, SendMessage};

board_rules!(
    mod messages;

    /// The sender has a copy that is read from the start, each recipient one that is not, and no two have the same id.
    async fn each_party_has_a_copy_of_its_own(suite: &Suite) -> Verdict {
        let (alice, bob, carol) = three(suite).await?;
        let sent = send(suite, &alice, &[&bob, &carol]).await?;
        let mut ids = BTreeSet::from([sent.summary.message_id.clone()]);
        equal("the sender's folder", sent.summary.folder, Folder::Sent)?;
        equal(
            "when the sender read it",
            sent.summary.read_at,
            Some(sent.summary.sent_at),
        )?;
        let kept = only(&folder(&alice, Folder::Sent).await?)?;
        equal("the sender's list", &kept, &sent.summary)?;
        equal("the sender's inbox", inbox(&alice).await?, &[])?;
        for reader in [&bob, &carol] {
            let found = only(&inbox(reader).await?)?;
            ids.insert(found.message_id.clone());
            let expected = MessageSummary {
                message_id: found.message_id.clone(),
                folder: Folder::Inbox,
                read_at: None,
                ..sent.summary.clone()
            };
            equal("a recipient's copy", found, expected)?;
            equal(
                "a recipient's sent ones",
                folder(reader, Folder::Sent).await?,
                &[],
            )?;
        }
        equal("ids of three copies", ids.len(), 3)
    }

    /// Everybody who gets a message sees the same text, its sender, and all its recipients.
    async fn a_message_tells_who_sent_it_and_to_whom(suite: &Suite) -> Verdict {
        let (alice, bob, carol) = three(suite).await?;
        let sent = send(suite, &alice, &[&carol, &bob]).await?;
        let read = open(&carol, &only(&inbox(&carol).await?)?.message_id).await?;
        let found = (&read.body, &read.body_html);
        equal("the text", found, (&sent.body, &sent.body_html))?;
        for message in [&sent.summary, &read.summary] {
            let sender = message.sender.clone().map(|sender| sender.user_id);
            equal("the sender", sender, Some(alice.id()))?;
            let expected = BTreeSet::from([bob.id(), carol.id()]);
            equal("the recipients", recipients(message), expected)?;
        }
        Ok(())
    }

    /// Nobody opens a copy that is not theirs, not even of a message that they sent or got.
    async fn anothers_copy_is_absent(suite: &Suite) -> Verdict {
        let (alice, bob, carol) = three(suite).await?;
        let sent = send(suite, &alice, &[&bob, &carol])
            .await?
            .summary
            .message_id;
        let received = only(&inbox(&bob).await?)?.message_id;
        let never = suite.member("dave").await?;
        for (someone, copy) in [
            (&bob, &sent),
            (&alice, &received),
            (&carol, &received),
            (&never, &sent),
        ] {
            for opening in [Opening::Peek, Opening::Read] {
                someone.message(copy, &opening).await?.absent()?;
            }
        }
        let found = only(&inbox(&bob).await?)?.read_at;
        equal("when the copy was read", found, None)
    }

    /// A list is newest first, its pages meet, and whoever walks it while messages come sees each old one once.
    async fn a_folder_is_walked_while_messages_come(suite: &Suite) -> Verdict {
        let (alice, bob, _) = three(suite).await?;
        let mut sent = Vec::new();
        for _ in 0..5 {
            sent.push(send(suite, &alice, &[&bob]).await?.summary.subject);
        }
        let (mut walked, mut after) = (Vec::new(), None);
        for _ in 0..sent.len() {
            let limit = Limit::new(2).unwrap_or_default();
            let list = ListMessages {
                limit,
                after,
                ..ListMessages::default()
            };
            let page = bob.messages(&list).await?.granted()?;
            walked.extend(page.items.into_iter().map(|message| message.subject));
            after = page.next;
            if after.is_none() {
                break;
            }
            send(suite, &alice, &[&bob]).await?;
        }
        sent.reverse();
        equal("the subjects", walked, sent)
    }

    /// The filters give what is unread, and what is read.
    async fn unread_and_read_ones_are_told_apart(suite: &Suite) -> Verdict {
        let (alice, bob, _) = three(suite).await?;
        for _ in 0..3 {
            send(suite, &alice, &[&bob]).await?;
        }
        let all = ids(&inbox(&bob).await?);
        let [newest, middle, oldest] = all.as_slice() else {
            return Err(Stop::broken(
                "the inbox",
                format_args!("{all:?}"),
                "three messages",
            ));
        };
        open(&bob, middle).await?;
        for (unread, expected) in [
            (None, vec![newest, middle, oldest]),
            (Some(true), vec![newest, oldest]),
            (Some(false), vec![middle]),
        ] {
            let list = ListMessages {
                unread,
                ..ListMessages::default()
            };
            let found = ids(&bob.messages(&list).await?.granted()?.items);
            equal(
                format_args!("those of {unread:?}"),
                found.iter().collect::<Vec<_>>(),
                expected,
            )?;
        }
        Ok(())
    }

    /// The count of unread messages is of the inbox alone, and only opening makes it less.
    async fn unread_messages_are_counted(suite: &Suite) -> Verdict {
        let (alice, bob, _) = three(suite).await?;
        for count in 1..=2 {
            send(suite, &alice, &[&bob]).await?;
            unread(&bob, count).await?;
            unread(&alice, 0).await?;
        }
        let all = ids(&inbox(&bob).await?);
        for message in &all {
            bob.message(message, &Opening::Peek).await?.granted()?;
            unread(&bob, 2).await?;
        }
        for (message, left) in all.iter().zip([1, 0]) {
            for _ in 0..2 {
                open(&bob, message).await?;
                unread(&bob, left).await?;
            }
        }
        send(suite, &alice, &[&alice]).await?;
        unread(&alice, 1).await
    }

    /// Subject and body come as they were typed.
    async fn a_message_is_kept_as_it_was_typed(suite: &Suite) -> Verdict {
        let (alice, bob, _) = three(suite).await?;
        let new = SendMessage {
            subject: "Grüße & 茶 <b>".into(),
            body: "Grüße, 茶 & \"tea\" <b>\n\n- ☕️".into(),
            ..message(suite, [bob.by_id()])
        };
        let sent = alice.send_message(&new).await?.granted()?;
        let read = open(&bob, &only(&inbox(&bob).await?)?.message_id).await?;
        for copy in [sent, read] {
            let found = (&copy.summary.subject, &copy.body);
            equal("subject and body", found, (&new.subject, &new.body))?;
        }
        Ok(())
    }

    /// No markup that people send becomes HTML that runs.
    async fn what_is_sent_does_not_run(suite: &Suite) -> Verdict {
        let (alice, bob, _) = three(suite).await?;
        let new = SendMessage {
            body: HARM.into(),
            ..message(suite, [bob.by_id()])
        };
        alice.send_message(&new).await?.granted()?;
        let read = open(&bob, &only(&inbox(&bob).await?)?.message_id).await?;
        harmless(&read.body_html)
    }

    /// What was sent stays when its sender's account is gone, and tells of those recipients who are still there.
    async fn a_message_outlives_accounts(suite: &Suite) -> Verdict {
        suite.needs(Part::Removal)?;
        let (alice, bob, carol) = three(suite).await?;
        send(suite, &alice, &[&bob, &carol]).await?;
        for gone in [&alice, &carol] {
            suite.stage.remove_account(&gone.id()).await?;
        }
        let kept = open(&bob, &only(&inbox(&bob).await?)?.message_id)
            .await?
            .summary;
        equal("the sender", &kept.sender, &None)?;
        let found = recipients(&kept);
        equal("the recipients", found, BTreeSet::from([bob.id()]))
    }
);
