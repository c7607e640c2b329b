//! Sends messages.

use forum_api::host::Result;
use forum_api::model::{Message, SendMessage, Timestamp, UserId};
use rusqlite::{Connection, OptionalExtension, Savepoint};

use super::super::events::{Events, Happening};
use super::super::rules;
use super::super::settings::{BODY_MAX, MESSAGES_PER_HOUR, TITLE_MAX};
use super::super::texts::Texts;
use super::copies::{NewMessage, deliver};
use super::folder::one;
use super::recipients;

/// Sends a message, and gives the sender's copy. What is wrong with the message itself is told first, then what
/// keeps the sender from sending, and last what keeps a recipient from getting it.
pub fn send(
    tx: &Savepoint<'_>,
    events: &mut Events,
    sender: i64,
    new: &SendMessage,
    say: &Texts,
) -> Result<Message> {
    let most = TITLE_MAX.get(tx)?;
    let subject = rules::line(
        &new.subject,
        most,
        say.subject_missing,
        say.subject_too_long,
    )?;
    let most = BODY_MAX.get(tx)?;
    rules::within(&new.body, most, say.message_missing, say.body_too_long)?;
    flood(tx, sender, events.now, say)?;
    let recipients = recipients::find(tx, sender, &new.to, say)?;
    let message = NewMessage {
        sender,
        subject,
        body: &new.body,
        receipt_requested: new.request_receipt,
        at: events.now,
    };
    let copy = deliver(tx, message, &recipients)?;
    events.note(Happening::Message {
        copy: copy.into(),
        sender: sender.into(),
        recipients: recipients.into_iter().map(UserId::from).collect(),
    });
    one(tx, sender, copy)
}

/// Whether a member may send a message now, whoever and however many are to get it.
fn flood(connection: &Connection, sender: i64, now: Timestamp, say: &Texts) -> Result<()> {
    let most = MESSAGES_PER_HOUR.get(connection)?;
    let mut query = connection.prepare_cached(
        "SELECT sent_at FROM message_copy WHERE owner_id = ?1 AND folder = 'sent' AND sent_at > ?2
         ORDER BY sent_at DESC LIMIT 1 OFFSET ?3 - 1",
    )?;
    let parameters = (sender, now.minus(rules::HOUR), most);
    let oldest = query.query_row(parameters, |row| row.get(0)).optional()?;
    rules::pace(oldest, now, most, rules::HOUR, say.too_many_messages)
}
