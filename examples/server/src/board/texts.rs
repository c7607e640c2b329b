//! What the board's commands say when they refuse, in English and German. `{}` stands for a number or a name.

use std::fmt::Display;

use forum_api::Language;

use super::polls::texts::{self as polls, PollTexts};
use super::ratings::texts::{self as ratings, RatingTexts};

/// The board's sentences in one language.
#[derive(Debug)]
pub struct Texts {
    /// The title has no visible character.
    pub title_missing: &'static str,
    /// The title has more than `{}` characters.
    pub title_too_long: &'static str,
    /// A single-line text has a character that is not allowed in it.
    pub not_single_line: &'static str,
    /// The body has no visible character.
    pub body_missing: &'static str,
    /// The body has more than `{}` characters.
    pub body_too_long: &'static str,
    /// The reason of an edit has more than `{}` characters.
    pub reason_too_long: &'static str,
    /// `{}` seconds have to pass between two posts.
    pub too_soon: &'static str,
    /// No more than `{}` posts an hour.
    pub too_many_posts: &'static str,
    /// The account may not act any more.
    pub account_closed: &'static str,
    /// The caller may not start threads in this forum.
    pub may_not_start: &'static str,
    /// The caller may not reply in this forum.
    pub may_not_reply: &'static str,
    /// The thread is locked.
    pub locked: &'static str,
    /// The thread awaits approval, or is deleted.
    pub not_visible: &'static str,
    /// The post is somebody else's.
    pub not_yours: &'static str,
    /// Deleting a first post deletes the thread, which is for moderators.
    pub takes_moderator: &'static str,
    /// The time in which authors may change their posts is over.
    pub too_late: &'static str,
    /// The post is deleted.
    pub deleted: &'static str,
    /// It is no longer the version that the caller read.
    pub stale: &'static str,
    /// What the caller wants to follow is not there.
    pub no_such_target: &'static str,
    /// The caller does not follow it.
    pub not_followed: &'static str,
    /// The subject has no visible character.
    pub subject_missing: &'static str,
    /// The subject has more than `{}` characters.
    pub subject_too_long: &'static str,
    /// A message's body has no visible character.
    pub message_missing: &'static str,
    /// A message is sent to nobody.
    pub no_recipients: &'static str,
    /// A message is sent to more than `{}` members.
    pub too_many_recipients: &'static str,
    /// A message is sent to somebody who is not there.
    pub recipient_unknown: &'static str,
    /// The member `{}` ignores the sender.
    pub ignored: &'static str,
    /// The inbox of the member `{}` is full.
    pub inbox_full: &'static str,
    /// No more than `{}` messages an hour.
    pub too_many_messages: &'static str,
    /// The body of a read receipt.
    pub receipt: &'static str,
    /// About polls.
    pub polls: PollTexts,
    /// About reputation.
    pub ratings: RatingTexts,
}

impl Texts {
    /// The sentences in `language`.
    pub const fn of(language: Language) -> &'static Self {
        match language {
            Language::English => &ENGLISH,
            Language::German => &GERMAN,
        }
    }
}

/// A sentence with a number, or a name, in the place of `{}`.
pub fn fill(sentence: &str, what: impl Display) -> String {
    sentence.replace("{}", &what.to_string())
}

const ENGLISH: Texts = Texts {
    title_missing: "a thread needs one.",
    not_single_line: "control characters, line breaks and bidirectional overrides are not allowed.",
    title_too_long: "no more than {} characters are allowed.",
    body_missing: "a post needs some text.",
    body_too_long: "no more than {} characters are allowed.",
    reason_too_long: "no more than {} characters are allowed.",
    too_soon: "{} seconds have to pass between two posts.",
    too_many_posts: "No more than {} posts an hour are allowed.",
    account_closed: "This account can no longer act.",
    may_not_start: "You may not start threads in this forum.",
    may_not_reply: "You may not reply in this forum.",
    locked: "This thread is locked.",
    not_visible: "Nobody can reply while this thread is hidden.",
    not_yours: "Only its author and moderators may change this post.",
    takes_moderator: "Only moderators may delete a thread with its first post.",
    too_late: "It is too late to change this post.",
    deleted: "This post is deleted.",
    stale: "This was changed in the meantime.",
    no_such_target: "targetId: there is nothing like that to follow.",
    not_followed: "You do not follow this.",
    subject_missing: "a message needs one.",
    subject_too_long: "no more than {} characters are allowed.",
    message_missing: "a message needs some text.",
    no_recipients: "a message needs a recipient.",
    too_many_recipients: "no more than {} recipients are allowed.",
    recipient_unknown: "to: one of these members does not exist.",
    ignored: "{} takes no messages from you.",
    inbox_full: "the inbox of {} is full.",
    too_many_messages: "No more than {} messages an hour are allowed.",
    receipt: "Your message was read.",
    polls: polls::ENGLISH,
    ratings: ratings::ENGLISH,
};

const GERMAN: Texts = Texts {
    title_missing: "Ein Thema braucht einen Titel.",
    not_single_line: "Steuerzeichen, Zeilenumbrüche und Richtungszeichen sind nicht erlaubt.",
    title_too_long: "Höchstens {} Zeichen sind erlaubt.",
    body_missing: "Ein Beitrag braucht etwas Text.",
    body_too_long: "Höchstens {} Zeichen sind erlaubt.",
    reason_too_long: "Höchstens {} Zeichen sind erlaubt.",
    too_soon: "Zwischen zwei Beiträgen müssen {} Sekunden liegen.",
    too_many_posts: "Höchstens {} Beiträge in der Stunde sind erlaubt.",
    account_closed: "Dieses Konto kann nicht mehr handeln.",
    may_not_start: "In diesem Forum dürfen Sie keine Themen beginnen.",
    may_not_reply: "In diesem Forum dürfen Sie nicht antworten.",
    locked: "Dieses Thema ist geschlossen.",
    not_visible: "Solange dieses Thema verborgen ist, kann niemand antworten.",
    not_yours: "Nur der Verfasser und Moderatoren dürfen diesen Beitrag ändern.",
    takes_moderator: "Nur Moderatoren dürfen mit dem ersten Beitrag ein Thema löschen.",
    too_late: "Für eine Änderung dieses Beitrags ist es zu spät.",
    deleted: "Dieser Beitrag ist gelöscht.",
    stale: "Das wurde inzwischen geändert.",
    no_such_target: "targetId: Dem kann man nicht folgen, denn es ist nicht da.",
    not_followed: "Dem folgen Sie nicht.",
    subject_missing: "Eine Nachricht braucht einen Betreff.",
    subject_too_long: "Höchstens {} Zeichen sind erlaubt.",
    message_missing: "Eine Nachricht braucht etwas Text.",
    no_recipients: "Eine Nachricht braucht einen Empfänger.",
    too_many_recipients: "Höchstens {} Empfänger sind erlaubt.",
    recipient_unknown: "to: Eines dieser Mitglieder gibt es nicht.",
    ignored: "{} nimmt von Ihnen keine Nachrichten an.",
    inbox_full: "Der Posteingang von {} ist voll.",
    too_many_messages: "Höchstens {} Nachrichten in der Stunde sind erlaubt.",
    receipt: "Ihre Nachricht wurde gelesen.",
    polls: polls::GERMAN,
    ratings: ratings::GERMAN,
};
