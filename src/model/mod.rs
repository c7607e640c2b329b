//! The wire types, one file per resource (contract, section 6), used by the host and by the JSON alike.
//!
//! What a host *builds* (`Thread`, `Post` …) is exhaustive: a new field is a compile error, so that the compiler
//! tells of it. What a host *receives* (`ListPosts`, `StartThread` …) is `#[non_exhaustive]` and has a default: a
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
pub use date_range::When;
pub(crate) use expected::Expected;
pub use forum::Forum;
pub use id::{
    DeliveryId, EndpointId, EventId, ForumId, MessageId, NoSuchId, OptionId, PollId, PostId,
    RatingId, TargetId, ThreadId, UserId, UserRef,
};
pub use me::{Account, Me, TokenInfo};
pub use member::Profile;
pub use message::{Folder, ListMessages, Message, MessageSummary, Opening, SendMessage};
pub use page::{Limit, NoSuchPosition, Page, Position};
pub use poll::{EditOption, EditPoll, NewPoll, Poll, PollOption, Vote};
pub use post::{BodyFormat, EditPost, ListPosts, Post, PostAt, Reply};
pub use rating::{Rate, Rating};
pub use search::{HitKind, Search, SearchHit, SearchIn, Show, Sort};
pub use search_query::{Query, Term};
pub(crate) use serde_helpers::{FORBIDDEN_CHARS, text_pattern};
pub(crate) use subscription::Follow;
pub use subscription::{Followed, ListSubscriptions, Subscription, Target, TargetKind};
pub use text::is_single_line;
pub use thread::{LastPost, ListThreads, StartThread, State, Thread};
pub use time::Timestamp;
