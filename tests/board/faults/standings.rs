//! Standings that are wrong, or outlive their request.

use forum_api::host::{Forums, Standing};

use super::Fault;
use super::plant::Plant;

pub const FAULTS: &[Fault] = &[
    (
        "a standing is asked once and remembered",
        Plant::Remembers,
        "standing::sight_that_is_taken_away_is_gone_at_once",
    ),
    (
        "the guest's standing is asked once and remembered",
        Plant::Remembers,
        "standing::a_guests_sight_is_asked_anew",
    ),
    (
        "a banned member keeps a standing, without any forum",
        Plant::Standing(|_, standing| {
            standing.get_or_insert(Standing::new(Forums::none()));
        }),
        "standing::a_banned_account_has_no_standing",
    ),
    (
        "nobody has a standing, too",
        Plant::Standing(|_, standing| {
            standing.get_or_insert(Standing::new(Forums::none()));
        }),
        "standing::nobody_has_no_standing",
    ),
    (
        "an offline board locks nobody out",
        Plant::Standing(|_, standing| {
            *standing = standing.take().map(|standing| standing.locked_out(false));
        }),
        "standing::offline_is_for_administrators",
    ),
    (
        "an offline board locks administrators out",
        Plant::Standing(|_, standing| {
            *standing = standing.take().map(|standing| standing.locked_out(true));
        }),
        "service::an_offline_board_answers_administrators_alone",
    ),
    (
        "the guest's standing covers no forum",
        Plant::Standing(|user, standing| {
            if user.is_none() {
                *standing = Some(Standing::new(Forums::none()));
            }
        }),
        "visibility::what_guests_see_every_member_sees",
    ),
    (
        "a token goes on with the standing of its first request",
        Plant::Remembers,
        "service::a_token_never_outlives_its_owners_standing",
    ),
];
