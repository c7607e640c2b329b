//! What happens when a message is opened.

use forum_api::host::{Refusal, Result};
use forum_api::model::{Folder, Message, MessageId, Opening, SendMessage, UserRef};

use super::Fault;
use super::plant::Plant;
use super::sound::{Sound, member};
use super::twist::{Question, Twist};

pub const FAULTS: &[Fault] = &[
    (
        "a_message_is_read_once",
        "a message was read when it was sent",
        Plant::Message(Twist::Granted(|message, _| {
            let summary = &mut message.summary;
            summary.read_at = summary.read_at.map(|_| summary.sent_at);
        })),
    ),
    (
        "a_peek_changes_nothing",
        "to peek is to read",
        Plant::Message(Twist::Ask(|question| question.it.1 = Opening::Read)),
    ),
    (
        "no_receipt_comes_unasked",
        "every message asks for a receipt",
        Plant::SendMessage(Twist::Ask(|question| question.it.0.request_receipt = true)),
    ),
    (
        "one_receipt_comes_however_many_race",
        "openings that race send a receipt each",
        Plant::Message(Twist::Instead(|sound, question| {
            Box::pin(telling(sound, question, question.racing, |_| true))
        })),
    ),
    (
        "each_reader_is_told_of_once",
        "a receipt is told of, too",
        Plant::Message(Twist::Instead(|sound, question| {
            Box::pin(telling(sound, question, true, |message| {
                message.summary.subject.starts_with("Read: ")
            }))
        })),
    ),
    (
        "a_receipt_is_unread",
        "nobody has to read a receipt",
        Plant::Messages(Twist::Granted(|page, _| {
            for message in &mut page.items {
                if message.subject.starts_with("Read: ") {
                    message.read_at = Some(message.sent_at);
                }
            }
        })),
    ),
    (
        "an_ignored_reader_opens_as_any_other",
        "to ignore a member is to ban them",
        Plant::Ignore(Twist::Instead(|sound, question| {
            Box::pin(sound.set(sound.stage.set_banned(&question.it.1, true)))
        })),
    ),
    (
        "a_message_is_opened_when_nobody_is_left_to_be_told",
        "a receipt for nobody fails the opening",
        Plant::Message(Twist::Answer(|message, _| {
            let asks = |message: &Message| message.summary.receipt_requested;
            if message.as_ref().is_ok_and(|it| it.summary.sender.is_none() && asks(it)) {
                *message = Err(Refusal::failed("nobody is there to be told"));
            }
        })),
    ),
    (
        "a_request_for_a_receipt_is_told",
        "a sender is not told that they asked for a receipt",
        Plant::SendMessage(Twist::Granted(|message, _| {
            message.summary.receipt_requested = false;
        })),
    ),
    (
        "a_sender_who_opens_their_copy_is_told_of_nothing",
        "to open what was sent sends a receipt",
        Plant::Message(Twist::Instead(|sound, question| {
            Box::pin(telling(sound, question, true, |message| {
                message.summary.folder == Folder::Sent
            }))
        })),
    ),
];

/// Opens a message, and sends one more receipt for it where it is of a kind.
async fn telling(
    sound: &Sound,
    question: &Question<(MessageId, Opening)>,
    tells: bool,
    these: fn(&Message) -> bool,
) -> Result<Message> {
    let (by, (id, opening)) = (member(&question.by)?, question.it.clone());
    let message = sound.board.message(by, id, opening).await?;
    if tells && these(&message) {
        let sender = message.summary.sender.clone();
        let mut receipt = SendMessage::default();
        receipt.to = sender.map(|sender| UserRef::Id(sender.user_id)).into_iter().collect();
        receipt.subject = format!("Read: {}", message.summary.subject);
        receipt.body = "It was read.".into();
        sound.board.send_message(by, receipt).await?;
    }
    Ok(message)
}
