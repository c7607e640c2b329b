//! A board that differs from the reference board without a fault. The conformance suite must accept it.

use std::any::Any;

use forum_api::conformance::{Capability, TestFailure, run, run_all};
use forum_api::host::InForum;
use forum_api::model::*;
use forum_api::webhook::Event;
use serde_json::{Value, from_str, to_string};

use super::{MUTATIONS, MutantFactory, Mutation};

/// The capabilities that the board does not have, each with a rule that fails unless the board lists the capability.
const DIFFERENCES: [(Capability, &str); 11] = [
    (
        Capability::BansRevokeAccess,
        "access::a_banned_account_has_no_access",
    ),
    (
        Capability::InReplyTo,
        "in_reply_to::a_reply_names_the_post_that_it_answers",
    ),
    (
        Capability::PollTotals,
        "votes::a_vote_is_counted_and_shown_only_to_its_voter",
    ),
    (
        Capability::PublicPostCounts,
        "members::post_counts_exclude_hidden_forums",
    ),
    (
        Capability::ReadTimes,
        "receipts::read_at_is_the_time_of_the_first_opening",
    ),
    (
        Capability::SeveralRecipients,
        "message_sending::several_recipients_are_all_reached_or_rejected",
    ),
    (
        Capability::Subjects,
        "messages::a_message_is_stored_verbatim",
    ),
    (
        Capability::SubscriptionTimes,
        "subscriptions::subscriptions_are_listed_newest_first",
    ),
    (
        Capability::SubscriptionTimes,
        "subscriptions::a_subscription_has_the_time_of_its_creation",
    ),
    (
        Capability::TitleEdits,
        "edits::a_title_changes_with_the_first_post",
    ),
    (Capability::TitleEdits, "search::a_new_title_is_found"),
];

/// Settings with which a message has one recipient.
pub(super) const SETTINGS: &[(&str, &str)] = &[("message.recipients_max", "1")];

fn different(unsupported: Vec<Capability>) -> MutantFactory {
    MutantFactory {
        unsupported,
        ..MutantFactory::new("", Mutation::Different)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_rule_fails_for_a_board_that_lists_its_differences() {
    let unsupported = DIFFERENCES.map(|(capability, _)| capability).to_vec();
    let report = run_all(&different(unsupported)).await;
    let failed: Vec<_> = report.failed().collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_fails_for_a_board_that_does_not_list_its_difference() {
    for (capability, rule) in DIFFERENCES {
        let others = DIFFERENCES.map(|(other, _)| other).into_iter();
        let factory = different(others.filter(|other| *other != capability).collect());
        let result = run(rule, &factory).await;
        assert!(matches!(result, Err(TestFailure::Failed(_))), "{rule}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_on_concurrent_calls_are_skipped_without_atomic_commands() {
    let races = MUTATIONS.iter().filter(|(mutation, _)| {
        matches!(
            mutation,
            Mutation::RacingCallIsGranted | Mutation::RacingCallEmits | Mutation::RacingCallSends
        )
    });
    for row in races.flat_map(|(_, rows)| *rows) {
        let (_, rule) = row.split_once(' ').unwrap();
        let result = run(rule, &different(vec![Capability::AtomicCommands])).await;
        let is_skipped = matches!(
            result,
            Err(TestFailure::Unsupported(Capability::AtomicCommands))
        );
        assert!(is_skipped, "{rule}: {result:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rules_of_omitted_operations_are_skipped() {
    let unsupported = DIFFERENCES.map(|(capability, _)| capability).to_vec();
    let factory = MutantFactory {
        omitted_operations: &[
            "getPoll",
            "vote",
            "updatePoll",
            "getMember",
            "deletePost",
            "listMessages",
        ],
        ..different(unsupported)
    };
    let report = run_all(&factory).await;
    assert_eq!(report.failed().collect::<Vec<_>>(), [""; 0]);
    for rule in [
        "votes::one_of_concurrent_votes_counts",
        "polls::an_invalid_poll_creates_no_thread",
        "members::unread_messages_are_reported",
        "deletion::one_of_concurrent_deletions_succeeds",
        "members::a_member_is_found_by_id_and_by_name",
    ] {
        assert!(report.skipped().any(|skipped| skipped == rule), "{rule}");
    }
}

/// A rule needs the capability of each method that it calls, even if the board has the method.
#[tokio::test(flavor = "multi_thread")]
async fn a_rule_of_an_unsupported_method_is_skipped() {
    use Capability::{Deletion, Editing, LockedEdits};
    for (rule, unsupported) in [
        (
            "deletion::one_of_concurrent_deletions_succeeds",
            vec![Deletion],
        ),
        (
            "edits::only_moderators_edit_in_a_locked_thread",
            vec![Editing, LockedEdits],
        ),
        (
            "edits::only_moderators_delete_in_a_locked_thread",
            vec![Deletion, LockedEdits],
        ),
    ] {
        let expected = TestFailure::Unsupported(unsupported[0]);
        let result = run(rule, &different(unsupported)).await;
        assert_eq!(result, Err(expected), "{rule}");
    }
}

/// Gives a message without a subject one that the reference board accepts, and empties a new title, which the reference
/// board rejects.
pub(super) fn change_arguments(arguments: &mut dyn Any) {
    if let Some((_, PostUpdate { title, .. })) = arguments.downcast_mut::<(PostPath, PostUpdate)>()
    {
        title.iter_mut().for_each(String::clear);
    }
    if let Some((new,)) = arguments.downcast_mut::<(NewMessage,)>()
        && new.subject.is_empty()
    {
        new.subject = "-".into();
    }
}

/// Removes unsupported parts from a result.
pub(super) fn change_result(result: &mut dyn Any) {
    if let Some(page) = result.downcast_mut::<Page<MessageSummary>>() {
        page.items.iter_mut().for_each(change_message);
    } else if let Some(message) = result.downcast_mut::<Message>() {
        change_message(&mut message.summary);
    } else if let Some(poll) = result.downcast_mut::<InForum<Poll>>() {
        hide_totals(&mut poll.value);
    } else if let Some(post) = result.downcast_mut::<InForum<Post>>() {
        post.value.in_reply_to = None;
    } else if let Some(page) = result.downcast_mut::<InForum<Page<Post>>>() {
        let posts = page.value.items.iter_mut();
        posts.for_each(|post| post.in_reply_to = None);
    } else if let Some(page) = result.downcast_mut::<Page<Subscription>>() {
        page.items.reverse();
        page.items.iter_mut().for_each(change_subscription);
    } else if let Some(outcome) = result.downcast_mut::<SubscribeOutcome>() {
        if let SubscribeOutcome::Created(subscription) | SubscribeOutcome::Existing(subscription) =
            outcome
        {
            change_subscription(subscription);
        }
    } else if let Some(member) = result.downcast_mut::<Member>() {
        member.post_count *= 2;
    }
}

fn change_message(message: &mut MessageSummary) {
    message.subject.clear();
    message.read_at = message.read_at.filter(|_| message.folder == Folder::Sent);
}

/// Hides the totals from callers who have not voted.
fn hide_totals(poll: &mut Poll) {
    if poll.own_vote.is_none() {
        poll.total_votes = None;
        poll.options
            .iter_mut()
            .for_each(|option| option.votes = None);
    }
}

fn change_subscription(subscription: &mut Subscription) {
    subscription.created_at = Timestamp::default();
}

/// Hides the totals of a poll, because some readers of the event have not voted in it.
pub(super) fn change_event(event: &mut Event) {
    let mut body: Value = from_str(&event.body).unwrap();
    let Some(poll) = body.pointer_mut("/data/poll") else {
        return;
    };
    poll["totalVotes"] = Value::Null;
    for option in poll["options"].as_array_mut().unwrap() {
        option["votes"] = Value::Null;
    }
    event.body = to_string(&body).unwrap();
}
