//! The rules for boards, one file a resource; those for stores are in [`stores`].

use super::support::*;

pub(crate) mod stores;

rule_files! {
    __board_tests, Suite;
    visibility access service forums threads thread_creation posts replies permission members edits deletion counters
    approval subscriptions polls votes poll_edits reputation messages message_sending receipts search search_visibility
    search_paging events no_events event_payload
}
