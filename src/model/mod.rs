//! The wire types, one file per resource (`docs/protocol.md`, section 11), used by the host and by the JSON alike.
//!
//! What a host *builds* (`Thread`, `Post` …) is exhaustive: a new field is a compile error, so that the compiler
//! tells of it. What a host *receives* (`ListPostsParams`, `NewThread` …) is `#[non_exhaustive]` and has a default: a
//! new parameter breaks nobody.

mod author;
mod date_range;
mod expected;
mod forum;
mod id;
mod me;
mod member;
mod message;
mod page;
mod poll;
mod post;
mod rating;
mod search;
mod search_query;
mod serde_helpers;
mod subscription;
mod text;
mod thread;
mod time;

pub use author::Author;
pub use date_range::DateRange;
pub(crate) use expected::Expected;
pub use forum::Forum;
pub use id::{
    DeliveryId, EndpointId, EventId, ForumId, InvalidIdError, MessageId, OptionId, PollId, PostId,
    RatingId, TargetId, ThreadId, UserId, UserRef,
};
pub use me::{Me, OwnAccount, TokenInfo};
pub use member::Member;
pub use message::{Folder, ListMessagesParams, MarkRead, Message, MessageSummary, NewMessage};
pub use page::{InvalidPageKeyError, Page, PageKey, PageLimit};
pub use poll::{NewPoll, NewVote, Poll, PollOption, PollOptionUpdate, PollUpdate};
pub use post::{BodyFormat, ListPostsParams, NewPost, Post, PostPath, PostUpdate};
pub use rating::{NewRating, Rating};
pub use search::{SearchField, SearchHit, SearchHitKind, SearchParams, SearchShow, SearchSort};
pub use search_query::{SearchQuery, SearchTerm};
pub(crate) use serde_helpers::{FORBIDDEN_CHARS, text_pattern};
pub(crate) use subscription::NewSubscription;
pub use subscription::{
    ListSubscriptionsParams, SubscribeOutcome, Subscription, SubscriptionTarget,
    SubscriptionTargetKind,
};
pub use text::is_single_line;
pub use thread::{ContentState, LastPost, ListThreadsParams, NewThread, Thread};
pub use time::Timestamp;
