//! The backends that every case runs on.

use std::path::PathBuf;
use std::pin::Pin;
use std::task::Poll;

use forum_api::model::Timestamp;
use forum_api::store::Stores;
use forum_api::store::sqlite::{Database, Location};
use forum_api::token::Lookup;
use tempfile::TempDir;

/// Stores, and what has to live as long as they do.
pub(crate) struct Backend {
    pub(crate) stores: Stores,
    _directory: Option<TempDir>,
}

impl Backend {
    pub(crate) fn memory() -> Self {
        Self {
            stores: Stores::in_memory(),
            _directory: None,
        }
    }

    pub(crate) fn sqlite_memory() -> Self {
        let database = Database::open(&Location::Memory).unwrap();
        Self {
            stores: Stores::in_sqlite(&database),
            _directory: None,
        }
    }

    pub(crate) fn sqlite_file() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self {
            stores: Stores::in_sqlite(&open(&directory)),
            _directory: Some(directory),
        }
    }
}

/// The file in `directory`.
pub(crate) fn path(directory: &TempDir) -> PathBuf {
    directory.path().join("forum.db")
}

/// The database in `directory`, made if it is not there.
pub(crate) fn open(directory: &TempDir) -> Database {
    Database::open(&Location::File {
        path: path(directory),
        create: true,
    })
    .unwrap()
}

/// Names one test for each case on each backend.
macro_rules! on_every_backend {
    ($($case:ident)+) => {
        mod memory { $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $case() { super::$case(&crate::backend::Backend::memory().stores).await; }
        )+ }

        mod sqlite_file { $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $case() { super::$case(&crate::backend::Backend::sqlite_file().stores).await; }
        )+ }

        mod sqlite_memory { $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $case() { super::$case(&crate::backend::Backend::sqlite_memory().stores).await; }
        )+ }
    };
}

pub(crate) use on_every_backend;

pub(crate) fn lookup(number: u64) -> Lookup {
    Lookup::parse(&format!("{number:016}")).unwrap()
}

/// So many milliseconds after the beginning.
pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_767_225_600_000 + millis)
}

/// Whether it waits, having been polled once.
pub(crate) async fn waits<F: Future + Unpin>(future: &mut F) -> bool {
    std::future::poll_fn(|context| Poll::Ready(Pin::new(&mut *future).poll(context).is_pending()))
        .await
}
