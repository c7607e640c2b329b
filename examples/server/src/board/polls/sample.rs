//! A poll for tests: of three options up to two can be chosen, and three members voted.

use forum_api::model::{Poll, PollOption};

/// The poll.
pub fn poll() -> Poll {
    let option = |id: i64, text: &str| PollOption {
        option_id: id.into(),
        text: text.into(),
        votes: 1,
    };
    Poll {
        poll_id: 1.into(),
        thread_id: 1.into(),
        question: "Tea?".into(),
        author: None,
        options: vec![option(7, "yes"), option(8, "no"), option(9, "both")],
        total_votes: 3,
        max_choices: 2,
        can_change_vote: false,
        closes_at: None,
        closed: false,
        own_vote: None,
        version: 4,
    }
}
