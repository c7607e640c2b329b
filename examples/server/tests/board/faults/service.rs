//! What clients of the API would see of a fault.

use forum_api::host::{Forums, Refusal, Standing};
use forum_api::model::{Position, UserId, UserRef};

use super::Fault;
use super::plant::Plant;
use super::twist::Twist;

pub const FAULTS: &[Fault] = &[
    (
        "reads_are_answered_to_members_and_guests",
        "nobody is found by a name in a path",
        Plant::Profile(Twist::Ask(|question| {
            if let UserRef::Name(_) = question.it.0 {
                question.it.0 = UserRef::Id(UserId::from(0));
            }
        })),
    ),
    (
        "hidden_and_absent_are_the_same_bytes",
        "the poll of a hidden thread is forbidden",
        Plant::Poll(Twist::Answer(|poll, question| {
            if poll.is_err() && question.it.0.number() == Ok(1) {
                *poll = Err(Refusal::Forbidden("Not for you.".into()));
            }
        })),
    ),
    (
        "a_token_never_outlives_its_owners_standing",
        "a token goes on with the standing of its first request",
        Plant::Standing(Twist::Stale),
    ),
    (
        "a_token_never_outlives_its_owners_standing",
        "a token of one who was banned sees nothing, and is answered",
        Plant::Standing(Twist::Granted(|standing, question| {
            if question.it.0 == Some(UserId::from(2)) {
                standing.get_or_insert(Standing::new(Forums::none()));
            }
        })),
    ),
    (
        "an_offline_board_answers_administrators_alone",
        "an offline board locks administrators out",
        Plant::Standing(Twist::Granted(|standing, question| {
            if question.it.0 == Some(UserId::from(3)) {
                *standing = standing.take().map(|standing| standing.locked_out(true));
            }
        })),
    ),
    (
        "cursors_lead_to_the_end",
        "places are too long for a cursor",
        Plant::Threads(Twist::Granted(|page, _| {
            let long = Position::new(format_args!("{:0200}", 1));
            page.next = page.next.take().map(|_| long);
        })),
    ),
];
