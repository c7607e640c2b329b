//! Private messages (contract, section 6).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::serde_helpers::non_null;
use super::{Author, MessageId, PageKey, PageLimit, Timestamp, UserRef};

/// A folder of the caller's private messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Folder {
    /// What the caller received.
    #[default]
    Inbox,
    /// What the caller sent.
    Sent,
}

/// A private message without its text. Each party has its own copy with its own id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = MessageSummary::example())]
pub struct MessageSummary {
    /// The id of the caller's copy.
    pub message_id: MessageId,
    /// The folder it is in.
    pub folder: Folder,
    /// Its subject.
    pub subject: String,
    /// Who sent it; null when the account is gone.
    pub sender: Option<Author>,
    /// To whom it was sent.
    pub recipients: Vec<Author>,
    /// When it was sent.
    pub sent_at: Timestamp,
    /// When it was first opened; a sent copy is read from the start.
    pub read_at: Option<Timestamp>,
    /// Whether the sender asked for a read receipt.
    pub receipt_requested: bool,
}

impl MessageSummary {
    fn example() -> Self {
        Self {
            message_id: MessageId::from(9),
            folder: Folder::Inbox,
            subject: "Tea".into(),
            sender: Some(Author::example()),
            recipients: vec![Author::example()],
            sent_at: Timestamp::from_millis(1_769_860_800_000),
            read_at: None,
            receipt_requested: true,
        }
    }
}

/// A private message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = Message::example())]
pub struct Message {
    /// All but the text.
    #[serde(flatten)]
    pub summary: MessageSummary,
    /// The source markup.
    pub body: String,
    /// The source rendered and sanitised.
    pub body_html: String,
}

impl Message {
    fn example() -> Self {
        Self {
            summary: MessageSummary::example(),
            body: "At five?".into(),
            body_html: "<p>At five?</p>\n".into(),
        }
    }
}

/// What opening a message does to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkRead {
    /// `GET`: it is read from now on, and its sender gets the receipt that was asked for.
    Yes,
    /// `HEAD`: nothing.
    No,
}

/// What `GET /messages` takes.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ListMessagesParams {
    /// Which folder to list.
    pub folder: Folder,
    /// Only unread ones, or only read ones.
    #[serde(deserialize_with = "non_null")]
    pub unread: Option<bool>,
    /// How many to return.
    #[serde(skip_serializing)]
    pub limit: PageLimit,
    /// The `next` of the page before.
    #[serde(skip_serializing)]
    pub after: Option<PageKey>,
}

/// What `POST /messages` takes.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("required" = ["to", "subject", "body"]))]
#[schemars(example = json!({"to": ["@bob"], "subject": "Tea", "body": "At five?", "requestReceipt": true}))]
#[non_exhaustive]
pub struct NewMessage {
    /// The recipients; one who is named twice counts once.
    pub to: Vec<UserRef>,
    /// The subject; empty when it was left out, and the board refuses that.
    #[serde(default)]
    pub subject: String,
    /// The source markup; empty when it was left out, and the board refuses that.
    #[serde(default)]
    pub body: String,
    /// Whether each recipient's first reading sends the caller a receipt.
    #[serde(default)]
    pub request_receipt: bool,
}
