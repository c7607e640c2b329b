//! What the rules for webhooks are worth: faults planted one by one in stores that keep them all, and the rule that
//! catches each.

mod faulty;

use std::sync::Arc;
use std::time::Duration;

use forum_api::async_trait;
use forum_api::conformance::stores::{CASES, Keeper, Shelf};
use forum_api::conformance::{Case, Set, Stop};
use forum_api::runtime::{Runtime, TokioRuntime};
use forum_api::store::{Stores, Webhooks};

use faulty::{Faulty, Plant};

/// What is wrong, where it sits, and the name of the rule that has to catch it.
type Fault = (&'static str, Plant, &'static str);

const MILLI: Duration = Duration::from_millis(1);

#[rustfmt::skip]
const FAULTS: &[Fault] = &[
    ("an event loses its forum", Plant::Put(|event| event.forum = None), "outbox::what_is_put_waits_whole"),
    ("a long body is cut", Plant::Put(|event| event.body.truncate(65_536)), "outbox::what_is_put_waits_whole"),
    ("the youngest event comes first", Plant::Waiting(|events| events.reverse()), "outbox::the_oldest_wait_first"),
    ("events of one moment come by their ids", Plant::Waiting(|events| events.sort_by_key(|event| event.id.to_string())), "outbox::of_one_moment_the_first_put_waits_first"),
    ("all that waits comes at once", Plant::AskWaiting(|limit| *limit = 999), "outbox::the_oldest_wait_first"),
    (
        "an event that is older than another one that was fanned out is passed over",
        Plant::Waiting(|events| events.retain(|event| event.occurred_at.as_millis() % 1_000 >= 5)),
        "outbox::what_comes_late_is_found_as_well",
    ),
    (
        "an event that goes to nobody is not fanned out",
        Plant::FanOut(|events| events.retain(|event| !event.endpoints.is_empty())),
        "outbox::what_is_fanned_out_waits_no_more",
    ),
    (
        "one endpoint alone is told",
        Plant::FanOut(|events| events.iter_mut().for_each(|event| event.endpoints.truncate(1))),
        "outbox::who_is_away_or_disabled_is_told_nothing",
    ),
    ("an endpoint loses its new secret", Plant::Add(|one| one.pending = None), "endpoints::what_is_added_is_found_whole"),
    ("every endpoint is enabled", Plant::Add(|one| one.enabled = true), "outbox::who_is_away_or_disabled_is_told_nothing"),
    ("a taken id is not told", Plant::Added(|added| *added = true), "endpoints::an_id_is_taken_once"),
    ("a change forgets another one", Plant::Overwrites, "endpoints::of_changes_at_once_one_is_made"),
    ("a key takes the place of any other", Plant::Overwrites, "endpoints::a_key_is_recorded_in_the_place_of_the_former_one"),
    ("a new key overwrites a change", Plant::Overwrites, "endpoints::a_key_is_replaced_with_the_secrets_or_not_at_all"),
    ("endpoints come in another order", Plant::All(|all| all.reverse()), "endpoints::all_come_in_the_order_in_which_they_were_added"),
    ("a removed endpoint stays", Plant::Hoards, "endpoints::what_is_removed_is_away"),
    ("what was queued for a removed endpoint is sent", Plant::Hoards, "claims::what_a_removed_endpoint_had_queued_is_away"),
    ("what is due a millisecond later is taken", Plant::AskClaim(|_, now| *now = now.plus(MILLI)), "claims::what_is_not_due_waits"),
    ("what is due now is not", Plant::AskClaim(|_, now| *now = now.minus(MILLI)), "claims::what_is_not_due_waits"),
    ("the room is not asked for", Plant::AskClaim(|claim, _| claim.room = 999), "claims::no_more_is_claimed_than_there_is_room_for"),
    ("an endpoint's room is not asked for", Plant::AskClaim(|claim, _| claim.per_endpoint = 999), "claims::no_more_goes_to_one_endpoint_than_it_has_room_for"),
    ("a flood takes every place", Plant::AskClaim(|claim, _| claim.per_endpoint = 999), "claims::a_flooded_endpoint_starves_nobody"),
    ("what runs does not count", Plant::AskClaim(|claim, _| claim.running.clear()), "claims::no_more_goes_to_one_endpoint_than_it_has_room_for"),
    ("the youngest goes first", Plant::Claims(|claims| claims.taken.reverse()), "claims::the_oldest_due_is_claimed_first"),
    ("nobody is told when to come again", Plant::Claims(|claims| claims.next = None), "claims::the_next_is_the_earliest_that_was_left"),
    ("a full endpoint's next is told", Plant::AskClaim(|claim, _| claim.running.clear()), "claims::the_next_is_the_earliest_that_was_left"),
    ("another endpoint comes with a delivery", Plant::Claims(|claims| claims.taken.iter_mut().for_each(|one| one.endpoint.url.clear())), "claims::what_is_claimed_is_told_whole"),
    ("what is due a millisecond later is in the backlog", Plant::AskBacklog(|now| *now = now.plus(MILLI)), "claims::the_backlog_is_what_could_be_claimed"),
    ("what is due now is not in the backlog", Plant::AskBacklog(|now| *now = now.minus(MILLI)), "claims::the_backlog_is_what_could_be_claimed"),
    ("a backlog ends at a hundred", Plant::Backlog(|backlog| backlog.depth = backlog.depth.min(100)), "claims::the_backlog_is_what_could_be_claimed"),
    ("nobody is told since when", Plant::Backlog(|backlog| backlog.since = None), "claims::the_backlog_is_what_could_be_claimed"),
    ("a lease ends too early", Plant::AskClaim(|claim, _| claim.lease -= MILLI), "leases::a_lease_in_force_is_respected"),
    ("a lease ends too late", Plant::AskClaim(|claim, _| claim.lease += MILLI), "leases::a_lease_that_ran_out_is_told"),
    ("a lease that ran out is not told", Plant::Claims(|claims| claims.taken.iter_mut().for_each(|one| one.lease_expired = false)), "leases::a_lease_that_ran_out_is_told"),
    ("a lease that ended before sending is an attempt", Plant::Claims(|claims| claims.taken.iter_mut().for_each(|one| one.lease_expired = true)), "leases::a_lease_that_ends_before_sending_is_not_an_attempt"),
    ("the start of sending is not recorded", Plant::ForgetsSending, "leases::a_lease_that_ran_out_is_told"),
    ("sending begins under any lease", Plant::ForgetsSending, "leases::sending_begins_only_while_the_lease_holds"),
    ("sending begins too late", Plant::AskBegin(|now| *now = now.minus(MILLI)), "leases::sending_begins_only_while_the_lease_holds"),
    ("sending ends too early", Plant::AskBegin(|now| *now = now.plus(MILLI)), "leases::sending_begins_only_while_the_lease_holds"),
    ("every lease ran out", Plant::Claims(|claims| claims.taken.iter_mut().for_each(|one| one.lease_expired = true)), "leases::what_is_given_back_was_no_attempt"),
    ("whoever settles is believed", Plant::Settled(|asked, settled| settled.extend(asked.iter().map(|one| one.delivery.clone()))), "leases::what_is_anothers_by_now_is_not_settled"),
    ("an attempt is not counted", Plant::AskSettle(|one| one.progress.attempts = 0), "leases::a_lease_is_settled_once"),
    ("attempts are not kept", Plant::AskSettle(|one| one.attempted = None), "leases::attempts_are_kept_whole_and_in_their_order"),
    ("the last attempt comes first", Plant::Found(|found| found.iter_mut().for_each(|(_, log)| log.reverse())), "leases::attempts_are_kept_whole_and_in_their_order"),
    ("the first attempts are kept", Plant::Found(|found| found.iter_mut().for_each(|(_, log)| log.truncate(59))), "leases::the_latest_attempts_are_kept"),
    ("what is given back waits for its lease to end", Plant::Keeps, "leases::what_is_given_back_was_no_attempt"),
    ("what is given back is due at once", Plant::AskRelease(|_, wait| *wait -= MILLI), "leases::what_is_given_back_was_no_attempt"),
    ("giving back hides a lease that ran out", Plant::AskRelease(|claimed, _| claimed.iter_mut().for_each(|one| one.lease_expired = false)), "leases::a_lease_that_ran_out_is_told_again_when_given_back"),
    ("a retry waits", Plant::AskRetry(|now| *now = now.plus(MILLI)), "retries::a_finished_delivery_is_queued_again"),
    ("whatever is retried is queued", Plant::Retried(|retried| *retried = true), "retries::a_queued_delivery_is_left_as_it_is"),
    ("a second retry is another one", Plant::Retried(|retried| *retried = true), "retries::of_retries_at_once_one_is_made"),
    ("a retry forgets the attempts", Plant::Found(|found| found.iter_mut().for_each(|(_, log)| log.clear())), "retries::a_finished_delivery_is_queued_again"),
    ("a retry of a retrying delivery is refused", Plant::Retried(|retried| *retried = false), "retries::a_retrying_delivery_becomes_due_at_once"),
    ("a batch is larger", Plant::AskRetryDead(|limit| *limit += 1), "retries::the_dead_of_one_endpoint_are_queued_again_in_batches"),
    ("a removed delivery stays", Plant::Hoards, "retries::a_delivery_is_removed_in_any_state"),
    ("nobody learns a ping's id", Plant::Sent(|sent| *sent = None), "retries::a_ping_goes_to_one_endpoint_alone"),
    ("the oldest deliveries come first", Plant::List(|list| list.reverse()), "lists::the_newest_come_first_and_page_by_page"),
    ("every page is the first", Plant::AskList(|filter| filter.after = None), "lists::the_newest_come_first_and_page_by_page"),
    ("a page begins one too late", Plant::List(|list| drop(list.drain(..1.min(list.len())))), "lists::the_newest_come_first_and_page_by_page"),
    ("every state is listed", Plant::AskList(|filter| filter.state = None), "lists::a_list_holds_what_its_filter_lets_through"),
    ("every endpoint is listed", Plant::AskList(|filter| filter.endpoint = None), "lists::a_list_holds_what_its_filter_lets_through"),
    ("every topic is listed", Plant::AskList(|filter| filter.topic = None), "lists::a_list_holds_what_its_filter_lets_through"),
    ("a list has one more", Plant::AskList(|filter| filter.limit += 1), "lists::a_list_holds_what_its_filter_lets_through"),
    ("what ended is swept too early", Plant::AskSweep(|before, _| *before = before.plus(MILLI)), "sweeps::what_ended_long_ago_is_swept"),
    ("what ended is swept too late", Plant::AskSweep(|before, _| *before = before.minus(MILLI)), "sweeps::what_ended_long_ago_is_swept"),
    ("all is swept at once", Plant::AskSweep(|_, limit| *limit = 999), "sweeps::a_sweep_takes_no_more_than_its_limit"),
    ("what is dead is swept", Plant::AskSettle(|one| one.progress.state = forum_api::webhook::State::Gone), "sweeps::what_is_pending_or_dead_is_kept"),
    ("the first millisecond is counted", Plant::AskUsage(|since, _| *since = since.minus(MILLI)), "usage::deliveries_are_counted_by_hour_endpoint_and_state"),
    ("hours are counted from another end", Plant::AskUsage(|_, now| *now = now.plus(MILLI)), "usage::deliveries_are_counted_by_hour_endpoint_and_state"),
    ("an endpoint is left out", Plant::Usage(|usage| usage.deliveries.truncate(3)), "usage::deliveries_are_counted_by_hour_endpoint_and_state"),
    ("long attempts are not counted", Plant::Usage(|usage| usage.attempt_times[5] = 0), "usage::attempts_are_counted_by_their_duration"),
];

/// Stores with this fault, or none.
struct Broken(Option<Plant>);

#[async_trait]
impl Keeper for Broken {
    async fn empty(&self) -> Set<(Stores, Webhooks)> {
        let kept = Webhooks::in_memory();
        let webhooks = match self.0 {
            Some(plant) => Webhooks::in_one(Faulty { plant, kept }),
            None => kept,
        };
        Ok((Stores::in_memory(), webhooks))
    }

    fn runtime(&self) -> Arc<dyn Runtime> {
        Arc::new(TokioRuntime)
    }
}

fn case(name: &str) -> &'static Case<Shelf> {
    let found = CASES.iter().find(|case| case.name == name);
    found.unwrap_or_else(|| panic!("there is no rule {name}"))
}

/// Prints the table: what was broken, which rule caught it, and what that said.
#[tokio::test]
async fn each_is_caught_by_the_rule_that_it_breaks() {
    for (fault, plant, rule) in FAULTS {
        let keeper = Broken(Some(*plant));
        let verdict = case(rule).check(Shelf::new(&keeper)).await;
        let Err(Stop::Broken(said)) = verdict else {
            panic!("{fault}: {rule} does not catch it: {verdict:?}");
        };
        let said: String = said.chars().take(200).collect();
        println!("{fault}\n    caught by {rule}\n    {said}");
    }
    println!("{} faults", FAULTS.len());
}

/// What catches a fault lets the stores pass that have none.
#[tokio::test]
async fn without_one_each_of_these_rules_holds() {
    for (_, _, rule) in FAULTS {
        let verdict = case(rule).check(Shelf::new(&Broken(None))).await;
        assert_eq!(verdict, Ok(()), "{rule}");
    }
}
