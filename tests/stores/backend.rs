//! The backends that every rule is tried on.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use forum_api::async_trait;
use forum_api::conformance::{Set, store_tests, stores::Keeper};
use forum_api::model::Timestamp;
use forum_api::runtime::{Runtime, TokioRuntime};
use forum_api::store::sqlite::{Database, Location};
use forum_api::store::{Stores, Webhooks};
use forum_api::token::Lookup;
use tempfile::TempDir;

/// A way to empty stores, and what has to live as long as they do.
struct Backend {
    stores: fn(&TempDir) -> (Stores, Webhooks),
    directory: TempDir,
}

impl Backend {
    fn new(stores: fn(&TempDir) -> (Stores, Webhooks)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self { stores, directory }
    }
}

#[async_trait]
impl Keeper for Backend {
    async fn empty(&self) -> Set<(Stores, Webhooks)> {
        Ok((self.stores)(&self.directory))
    }

    fn runtime(&self) -> Arc<dyn Runtime> {
        Arc::new(TokioRuntime)
    }
}

fn block_on(case: impl Future<Output = ()>) {
    tokio::runtime::Runtime::new().unwrap().block_on(case);
}

mod memory {
    use super::*;

    store_tests!(
        Backend::new(|_| (Stores::in_memory(), Webhooks::in_memory())),
        block_on
    );
}

mod sqlite_memory {
    use super::*;

    store_tests!(
        Backend::new(|_| in_sqlite(&Database::open(&Location::Memory).unwrap())),
        block_on
    );
}

mod sqlite_file {
    use super::*;

    store_tests!(
        Backend::new(|directory| in_sqlite(&open(directory))),
        block_on
    );
}

fn in_sqlite(database: &Database) -> (Stores, Webhooks) {
    (Stores::in_sqlite(database), Webhooks::in_sqlite(database))
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
