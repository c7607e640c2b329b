//! Rules for boards, in one file for each resource. The rules for stores are in [`stores`].

use super::support::*;
use crate::model::*;

mod access;
mod approval;
mod counters;
mod deletion;
mod edits;
mod event_payload;
mod events;
mod forums;
mod in_reply_to;
mod members;
mod message_sending;
mod messages;
mod no_events;
mod operations;
mod permission;
mod poll_edits;
mod polls;
mod posts;
mod receipts;
mod replies;
mod reputation;
mod search;
mod search_paging;
mod search_visibility;
mod service;
pub(crate) mod stores;
mod subscriptions;
mod thread_creation;
mod threads;
mod visibility;
mod votes;

rule_files! {
    __board_tests, Suite;
    visibility access service forums threads thread_creation posts replies in_reply_to permission members edits deletion counters
    approval subscriptions polls votes poll_edits reputation messages message_sending receipts search search_visibility
    search_paging events no_events event_payload operations
}

/// Runs every rule, each on its own board.
pub async fn run_all(factory: &dyn BoardFactory) -> Report {
    Report::create(CASES, || Suite::new(factory)).await
}
