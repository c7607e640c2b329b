//! Every endpoint through the real server and over sockets, in a file that its method and URL name.
//!
//! `cargo test` builds the server; for this binary alone, `cargo build --example server` has to come first.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    non_snake_case,
    unreachable_pub,
    reason = "a test that goes wrong is to fail, nobody imports it, and URLs have names of their own"
)]

#[path = "../server/client.rs"]
#[allow(dead_code, reason = "the tests of the program use the rest")]
mod client;
mod places;
#[path = "../server/program.rs"]
#[allow(dead_code, reason = "the tests of the program use the rest")]
mod program;
mod road;

mod delete_subscriptions_target_targetId;
mod delete_threads_threadId_posts_postId;
mod get_messages;
mod get_messages_messageId;
mod get_subscriptions;
mod patch_threads_threadId_posts_postId;
mod post_messages;
mod post_subscriptions;
