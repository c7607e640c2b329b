//! A board that was there before, and the API that was added to it.
//!
//! **What was there** is in `before`: a club's board in Postgres. Its members sign in with a link that they are sent,
//! read topics, and reply to them with an HTML form; some sections are for members or for staff alone. It has words, ids
//! and tables of its own (a forum is a *section*, a thread a *topic*, a post an *entry*), and none of them changed.
//!
//! **What was added** is in `added`, a file for each thing that the API has to know:
//!
//! - `standing`: what a member may see, by the rank that the pages go by (the trait `Authority`);
//! - `board`: sections, topics and entries, a query a method (the trait `Board`). `reply` is the command behind the form;
//!   what this board does not have stays unwritten, and answers 501;
//! - `words`: which of the board's words is which of the API's;
//! - `refused`: which of the form's refusals is which of the API's;
//! - `events`: what an entry puts into the outbox;
//! - `webhooks`: who is told of events, and the worker that tells them.
//!
//! What the library keeps for itself is in the board's own database, through the board's own pool. Elsewhere a few lines
//! are new, marked *Added*: here those that mount the API and start the worker, in `before/mod.rs` the one that makes the
//! library's tables, and in `before/reply.rs` the one that puts an entry's event into the entry's transaction.
//!
//! ```sh
//! cargo run --example existing_board -- postgres://user:password@localhost/database [ADDRESS [RECEIVER]]
//! ```
//!
//! `RECEIVER` is a URL that is told of each new entry, such as `http://127.0.0.1:9090`, where the example `receiver`
//! listens.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod added;
mod before;

use std::net::SocketAddr;
use std::time::Duration;

use before::{Club, connect, members, pages};
use forum_api::host::BoxError;
use forum_api::runtime::{Clock, SystemClock, SystemEntropy};
use forum_api::scope::Surface;
use forum_api::store::postgres::Postgres;
use forum_api::token::{Issue, issue};

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let mut arguments = std::env::args().skip(1);
    let database = arguments.next().ok_or("say which database: postgres://…")?;
    let address = arguments.next().unwrap_or("127.0.0.1:8080".into());
    let receiver = arguments.next();
    let club = Club::open(connect(&database)?, Duration::from_secs(15)).await?;
    let (alice, link) = members::sample(&club).await?;

    let app = pages::routes(club.clone()).nest_service("/api/v1", added::api(&club)); // Added.
    added::webhooks::start(&club)?; // Added.

    let listener = tokio::net::TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    println!("Sign in as alice: http://{address}/in/{link}");
    let token = token(&club, alice).await?;
    println!("curl -H 'authorization: Bearer {token}' http://{address}/api/v1/forums");
    if let Some(url) = receiver {
        let secret = added::webhooks::register(&club, alice, url).await?;
        let secret = secret.reveal();
        println!("WEBHOOK_SECRETS={secret} cargo run --example receiver");
    }
    let service = app.into_make_service_with_connect_info::<SocketAddr>();
    Ok(axum::serve(listener, service).await?)
}

/// A new token of this member's, for all that the API knows.
async fn token(club: &Club, member: i64) -> Result<String, BoxError> {
    let scopes: Vec<_> = Surface::Full
        .scopes()
        .map(|scope| scope.to_string())
        .collect();
    let wanted = Issue {
        owner: &member.into(),
        label: "first steps",
        scopes: &scopes,
        expires_in_days: "1",
    };
    let tokens = Postgres::new(club.pool.clone());
    let now = SystemClock.now();
    let (token, _) = issue(&tokens, &SystemEntropy, Surface::Full, wanted, now).await?;
    Ok(token.reveal().to_owned())
}
