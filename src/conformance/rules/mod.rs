//! The rules for boards: a module for each subject, whose constant `RULES` describes each rule. The rules for stores are in
//! [`stores`].
//!
//! [`board_tests!`](crate::conformance::board_tests) defines a test for each rule:
//! `cargo test rules::polls::` runs the rules of the module [`polls`]. The chapter
//! [`board_rules`](crate::guide::board_rules) of the guide explains what the rules have in common.
//!
//! The descriptions use these words for the results of a command:
//!
//! | word | result |
//! |---|---|
//! | not found | [`PathNotFound`](crate::host::BoardError::PathNotFound) if the path names the resource, [`NotFound`](crate::host::BoardError::NotFound) if the body names it |
//! | forbidden | [`Forbidden`](crate::host::BoardError::Forbidden) |
//! | conflict | [`Conflict`](crate::host::BoardError::Conflict). If exactly one of several concurrent commands succeeds, the others are conflicts |
//! | invalid | [`Validation`](crate::host::BoardError::Validation), with the path of the field in the body, such as `poll.options[1]` |
//!
//! A write of a member who was banned after the request began is forbidden, or not found. A refused command writes
//! nothing. Administrators are moderators of all forums. `null` is `None`.

use super::support::*;
use crate::model::*;

pub mod access;
pub mod approval;
pub mod counters;
pub mod deletion;
pub mod edits;
pub mod event_payload;
pub mod events;
pub mod forums;
pub mod in_reply_to;
pub mod members;
pub mod message_sending;
pub mod messages;
pub mod no_events;
pub mod operations;
pub mod permission;
pub mod poll_edits;
pub mod polls;
pub mod posts;
pub mod receipts;
pub mod replies;
pub mod reputation;
pub mod search;
pub mod search_paging;
pub mod search_visibility;
pub mod service;
pub mod stores;
pub mod subscriptions;
pub mod thread_creation;
pub mod threads;
pub mod visibility;
pub mod votes;

rule_files! {
    __board_tests, Suite;
    visibility: __rules_visibility;
    access: __rules_access;
    service: __rules_service;
    forums: __rules_forums;
    threads: __rules_threads;
    thread_creation: __rules_thread_creation;
    posts: __rules_posts;
    replies: __rules_replies;
    in_reply_to: __rules_in_reply_to;
    permission: __rules_permission;
    members: __rules_members;
    edits: __rules_edits;
    deletion: __rules_deletion;
    counters: __rules_counters;
    approval: __rules_approval;
    subscriptions: __rules_subscriptions;
    polls: __rules_polls;
    votes: __rules_votes;
    poll_edits: __rules_poll_edits;
    reputation: __rules_reputation;
    messages: __rules_messages;
    message_sending: __rules_message_sending;
    receipts: __rules_receipts;
    search: __rules_search;
    search_visibility: __rules_search_visibility;
    search_paging: __rules_search_paging;
    events: __rules_events;
    no_events: __rules_no_events;
    event_payload: __rules_event_payload;
    operations: __rules_operations;
}

/// Runs the rule `name`, such as `polls::a_poll_belongs_to_its_thread`, on a new board.
///
/// # Errors
/// If the rule fails, needs a [`Capability`] that is unsupported, or passes although the host lists it as an
/// [expected difference](BoardFactory::expected_differences).
///
/// # Panics
/// If no rule has this name.
pub async fn run(name: &str, factory: &dyn BoardFactory) -> TestResult {
    let case = find(cases(), name);
    case.run_on(&Suite::new(factory).await?).await
}

/// Runs every rule, each on its own board.
///
/// # Panics
/// If an [expected difference](BoardFactory::expected_differences) names no rule.
pub async fn run_all(factory: &dyn BoardFactory) -> Report {
    check_expected_differences(factory);
    Report::create(cases(), || Suite::new(factory)).await
}

/// Panics if an expected difference names no rule.
#[doc(hidden)]
pub fn check_expected_differences(factory: &dyn BoardFactory) {
    for (rule, _) in factory.expected_differences() {
        let is_rule = cases().any(|case| case.name == *rule);
        assert!(
            is_rule,
            "`BoardFactory::expected_differences` lists `{rule}`, which is not a rule"
        );
    }
}
