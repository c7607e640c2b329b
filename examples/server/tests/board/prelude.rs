//! The names that most files of these tests use.

pub use std::collections::{BTreeSet, HashMap};
pub use std::sync::Arc;
pub use std::sync::atomic::{AtomicUsize, Ordering};
pub use std::time::Duration;

pub use forum_api::conformance::{BoardFactory, BoardFixture, FixtureResult};
pub use forum_api::host::{BoardError, BoardResult, Host};
pub use forum_api::model::{Timestamp, UserId};
pub use forum_api::runtime::{Clock, ManualClock, SystemClock};
pub use forum_api::store::Stores;
pub use forum_api::store::postgres::tokio_postgres_0_7::connect;
pub use forum_api::test_util::TestApi;
pub use forum_api::{ApiSettings, Language, async_trait};
pub use serde_json::{Value, json};

pub use crate::backend::{Backend, Storage};
pub use crate::board::access::groups::{Group, Groups};
pub use crate::board::batches::BatchKind;
pub use crate::board::db::{BoardDatabase, Transaction, bind};
pub use crate::board::generate::ContentSize;
pub use crate::board::posts::moderation;
pub use crate::board::{ReferenceBoard, accounts, settings};
pub use crate::demo::{Demo, api_of, body, number, posts_path, thread_in};
pub use crate::postgres::run_with_postgres;
