//! Sends messages.

use forum_api::host::Result;
use forum_api::model::{Message, SendMessage, Timestamp, UserId};

use super::super::db::{Connection, Transaction, bind};
use super::super::events::{Events, Happening};
use super::super::rules;
use super::super::settings::{BODY_MAX, MESSAGES_PER_HOUR, TITLE_MAX};
use super::super::texts::Texts;
use super::copies::{NewMessage, deliver};
use super::folder::one;
use super::recipients;

/// Sends a message, and gives the sender's copy. What is wrong with the message itself is told first, then what
/// keeps the sender from sending, and last what keeps a recipient from getting it.
pub async fn send(
    tx: &Transaction<'_>,
    events: &mut Events,
    sender: i64,
    new: &SendMessage,
    say: &Texts,
) -> Result<Message> {
    let most = TITLE_MAX.get(tx).await?;
    let subject = rules::line(
        "subject",
        &new.subject,
        most,
        (say.subject_missing, say.subject_too_long),
        say,
    )?;
    let most = BODY_MAX.get(tx).await?;
    rules::within(
        "body",
        &new.body,
        most,
        say.message_missing,
        say.body_too_long,
    )?;
    flood(tx, sender, events.now, say).await?;
    let recipients = recipients::find(tx, sender, &new.to, say).await?;
    let message = NewMessage {
        sender,
        subject,
        body: &new.body,
        receipt_requested: new.request_receipt,
        at: events.now,
    };
    let copy = deliver(tx, message, &recipients).await?;
    events.note(Happening::Message {
        copy: copy.into(),
        sender: sender.into(),
        recipients: recipients.into_iter().map(UserId::from).collect(),
    });
    one(tx, sender, copy).await
}

/// Whether a member may send a message now, whoever and however many are to get it.
async fn flood(
    connection: &Connection<'_>,
    sender: i64,
    now: Timestamp,
    say: &Texts,
) -> Result<()> {
    let most = MESSAGES_PER_HOUR.get(connection).await?;
    let parameters = bind! {
        ":sender": sender,
        ":now": now,
        ":since": now.minus(rules::HOUR),
        ":others": i64::from(most) - 1,
    };
    let oldest = connection.first(
        "SELECT sent_at FROM message_copy
         WHERE owner_id = :sender AND folder = 'sent' AND sent_at > :since AND sent_at <= :now
         ORDER BY sent_at DESC LIMIT 1 OFFSET :others",
        parameters,
        |columns| columns.value(),
    );
    rules::pace(oldest.await?, now, most, rules::HOUR, say.too_many_messages)
}
