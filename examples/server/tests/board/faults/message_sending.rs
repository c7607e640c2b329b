//! Messages that are sent to the wrong ones, or in spite of something.

use forum_api::host::{Refusal, Result};
use forum_api::model::{Message, SendMessage, UserRef};

use super::plant::Plant;
use super::sound::{Sound, member};
use super::twist::{Question, Twist};
use super::{Fault, says};

pub const FAULTS: &[Fault] = &[
    (
        "a_recipient_who_is_named_twice_gets_one_copy",
        "who is named by name gets a message of their own",
        Plant::SendMessage(Twist::Instead(|sound, question| {
            Box::pin(async {
                let (by, (new,)) = (member(&question.by)?, &question.it);
                let mut named = new.clone();
                named.to.retain(|user| matches!(user, UserRef::Name(_)));
                drop(sound.board.send_message(by, named).await);
                sound.board.send_message(by, new.clone()).await
            })
        })),
    ),
    (
        "a_member_may_write_to_themselves",
        "nobody writes to themselves",
        Plant::SendMessage(Twist::Answer(|message, question| {
            let own = question.by.user().cloned().map(UserRef::Id);
            if question.it.0.to.iter().any(|user| Some(user) == own.as_ref()) {
                *message = Err(Refusal::Forbidden("Talk to yourself.".into()));
            }
        })),
    ),
    (
        "an_incomplete_message_is_refused",
        "an empty subject becomes a dash",
        Plant::SendMessage(Twist::Ask(|question| {
            let new = &mut question.it.0;
            if new.subject.trim().is_empty() {
                new.subject = "-".into();
            }
        })),
    ),
    (
        "a_subject_is_a_single_line",
        "a bidirectional override is left out of a subject",
        Plant::SendMessage(Twist::Ask(|question| {
            let new = &mut question.it.0;
            new.subject.retain(|letter| letter != '\u{202e}');
        })),
    ),
    (
        "nobody_gets_a_message_with_an_unknown_recipient",
        "who is known gets a message, whoever the others are",
        Plant::SendMessage(Twist::Instead(|sound, question| {
            Box::pin(to_the_first(sound, question, |refusal| {
                matches!(refusal, Refusal::NotFound(_))
            }))
        })),
    ),
    (
        "an_ignored_member_may_not_write",
        "an ignored member's message goes to the others",
        Plant::SendMessage(Twist::Instead(|sound, question| {
            Box::pin(to_the_first(sound, question, |refusal| {
                matches!(refusal, Refusal::Forbidden(_))
            }))
        })),
    ),
    (
        "an_ignored_member_may_not_write",
        "nobody is ignored",
        Plant::Ignore(Twist::Made(|_| Ok(()))),
    ),
    (
        "a_banned_member_writes_no_longer",
        "who was banned meanwhile sends",
        Plant::SendMessage(Twist::Forced(|refusal, _| says(refusal, "account"))),
    ),
];

/// What is refused to all goes to the first of them, and is refused all the same.
async fn to_the_first(
    sound: &Sound,
    question: &Question<(SendMessage,)>,
    these: fn(&Refusal) -> bool,
) -> Result<Message> {
    let (by, (new,)) = (member(&question.by)?, &question.it);
    let sent = sound.board.send_message(by, new.clone()).await;
    if sent.as_ref().is_err_and(these) {
        let mut first = new.clone();
        first.to.truncate(1);
        sound.board.send_message(by, first).await?;
    }
    sent
}
