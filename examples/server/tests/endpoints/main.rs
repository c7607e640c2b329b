//! Every endpoint through the real server and over sockets, in a file that its method and URL name.
//!
//! `cargo test` builds the examples; for this binary alone, `cargo build --examples` has to come first.

#![allow(non_snake_case, reason = "URLs have names of their own")]

use forum_test_support::{client, program};

mod minimal;
mod places;
mod road;

mod all;
mod codes;
mod delete_subscriptions_target_targetId;
mod delete_threads_threadId_posts_postId;
mod get_forums;
mod get_forums_forumId_threads;
mod get_me;
mod get_members_userId;
mod get_messages;
mod get_messages_messageId;
mod get_search;
mod get_subscriptions;
mod get_threads_threadId;
mod get_threads_threadId_poll;
mod get_threads_threadId_posts;
mod patch_polls_pollId;
mod patch_threads_threadId_posts_postId;
mod post_forums_forumId_threads;
mod post_members_userId_reputation;
mod post_messages;
mod post_polls_pollId_votes;
mod post_subscriptions;
mod post_threads_threadId_posts;
