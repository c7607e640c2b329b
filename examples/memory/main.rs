//! A complete board in memory: all endpoints, and all rules of the conformance suite.
//!
//! `cargo run --example memory [ADDRESS]` prints requests to try. `cargo test --example memory` runs the suite.
//!
//! The board stores the library's response types. It computes counts, states and permissions when it returns them. One
//! mutex takes the place of a database's transactions: a command checks everything before it changes anything.

#![cfg_attr(
    not(test),
    warn(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)
)]

mod board;

use std::sync::Arc;

use forum_api::runtime::SystemClock;
use forum_api::scope::Surface;
use forum_api::store::Stores;
use forum_api::token::TokenRequest;
use forum_api::{Environment, ForumApi};

use board::{Deletions, MemoryBoard, Role};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let board = Arc::new(MemoryBoard::new(Arc::new(SystemClock), Deletions::default()));
    let alice = board.add_member("alice", Role::Administrator);
    board.add_member("bob", Role::Member);
    let forum = board.add_forum("General", None, Role::Guest, Role::Newcomer);

    let stores = Stores::in_memory();
    let scopes: Vec<_> = Surface::Full.scopes().collect();
    let request = TokenRequest::new(&alice, &scopes);
    let (token, _) = Environment::default().issue_token(&stores, request).await?;

    let argument = std::env::args().nth(1);
    let address = argument.as_deref().unwrap_or("127.0.0.1:8080");
    let listener = tokio::net::TcpListener::bind(address).await?;
    let url = format!("http://{}/api/v1", listener.local_addr()?);
    println!("TOKEN={}", token.expose_secret());
    println!(
        r#"curl -H "authorization: Bearer $TOKEN" --json '{{"title":"Tea","body":"Green?"}}' {url}/forums/{forum}/threads"#
    );
    println!(
        r#"curl -H "authorization: Bearer $TOKEN" --json '{{"to":["@bob"],"subject":"Tea","body":"At five?"}}' {url}/messages"#
    );
    println!("curl {url}/forums/{forum}/threads");
    println!("curl '{url}/search?q=tea'");

    let api = ForumApi::builder(board, stores).axum_0_8().build()?;
    let app = axum::Router::new().fallback_service(api);
    let service = app.into_make_service_with_connect_info::<std::net::SocketAddr>();
    Ok(axum::serve(listener, service).await?)
}

#[cfg(test)]
mod tests {
    use crate::board::Deletions;
    use crate::board::fixture::Factory;

    fn block_on<T>(case: impl Future<Output = T>) -> T {
        tokio::runtime::Runtime::new().unwrap().block_on(case)
    }

    forum_api::conformance::board_tests!(Factory::default(), block_on);

    const PLACES: Factory = Factory { deletions: Deletions::LeavePlace };

    mod with_places {
        use super::*;

        forum_api::conformance::board_tests!(PLACES, block_on);
    }

    const TREE: Factory = Factory { deletions: Deletions::TakeReplies };

    /// Of the other rules, only those about deletions differ.
    mod with_trees {
        use super::*;

        fn run(rule: &str) {
            let case = forum_api::conformance::run(rule, &TREE);
            block_on(forum_api::conformance::report_test(rule, case));
        }

        #[test]
        fn replies_are_deleted_with_the_answered_post() {
            use forum_api::conformance::rules::{counters, deletion, events, in_reply_to};

            for rules in [counters::RULES, deletion::RULES, events::RULES, in_reply_to::RULES] {
                rules.iter().for_each(|rule| run(rule));
            }
        }
    }
}
