//! Private messages.

use forum_api::model::{Author, Folder};

use super::Fault;
use super::plant::Plant;
use super::sound::member;
use super::twist::Twist;

pub const FAULTS: &[Fault] = &[
    (
        "each_party_has_a_copy_of_its_own",
        "every folder is the inbox",
        Plant::Messages(Twist::Ask(|question| question.it.0.folder = Folder::Inbox)),
    ),
    (
        "each_party_has_a_copy_of_its_own",
        "what is sent is unread",
        Plant::SendMessage(Twist::Granted(|message, _| message.summary.read_at = None)),
    ),
    (
        "a_message_tells_who_sent_it_and_to_whom",
        "a recipient is told of the first one alone",
        Plant::Message(Twist::Granted(|message, _| message.summary.recipients.truncate(1))),
    ),
    (
        "anothers_copy_is_absent",
        "whoever knows a message's id opens it",
        Plant::Message(Twist::Instead(|sound, question| {
            Box::pin(async {
                let (id, opening) = &question.it;
                let mut found = sound.board.message(member(&question.by)?, id.clone(), *opening).await;
                for other in sound.members().await {
                    if found.is_err() {
                        found = sound.board.message(&other, id.clone(), *opening).await;
                    }
                }
                found
            })
        })),
    ),
    (
        "a_folder_is_walked_while_messages_come",
        "the last message of a page is lost",
        Plant::Messages(Twist::Granted(|page, _| {
            let left = page.items.len() - usize::from(page.next.is_some());
            page.items.truncate(left);
        })),
    ),
    (
        "unread_and_read_ones_are_told_apart",
        "`unread` is ignored",
        Plant::Messages(Twist::Ask(|question| question.it.0.unread = None)),
    ),
    (
        "unread_messages_are_counted",
        "nothing is ever unread",
        Plant::Me(Twist::Granted(|account, _| account.unread_messages = Some(0))),
    ),
    (
        "a_message_outlives_accounts",
        "who is gone is called somebody",
        Plant::Message(Twist::Granted(|message, _| {
            message.summary.sender.get_or_insert(Author {
                user_id: 0.into(),
                username: "somebody".into(),
                avatar_url: None,
            });
        })),
    ),
    (
        "a_message_is_kept_as_it_was_typed",
        "empty lines are lost",
        Plant::SendMessage(Twist::Ask(|question| {
            let new = &mut question.it.0;
            new.body = new.body.replace("\n\n", "\n");
        })),
    ),
    (
        "what_is_sent_does_not_run",
        "HTML is what was typed",
        Plant::Message(Twist::Granted(|message, _| message.body_html.clone_from(&message.body))),
    ),
];
