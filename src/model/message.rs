//! Private messages ([protocol](crate::guide::protocol), sections 11 and 12.3).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::serde_helpers::first_paragraph;
use super::{Author, BodyExtra, Extra, MessageId, Timestamp, UserRef};

/// A folder of the caller's private messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Folder {
    /// Messages that the caller received.
    #[default]
    Inbox,
    /// Messages that the caller sent.
    Sent,
}

/// A private message without its text. The sender and each recipient have their own copy with its own id.
///
/// A copy belongs to one member: [`open_message`](crate::host::Board::open_message) returns
/// [`BoardError::PathNotFound`](crate::host::BoardError::PathNotFound) to any other member. A message to oneself has two
/// copies.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = first_paragraph)]
#[non_exhaustive]
pub struct MessageSummary {
    /// The id of the caller's copy.
    pub message_id: MessageId,
    /// The folder of the copy.
    pub folder: Folder,
    /// The subject.
    pub subject: String,
    /// The sender; null if the account no longer exists.
    pub sender: Option<Author>,
    /// The recipients whose accounts still exist.
    pub recipients: Vec<Author>,
    /// Time of sending.
    pub sent_at: Timestamp,
    /// `true` if the copy was opened. Always `true` for a sent copy.
    pub read: bool,
    /// Time at which the copy was first opened, or the time of sending for a sent copy; null if the copy is unread or the
    /// board does not record the time.
    pub read_at: Option<Timestamp>,
    /// `true` if the sender asked for a read receipt.
    pub receipt_requested: bool,
    /// Absolute URL of the page for people; null if the board has none.
    ///
    /// `None` lets the library set it from [`Environment::web_urls`](crate::Environment::web_urls).
    #[schemars(transform = first_paragraph)]
    pub web_url: Option<String>,
    /// Fields that only this board has; null if there are none.
    pub extra: Option<Extra>,
}

impl MessageSummary {
    /// Creates an unread copy without a sender or recipients. No receipt is requested.
    pub fn new(
        message_id: MessageId,
        folder: Folder,
        subject: impl Into<String>,
        sent_at: Timestamp,
    ) -> Self {
        Self {
            message_id,
            folder,
            subject: subject.into(),
            sender: None,
            recipients: Vec::new(),
            sent_at,
            read: false,
            read_at: None,
            receipt_requested: false,
            web_url: None,
            extra: None,
        }
    }

    /// An unread copy of a recipient.
    pub(crate) fn example() -> Self {
        let sent_at = Timestamp::from_millis(1_769_860_800_000);
        Self {
            sender: Some(Author::example()),
            recipients: vec![Author::other_example()],
            receipt_requested: true,
            ..Self::new(MessageId::from(2), Folder::Inbox, "Tea", sent_at)
        }
    }
}

/// A private message.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Message {
    /// Everything except the text.
    #[serde(flatten)]
    pub summary: MessageSummary,
    /// The source markup.
    pub body: String,
    /// The markup rendered to sanitised HTML.
    pub body_html: String,
}

impl Message {
    /// Creates a message with this source markup and sanitised HTML.
    pub fn new(
        summary: MessageSummary,
        body: impl Into<String>,
        body_html: impl Into<String>,
    ) -> Self {
        Self { summary, body: body.into(), body_html: body_html.into() }
    }

    /// The copy of a recipient who opens it.
    pub(crate) fn example() -> Self {
        let unread = MessageSummary::example();
        Self::with_summary(MessageSummary {
            read: true,
            read_at: Some(Timestamp::from_millis(1_769_861_700_000)),
            ..unread
        })
    }

    /// The sender's copy.
    pub(crate) fn sent_example() -> Self {
        let received = MessageSummary::example();
        Self::with_summary(MessageSummary {
            message_id: MessageId::from(1),
            folder: Folder::Sent,
            read: true,
            read_at: Some(received.sent_at),
            ..received
        })
    }

    fn with_summary(summary: MessageSummary) -> Self {
        Self::new(summary, "At five?", "<p>At five?</p>\n")
    }
}

/// Indicates whether [`open_message`](crate::host::Board::open_message) marks the copy as read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkRead {
    /// `GET`: the first opening marks the copy as read, and sends the receipt if the sender requested one.
    #[default]
    Yes,
    /// `HEAD`: changes nothing.
    No,
}

/// Filters of `GET /messages`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct MessageFilter {
    /// Folder to list: `inbox` or `sent`. Default: `inbox`.
    pub folder: Folder,
    /// `true` lists unread messages only, `false` read ones only. Default: all messages.
    pub unread: Option<bool>,
}

/// Body of `POST /messages`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("required" = ["to", "subject", "body"]))]
#[schemars(rename = "MessageInput")]
#[non_exhaustive]
pub struct NewMessage {
    /// The recipients, at least one. A recipient that is named twice counts once.
    ///
    /// [`UserRef::partition`] separates ids and names.
    #[schemars(transform = first_paragraph)]
    pub to: Vec<UserRef>,
    /// The subject. The board rejects a missing or empty subject.
    #[serde(default)]
    pub subject: String,
    /// The source markup. The board rejects a missing or empty text.
    #[serde(default)]
    pub body: String,
    /// `true` to send the caller a receipt when a recipient first opens the message: a message from the recipient with the
    /// subject `Read: ` and the subject of the message. Default: `false`.
    #[serde(default)]
    pub request_receipt: bool,
    /// Fields of the host; `None` if `extra` is absent or `null`. A body with `extra` is refused with 400 unless the
    /// host registered a type with [`ForumApiBuilder::extra`](crate::ForumApiBuilder::extra).
    #[serde(skip)]
    pub extra: Option<BodyExtra>,
}

impl NewMessage {
    pub(crate) fn example() -> Self {
        Self {
            to: vec![UserRef::Name("bob".into())],
            subject: "Tea".into(),
            body: "At five?".into(),
            request_receipt: true,
            extra: None,
        }
    }
}
