//! What a worker has taken, and how it ends.

use std::collections::HashSet;
use std::time::Duration;

use super::Shelf;
use super::delivery_fixture::{LEASE, attempted, progress, room};
use super::store_fixture::at;
use super::{Verdict, equal, holds};
use crate::store::{ATTEMPTS_KEPT, Claimed, Settlement};
use crate::webhook::{Attempted, Progress, State};

store_rules!(
    mod leases;

    /// What one worker has taken no other one gets while the lease is in force.
    async fn a_lease_in_force_is_respected(shelf: &Shelf) -> Verdict {
        claimed(shelf).await?;
        shelf.nothing_due(0).await?;
        shelf.nothing_due(LEASE - 1).await
    }

    /// A lease that expires after sending began is reported by the next claim, which leaves the delivery as it was.
    async fn a_lease_that_ran_out_is_told(shelf: &Shelf) -> Verdict {
        let first = claimed(shelf).await?;
        holds("sending begins", shelf.begins(&first, 1).await?)?;
        let second = shelf.take(LEASE).await?;
        holds("it is told that a lease ran out", second.lease_expired)?;
        holds("the leases are two", first.lease != second.lease)?;
        let counted = second.delivery.progress.attempts;
        equal("how many attempts were counted", counted, 0)?;
        let retrying = progress(State::Retrying, 1, Some(LEASE));
        is_settled(shelf, &second, retrying, true).await?;
        let third = shelf.take(LEASE).await?;
        let what = "a lease that was settled did not run out";
        holds(what, !third.lease_expired)
    }

    /// A lease that expires before sending began is not an attempt: the delivery is due again, as it was.
    async fn a_lease_that_ends_before_sending_is_not_an_attempt(shelf: &Shelf) -> Verdict {
        let first = claimed(shelf).await?;
        let second = shelf.take(LEASE).await?;
        holds("no attempt failed", !second.lease_expired)?;
        holds("the leases are two", first.lease != second.lease)?;
        let (before, after) = (first.delivery.progress, second.delivery.progress);
        equal("its state", after.state, before.state)?;
        equal("its attempts", after.attempts, before.attempts)
    }

    /// Sending begins only under a lease that is in force and has not expired, for each delivery of a batch by itself.
    async fn sending_begins_only_while_the_lease_holds(shelf: &Shelf) -> Verdict {
        let endpoint = shelf.add(1).await?;
        for number in 1..=4 {
            shelf.queue(number, &endpoint, 0).await?;
        }
        let all = shelf.claim(&room(4), 0).await?.taken;
        let [held, settled, returned, removed] = all.as_slice() else {
            return equal("how many were claimed", all.len(), 4);
        };
        is_settled(shelf, settled, progress(State::Retrying, 1, Some(5)), true).await?;
        give_back(shelf, returned, 3).await?;
        let deliveries = &shelf.webhooks.deliveries;
        deliveries.remove(&removed.delivery.id).await?;
        let begun = deliveries.begin_sending(&all, at(LEASE - 1)).await?;
        let expected = HashSet::from([held.delivery.id.clone()]);
        equal("where sending begins", begun, expected)?;
        let begun = deliveries.begin_sending(&all, at(LEASE)).await?;
        equal("where sending begins", begun, HashSet::new())?;
        let again = shelf.claim(&room(4), LEASE).await?.taken;
        let lost = again.iter().filter(|one| one.lease_expired);
        let lost: Vec<_> = lost.map(|one| &one.delivery.id).collect();
        equal("whose attempt failed", lost, vec![&held.delivery.id])?;
        holds("the lease is another's", !shelf.begins(held, LEASE).await?)
    }

    /// A delivery that is returned after sending began was not attempted.
    async fn what_is_given_back_after_sending_began_was_no_attempt(shelf: &Shelf) -> Verdict {
        let first = claimed(shelf).await?;
        holds("sending begins", shelf.begins(&first, 1).await?)?;
        give_back(shelf, &first, 20).await?;
        let second = shelf.take(20).await?;
        holds("no attempt failed", !second.lease_expired)
    }

    /// A lease ends with its settlement; the second one changes nothing.
    async fn a_lease_is_settled_once(shelf: &Shelf) -> Verdict {
        let claimed = claimed(shelf).await?;
        let delivered = progress(State::Delivered, 1, None);
        is_settled(shelf, &claimed, delivered, true).await?;
        for other in [delivered, progress(State::Retrying, 1, Some(5))] {
            is_settled(shelf, &claimed, other, false).await?;
        }
        shelf.is_at(&claimed.delivery.id, delivered).await?;
        shelf.nothing_due(2 * LEASE).await
    }

    /// Who lost the lease to another changes nothing.
    async fn what_is_anothers_by_now_is_not_settled(shelf: &Shelf) -> Verdict {
        let first = claimed(shelf).await?;
        let second = shelf.take(LEASE).await?;
        let (dead, log) = (progress(State::Dead, 6, None), attempted(6));
        let settled = shelf.note(&first, dead, Some(&log), LEASE).await?;
        equal("whether it was settled", settled, false)?;
        let (delivery, attempts) = shelf.found(&first.delivery.id).await?;
        equal("its state", delivery.progress.state, State::Queued)?;
        equal("its attempts", attempts, vec![])?;
        is_settled(shelf, &second, progress(State::Delivered, 1, None), true).await
    }

    /// Who comes late, but before anybody else took the delivery, is heard.
    async fn what_ends_late_is_settled_if_nobody_took_it(shelf: &Shelf) -> Verdict {
        let claimed = claimed(shelf).await?;
        let delivered = progress(State::Delivered, 1, None);
        let settled = shelf.settle(&claimed, delivered, 5 * LEASE).await?;
        equal("whether it was settled", settled, true)?;
        shelf.nothing_due(6 * LEASE).await
    }

    /// What ends together is noted together, each as it is; what is another's by now is left out, and spoils nothing.
    async fn what_ends_together_is_settled_together(shelf: &Shelf) -> Verdict {
        let endpoint = shelf.add(1).await?;
        for number in 1..=4 {
            shelf.queue(number, &endpoint, 0).await?;
        }
        let lost = shelf.take(0).await?;
        let again = shelf.claim(&room(4), LEASE).await?.taken;
        let outcomes = [
            (progress(State::Delivered, 1, None), Some(attempted(1))),
            (progress(State::Retrying, 2, Some(9)), Some(attempted(2))),
            (progress(State::Withheld, 3, None), None),
            (progress(State::Dead, 6, None), Some(attempted(6))),
        ];
        let ends = again.iter().zip(&outcomes);
        let mut settlements: Vec<_> = ends
            .clone()
            .map(|(claimed, (progress, log))| Settlement::new(claimed, *progress, log.clone()))
            .collect();
        let lost = Settlement::new(&lost, progress(State::Gone, 1, None), Some(attempted(5)));
        let settled = shelf.settle_all(std::slice::from_ref(&lost), LEASE).await?;
        equal("what was settled", settled, HashSet::new())?;
        settlements.retain(|one| one.delivery != lost.delivery);
        settlements.insert(1, lost.clone());
        let settled = shelf.settle_all(&settlements, LEASE).await?;
        let expected = again.iter().map(|one| one.delivery.id.clone());
        let expected = expected.filter(|id| *id != lost.delivery).collect();
        equal("what was settled", settled, expected)?;
        for (claimed, (progress, log)) in ends.filter(|(one, _)| one.delivery.id != lost.delivery) {
            let (delivery, attempts) = shelf.found(&claimed.delivery.id).await?;
            equal("how far it has come", delivery.progress, *progress)?;
            equal("its attempts", attempts, Vec::from_iter(log.clone()))?;
        }
        let (_, attempts) = shelf.found(&lost.delivery).await?;
        equal("the attempts of what is another's", attempts, vec![])
    }

    /// What a worker gives back was not attempted, and is due when it says.
    async fn what_is_given_back_was_no_attempt(shelf: &Shelf) -> Verdict {
        let claimed = claimed(shelf).await?;
        give_back(shelf, &claimed, 20).await?;
        let queued = progress(State::Queued, 0, Some(20));
        shelf.is_at(&claimed.delivery.id, queued).await?;
        is_settled(shelf, &claimed, progress(State::Dead, 6, None), false).await?;
        shelf.nothing_due(19).await?;
        let again = shelf.take(20).await?;
        equal("how far it has come", again.delivery.progress, queued)?;
        holds("no lease ran out", !again.lease_expired)
    }

    /// Who lost the lease to another does not give it back.
    async fn what_is_anothers_by_now_is_not_given_back(shelf: &Shelf) -> Verdict {
        let first = claimed(shelf).await?;
        let second = shelf.take(LEASE).await?;
        give_back(shelf, &first, 0).await?;
        shelf.nothing_due(LEASE).await?;
        is_settled(shelf, &second, progress(State::Delivered, 1, None), true).await?;
        give_back(shelf, &second, 0).await?;
        shelf.nothing_due(LEASE).await
    }

    /// A lease that expired after sending began is an attempt, also when the delivery is returned once more.
    async fn a_lease_that_ran_out_is_told_again_when_given_back(shelf: &Shelf) -> Verdict {
        let first = claimed(shelf).await?;
        holds("sending begins", shelf.begins(&first, 1).await?)?;
        let second = shelf.take(LEASE).await?;
        give_back(shelf, &second, LEASE).await?;
        let third = shelf.take(LEASE).await?;
        holds("it is told that a lease ran out", third.lease_expired)
    }

    /// Every field of an attempt comes back, and the attempts in their order.
    async fn attempts_are_kept_whole_and_in_their_order(shelf: &Shelf) -> Verdict {
        let unanswered = Attempted {
            status: None,
            error: Some("no \"answer\" \u{2190} in time".into()),
            answer: None,
            duration_ms: u64::from(u32::MAX) + 1,
            at: at(-1),
            ..attempted(2)
        };
        let log = [attempted(1), unanswered, attempted(3)];
        let endpoint = shelf.add(1).await?;
        let id = shelf.queue(1, &endpoint, 0).await?;
        let other = shelf.queue(2, &endpoint, 1).await?;
        for one in &log {
            let claimed = shelf.take(0).await?;
            let retrying = progress(State::Retrying, one.attempt, Some(0));
            shelf.note(&claimed, retrying, Some(one), 0).await?;
        }
        let (_, attempts) = shelf.found(&id).await?;
        equal("its attempts", attempts.as_slice(), &log)?;
        equal("the other's attempts", shelf.found(&other).await?.1, vec![])
    }

    /// The attempts of ten rounds are kept, the latest ones.
    async fn the_latest_attempts_are_kept(shelf: &Shelf) -> Verdict {
        let endpoint = shelf.add(1).await?;
        let id = shelf.queue(1, &endpoint, 0).await?;
        for number in 1..=ATTEMPTS_KEPT + 7 {
            let taken = shelf.claim(&room(1), 0).await?.taken;
            for claimed in &taken {
                let (retrying, log) = (progress(State::Retrying, 1, Some(0)), attempted(number));
                shelf.note(claimed, retrying, Some(&log), 0).await?;
            }
        }
        let (_, attempts) = shelf.found(&id).await?;
        let kept: Vec<_> = attempts.iter().map(|one| one.attempt).collect();
        equal(
            "the attempts",
            kept,
            (8..=ATTEMPTS_KEPT + 7).collect::<Vec<_>>(),
        )
    }
);

/// One delivery, claimed at once.
async fn claimed(shelf: &Shelf) -> Verdict<Claimed> {
    let endpoint = shelf.add(1).await?;
    shelf.queue(1, &endpoint, 0).await?;
    shelf.take(0).await
}

async fn give_back(shelf: &Shelf, claimed: &Claimed, due: i64) -> Verdict {
    let (claimed, wait) = (std::slice::from_ref(claimed), Duration::from_millis(3));
    let deliveries = &shelf.webhooks.deliveries;
    Ok(deliveries.release(claimed, wait, at(due - 3)).await?)
}

async fn is_settled(
    shelf: &Shelf,
    claimed: &Claimed,
    progress: Progress,
    expected: bool,
) -> Verdict {
    let settled = shelf.settle(claimed, progress, 1).await?;
    equal("whether it was settled", settled, expected)
}
