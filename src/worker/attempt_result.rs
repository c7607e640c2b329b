//! How an attempt ended.

use std::time::Duration;

use crate::host::{Fault, Stored};
use crate::model::Timestamp;
use crate::store::Claimed;
use crate::webhook::{Answer, Attempted, Outcome};

/// How an attempt ended, and what is kept of it for the operator.
pub(super) struct Tried {
    pub(super) outcome: Outcome,
    pub(super) attempted: Option<Attempted>,
}

impl Tried {
    /// Nothing was sent, and nothing will be.
    pub(super) const WITHHELD: Self = Self {
        outcome: Outcome::Withheld,
        attempted: None,
    };

    /// An attempt whose worker had begun to send, and never recorded the end.
    pub(super) fn lost(claimed: &Claimed, now: Timestamp) -> Self {
        Self {
            outcome: Outcome::LeaseExpired,
            attempted: Some(Attempted {
                error: Some("the worker that had it never said how it ended".into()),
                ..entry(claimed, now, Duration::ZERO)
            }),
        }
    }

    /// Nothing was sent, and the next attempt follows after `wait`.
    pub(super) fn postponed(
        claimed: &Claimed,
        now: Timestamp,
        wait: Duration,
        fault: &Fault,
    ) -> Self {
        Self {
            outcome: Outcome::Postponed(wait),
            attempted: Some(Attempted {
                error: Some(beginning(format!("nothing was sent: {fault}"))),
                ..entry(claimed, now, Duration::ZERO)
            }),
        }
    }

    /// How long it took, if something was sent.
    pub(super) fn took(&self) -> Option<Duration> {
        let was_sent = matches!(self.outcome, Outcome::Answered(_) | Outcome::Unanswered);
        let sent = self.attempted.as_ref().filter(|_| was_sent);
        sent.map(|sent| Duration::from_millis(sent.duration_ms))
    }

    /// It was sent at `at`, and this came of it.
    pub(super) fn sent(
        claimed: &Claimed,
        at: Timestamp,
        took: Duration,
        answer: Stored<Answer>,
    ) -> Self {
        let entry = entry(claimed, at, took);
        let (outcome, attempted) = match answer {
            Ok(answer) => (
                Outcome::Answered(answer.status),
                Attempted {
                    status: Some(answer.status),
                    answer: Some(beginning(answer.excerpt)),
                    ..entry
                },
            ),
            Err(fault) => (
                Outcome::Unanswered,
                Attempted {
                    error: Some(beginning(fault.to_string())),
                    ..entry
                },
            ),
        };
        Self {
            outcome,
            attempted: Some(attempted),
        }
    }
}

fn entry(claimed: &Claimed, at: Timestamp, took: Duration) -> Attempted {
    Attempted {
        attempt: claimed.delivery.progress.attempts + 1,
        at,
        status: None,
        error: None,
        duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        answer: None,
    }
}

/// As much as is kept of an answer, or of what went wrong, in whole characters.
fn beginning(mut text: String) -> String {
    while text.len() > Answer::KEPT {
        text.pop();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Answer, beginning};

    const KEPT: usize = Answer::KEPT;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        for (text, length) in [
            ("", 0),
            (&*"x".repeat(KEPT), KEPT),
            (&*"x".repeat(KEPT + 1), KEPT),
            (&*format!("{}€", "x".repeat(KEPT - 1)), KEPT - 1),
        ] {
            assert_eq!(beginning(text.to_owned()), text[..length]);
        }
    }
}
