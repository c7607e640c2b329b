//! Types of the API's requests and responses, one file for each resource ([protocol](crate::guide::protocol), section 11).
//!
//! They are the parameters and results of [`Board`](crate::host::Board), and the schemas of the OpenAPI document.
//!
//! - A host *builds* resources, such as [`Thread`] and [`Post`], with `new`, and assigns the fields that its board
//!   supports. `new` sets the others to the values of a board that does not support them, also a field that a later
//!   version adds. `None` is sent as `null`; the documentation of the field gives its meaning.
//! - Parameters and bodies that a host *receives*, such as [`PostFilter`] and [`NewThread`], are `#[non_exhaustive]`:
//!   a new parameter does not break the host. An omitted optional parameter has its default or is `None`, which means
//!   "not filtered" in the filters of a list and "not changed" in the values of a [`PollUpdate`].
//! - Resources, bodies, ids and times implement `Serialize` and `Deserialize`, so that a client in Rust can use them.
//!   Types that are not on the wire, such as [`Page`] and [`OwnAccount`], implement neither.
//! - Counts are `u64`; [`saturating_u64`] converts the integers of a database. Versions and points are `i64`; the library
//!   does not limit them, and the board rejects values out of range with
//!   [`BoardError::validation`](crate::host::BoardError::validation).
//! - Texts in requests contain neither U+0000 nor byte-order marks. A request body has at most
//!   [`ApiSettings::body_limit`](crate::ApiSettings::body_limit) bytes. The board checks the other rules for the texts
//!   and polls of a body, such as the length of a text, [single-line](is_single_line) titles, or at least two options.
//!
//! A host creates the types that it receives with `Default`, `new` or `From`, for example in a test of a command:
//!
//! ```
//! use forum_api::model::NewThread;
//!
//! let mut new = NewThread::default();
//! new.title = "Which tea?".into();
//! new.body = "Green or *black*?".into();
//! assert!(new.poll.is_none() && !new.subscribe);
//! ```

mod author;
mod cursor;
mod date_range;
mod error_code;
pub(crate) mod error_reason;
mod expected;
mod extra;
pub(crate) mod field_update;
mod forum;
mod id;
mod json_size;
mod list;
mod me;
mod member;
mod message;
mod page;
mod poll;
mod post;
mod rating;
mod saturating_u64;
mod search;
mod search_query;
mod serde_helpers;
mod subscription;
mod text;
mod thread;
mod time;

pub use crate::error::ParseError;
pub use author::Author;
pub use cursor::{Cursor, CursorPage};
pub use date_range::DateRange;
pub use error_code::{ErrorBody, ErrorCode, ErrorObject};
pub(crate) use expected::Expected;
pub use extra::{BodyExtra, Extra, ExtraError};
pub use field_update::FieldUpdate;
pub use forum::{Forum, ForumList};
pub(crate) use id::ID;
#[cfg(feature = "reference")]
pub(crate) use id::ID_CHARACTERS;
pub use id::{
    AuditEntryId, DeliveryId, EndpointId, EventId, ForumId, InvalidIdError, MessageId, OptionId,
    PollId, PostId, RatingId, ThreadId, UserId, UserRef,
};
pub(crate) use id::{ID_PATTERN, TargetId, check_id};
pub use list::List;
pub(crate) use list::{CursorScope, PageForm};
pub use me::{Me, OwnAccount, TokenInfo};
pub use member::Member;
pub use message::{Folder, MarkRead, Message, MessageFilter, MessageSummary, NewMessage};
pub use page::{InvalidPageKeyError, Page, PageKey, PageLimit};
pub use poll::{NewPoll, NewVote, Poll, PollOption, PollOptionUpdate, PollUpdate};
pub use post::{BodyFormat, NewPost, Post, PostFilter, PostPath, PostSort, PostUpdate};
pub use rating::{NewRating, Rating};
pub use saturating_u64::saturating_u64;
pub use search::{SearchField, SearchFilter, SearchHit, SearchHitKind, SearchShow, SearchSort};
pub use search_query::{SearchQuery, SearchTerm};
#[cfg(feature = "webhooks")]
pub(crate) use serde_helpers::remove_examples;
pub(crate) use serde_helpers::{FORBIDDEN_CHARS, first_paragraph};
pub use subscription::{
    NewSubscription, Subscription, SubscriptionFilter, SubscriptionTarget, SubscriptionTargetKind,
};
#[cfg(feature = "webhooks")]
pub(crate) use text::is_invisible;
pub use text::{is_blank, is_single_line, text_to_html};
pub(crate) use text::{is_dotted_name, is_printable, is_single_line_char};
pub use thread::{ContentState, LastPost, NewThread, Thread, ThreadFilter};
pub use time::Timestamp;
pub(crate) use time::{CLOCK_TOLERANCE, DAY, HOUR};
