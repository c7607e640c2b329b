//! The rules that the board keeps, as far as it goes: the conformance suite, and that of stores.

use std::sync::Arc;

use forum_api::async_trait;
use forum_api::clock::{Runtime, TokioRuntime};
use forum_api::conformance::stores::{self, Keeper, Shelf};
use forum_api::conformance::{Set, board_tests};
use forum_api::store::postgres::MIGRATE;
use forum_api::store::{Stores, Webhooks};

use crate::added::stores::OwnTables;
use crate::database::{schema, try_in_postgres};
use crate::stage::Existing;

mod board {
    use super::*;

    board_tests!(Existing, try_in_postgres);
}

/// Keeps what the board keeps in its own tables there, and the rest in memory.
struct Own;

#[async_trait]
impl Keeper for Own {
    async fn empty(&self) -> Set<(Stores, Webhooks)> {
        let pool = schema().await;
        pool.get().await?.execute(MIGRATE, &[]).await?;
        let own = Arc::new(OwnTables(pool));
        let tokens = Stores {
            tokens: own.clone(),
            ..Stores::in_memory()
        };
        let outbox = Webhooks {
            outbox: own,
            ..Webhooks::in_memory()
        };
        Ok((tokens, outbox))
    }

    fn runtime(&self) -> Arc<dyn Runtime> {
        Arc::new(TokioRuntime)
    }
}

/// The rules about the outbox that ask for endpoints need them in the same store.
const OUTBOX: [&str; 4] = [
    "outbox::what_is_put_waits_whole",
    "outbox::an_event_is_put_once",
    "outbox::the_oldest_wait_first",
    "outbox::of_one_moment_the_first_put_waits_first",
];

#[test]
fn tokens_and_the_outbox_are_kept_as_in_any_store() {
    try_in_postgres(async {
        let about = |name: &str| name.starts_with("tokens::") || OUTBOX.contains(&name);
        let cases = stores::CASES.iter().filter(|case| about(case.name));
        let mut tried = 0;
        for case in cases {
            let verdict = case.check(Shelf::new(&Own)).await;
            assert!(verdict.is_ok(), "{}: {verdict:?}", case.name);
            tried += 1;
        }
        assert!(tried > OUTBOX.len(), "there are rules about tokens");
    });
}
