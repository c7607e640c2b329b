//! First answers by `Idempotency-Key`.

use bytes::Bytes;

use super::Shelf;
use super::store_fixture::{at, lookup};
use super::{Stop, Verdict, equal};
use crate::model::{ForumId, PostId, ThreadId};
use crate::store::{Attempt, Begin, Kept, Outcome, ResourceIds, Ticket};

const LEASE: i64 = 60_000;
const DAY: i64 = 86_400_000;

store_rules!(
    mod idempotency;

    /// Of any number of like requests at once, one alone is the first, and the others are told that it runs.
    async fn of_fifty_at_once_one_is_the_first(shelf: &Shelf) -> Verdict {
        let attempt = attempt()?;
        let works = (0..50).map(|_| {
            let (idempotency, attempt) = (shelf.stores.idempotency.clone(), attempt.clone());
            async move { idempotency.begin(&attempt, at(0)).await }
        });
        let (mut firsts, mut running) = (0, 0);
        for said in shelf.race(works).await {
            match said? {
                Begin::First(_) => firsts += 1,
                Begin::Running => running += 1,
                other => {
                    return Err(Stop::broken(
                        "begin",
                        format_args!("{other:?}"),
                        "First or Running",
                    ));
                }
            }
        }
        let what = "how many were the first, and told that it runs";
        let found = (firsts, running);
        equal(what, found, (1, 49))
    }

    /// A repeat gets the whole first answer with what it is about, for a day.
    async fn the_first_answer_is_repeated_whole(shelf: &Shelf) -> Verdict {
        let bare = Kept {
            status: 200,
            location: None,
            body: Bytes::new(),
            resource: ResourceIds::default(),
        };
        let in_a_forum = Kept {
            resource: ResourceIds {
                forum_id: ForumId::new("tea"),
                ..ResourceIds::default()
            },
            ..bare.clone()
        };
        for (key, kept) in [("a", kept()), ("b", bare), ("c", in_a_forum)] {
            let attempt = Attempt {
                key: key.into(),
                ..attempt()?
            };
            let ticket = first(shelf, &attempt, 0).await?;
            settle(shelf, &ticket, Outcome::Answered(kept.clone())).await?;
            for now in [0, 1, LEASE, DAY - 1] {
                says(shelf, &attempt, now, Begin::Repeat(kept.clone())).await?;
            }
        }
        Ok(())
    }

    /// Another request with the key is told so, however the first one stands.
    async fn another_request_is_told_so_in_every_state(shelf: &Shelf) -> Verdict {
        let ticket = first(shelf, &attempt()?, 0).await?;
        says(shelf, &other_request()?, 1, Begin::OtherRequest).await?;
        says(shelf, &other_request()?, LEASE, Begin::OtherRequest).await?;
        for outcome in [Outcome::Unknown, Outcome::Answered(kept())] {
            settle(shelf, &ticket, outcome).await?;
            says(shelf, &other_request()?, 1, Begin::OtherRequest).await?;
        }
        Ok(())
    }

    /// The same key of another token is another key.
    async fn a_key_is_per_token(shelf: &Shelf) -> Verdict {
        let ticket = first(shelf, &attempt()?, 0).await?;
        settle(shelf, &ticket, Outcome::Answered(kept())).await?;
        let ticket = first(shelf, &other_token()?, 0).await?;
        settle(shelf, &ticket, Outcome::DidNotRun).await?;
        says(shelf, &attempt()?, 1, Begin::Repeat(kept())).await
    }

    /// Keys that differ in the case of a letter are two.
    async fn a_key_is_taken_by_the_letter(shelf: &Shelf) -> Verdict {
        for key in ["key", "KEY", "Key", "key~", "!"] {
            let attempt = Attempt {
                key: key.into(),
                ..attempt()?
            };
            first(shelf, &attempt, 0).await?;
        }
        Ok(())
    }

    /// A run that does not end is taken to go on for its lease; afterwards nobody knows.
    async fn a_run_that_does_not_end_is_unknown_after_its_lease(shelf: &Shelf) -> Verdict {
        first(shelf, &attempt()?, 0).await?;
        for (now, said) in [
            (0, Begin::Running),
            (LEASE - 1, Begin::Running),
            (LEASE, Begin::Unknown),
            (DAY - 1, Begin::Unknown),
        ] {
            says(shelf, &attempt()?, now, said).await?;
        }
        Ok(())
    }

    /// A run that ends after its lease has an answer all the same.
    async fn a_run_that_ends_late_is_repeated(shelf: &Shelf) -> Verdict {
        let ticket = first(shelf, &attempt()?, 0).await?;
        says(shelf, &attempt()?, LEASE, Begin::Unknown).await?;
        settle(shelf, &ticket, Outcome::Answered(kept())).await?;
        says(shelf, &attempt()?, LEASE, Begin::Repeat(kept())).await
    }

    /// A refusal changed nothing and leaves the key free, for any request.
    async fn what_surely_did_not_run_frees_the_key(shelf: &Shelf) -> Verdict {
        let ticket = first(shelf, &attempt()?, 0).await?;
        settle(shelf, &ticket, Outcome::DidNotRun).await?;
        let ticket = first(shelf, &other_request()?, 1).await?;
        settle(shelf, &ticket, Outcome::Answered(kept())).await?;
        says(shelf, &attempt()?, 2, Begin::OtherRequest).await
    }

    /// An outcome that nobody knows stays unknown.
    async fn what_nobody_knows_stays_unknown(shelf: &Shelf) -> Verdict {
        let ticket = first(shelf, &attempt()?, 0).await?;
        settle(shelf, &ticket, Outcome::Unknown).await?;
        for now in [0, LEASE, DAY - 1] {
            says(shelf, &attempt()?, now, Begin::Unknown).await?;
        }
        Ok(())
    }

    /// A key is forgotten when its day is over, at that very instant.
    async fn a_key_is_forgotten_after_a_day(shelf: &Shelf) -> Verdict {
        let ticket = first(shelf, &attempt()?, 0).await?;
        settle(shelf, &ticket, Outcome::Answered(kept())).await?;
        says(shelf, &other_request()?, DAY - 1, Begin::OtherRequest).await?;
        first(shelf, &other_request()?, DAY).await?;
        says(shelf, &other_request()?, DAY, Begin::Running).await
    }

    /// A run without end is forgotten, too.
    async fn a_run_without_end_is_forgotten_too(shelf: &Shelf) -> Verdict {
        first(shelf, &attempt()?, 0).await?;
        first(shelf, &attempt()?, DAY).await.map(drop)
    }

    /// A ticket of a key that was forgotten, or freed, changes nothing of its successor.
    async fn a_ticket_of_a_forgotten_key_changes_nothing(shelf: &Shelf) -> Verdict {
        let forgotten = first(shelf, &attempt()?, 0).await?;
        first(shelf, &attempt()?, DAY).await?;
        for outcome in [
            Outcome::Answered(kept()),
            Outcome::Unknown,
            Outcome::DidNotRun,
        ] {
            settle(shelf, &forgotten, outcome).await?;
            says(shelf, &attempt()?, DAY, Begin::Running).await?;
        }
        let freed = first(shelf, &other_token()?, 0).await?;
        settle(shelf, &freed, Outcome::DidNotRun).await?;
        settle(shelf, &freed, Outcome::Answered(kept())).await?;
        first(shelf, &other_token()?, 1).await.map(drop)
    }

    /// Many keys live side by side, and are forgotten each in its own time, though a clock that was set back has put some
    /// out of order.
    async fn many_keys_live_side_by_side(shelf: &Shelf) -> Verdict {
        let mut attempts = Vec::new();
        for number in 0..30_i64 {
            let attempt = Attempt {
                key: number.to_string(),
                ..attempt()?
            };
            attempts.push((attempt, 100 - number));
        }
        for (attempt, began) in &attempts {
            let ticket = first(shelf, attempt, *began).await?;
            settle(shelf, &ticket, Outcome::Answered(kept())).await?;
        }
        for (attempt, began) in attempts.iter().rev() {
            says(shelf, attempt, began + DAY - 1, Begin::Repeat(kept())).await?;
            first(shelf, attempt, began + DAY).await?;
        }
        for (attempt, _) in &attempts {
            first(shelf, attempt, 3 * DAY).await?;
        }
        Ok(())
    }
);

fn attempt() -> Verdict<Attempt> {
    Ok(Attempt {
        token: lookup(1)?,
        key: "key".into(),
        request: [1; 32],
    })
}

fn other_request() -> Verdict<Attempt> {
    Ok(Attempt {
        request: [2; 32],
        ..attempt()?
    })
}

fn other_token() -> Verdict<Attempt> {
    Ok(Attempt {
        token: lookup(2)?,
        ..attempt()?
    })
}

fn kept() -> Kept {
    Kept {
        status: 201,
        location: Some("/api/v1/threads/7".into()),
        body: Bytes::from_static(b"{\"id\":\"7\"}\0\xff"),
        resource: ResourceIds {
            forum_id: Some(ForumId::from(5)),
            thread_id: ThreadId::new("thread-7_a"),
            post_id: Some(PostId::from(-9)),
        },
    }
}

async fn first(shelf: &Shelf, attempt: &Attempt, now: i64) -> Verdict<Ticket> {
    match shelf.stores.idempotency.begin(attempt, at(now)).await? {
        Begin::First(ticket) => Ok(ticket),
        other => Err(Stop::broken(
            format_args!("begin({attempt:?}) at {now}"),
            format_args!("{other:?}"),
            "First",
        )),
    }
}

async fn says(shelf: &Shelf, attempt: &Attempt, now: i64, expected: Begin) -> Verdict {
    let said = shelf.stores.idempotency.begin(attempt, at(now)).await?;
    equal(format_args!("begin({attempt:?}) at {now}"), said, expected)
}

async fn settle(shelf: &Shelf, ticket: &Ticket, outcome: Outcome) -> Verdict {
    Ok(shelf.stores.idempotency.settle(ticket, outcome).await?)
}
