//! Private messages and their receipts.

use forum_api::model::{Folder, Opening};

use super::Fault;
use super::plant::Plant;

pub const FAULTS: &[Fault] = &[
    (
        "whoever knows a message's id opens it",
        Plant::OpensOthers,
        "messages::anothers_copy_is_absent",
    ),
    (
        "every folder is the inbox",
        Plant::AskMessages(|list| list.folder = Folder::Inbox),
        "messages::each_party_has_a_copy_of_its_own",
    ),
    (
        "`unread` is ignored",
        Plant::AskMessages(|list| list.unread = None),
        "messages::unread_and_read_ones_are_told_apart",
    ),
    (
        "nothing is ever unread",
        Plant::Me(|account| account.unread_messages = Some(0)),
        "messages::unread_messages_are_counted",
    ),
    (
        "to peek is to read",
        Plant::AskMessage(|opening| *opening = Opening::Read),
        "receipts::a_peek_changes_nothing",
    ),
    (
        "to read is to peek",
        Plant::AskMessage(|opening| *opening = Opening::Peek),
        "receipts::a_message_is_read_once",
    ),
    (
        "every message asks for a receipt",
        Plant::AskSend(|new| new.request_receipt = true),
        "receipts::no_receipt_comes_unasked",
    ),
    (
        "no message asks for a receipt",
        Plant::AskSend(|new| new.request_receipt = false),
        "receipts::one_receipt_comes_however_many_race",
    ),
    (
        "an empty subject becomes a dash",
        Plant::AskSend(|new| {
            if new.subject.trim().is_empty() {
                new.subject = "-".into();
            }
        }),
        "sending::an_incomplete_message_is_refused",
    ),
    (
        "the first recipient gets a message, whoever the others are",
        Plant::AskSend(|new| new.to.truncate(1)),
        "sending::nobody_gets_a_message_with_an_unknown_recipient",
    ),
];
