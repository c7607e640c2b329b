//! The people of the demo board.

use super::super::groups::{Group, Groups};

/// Somebody who joined the board.
#[derive(Debug)]
pub(super) struct Person {
    pub(super) name: &'static str,
    pub(super) groups: Groups,
    pub(super) days_ago: u32,
}

/// The one who is there even on an empty board.
pub(super) const ADMINISTRATOR: Person = Person {
    name: "admin",
    groups: Groups::of([Group::Members, Group::Staff, Group::Administrators]),
    days_ago: 420,
};

/// Everybody else.
pub(super) const OTHERS: [Person; 6] = [
    Person {
        name: "mod",
        groups: Groups::of([Group::Members, Group::Staff]),
        days_ago: 400,
    },
    Person {
        name: "alice",
        groups: MEMBER,
        days_ago: 390,
    },
    Person {
        name: "bob",
        groups: MEMBER,
        days_ago: 310,
    },
    Person {
        name: "carol",
        groups: MEMBER,
        days_ago: 205,
    },
    Person {
        name: "newbie",
        groups: Groups::of([Group::Members, Group::Newcomers]),
        days_ago: 3,
    },
    Person {
        name: "mallory",
        groups: MEMBER,
        days_ago: 60,
    },
];

/// Who was banned in the end.
pub(super) const BANNED: [&str; 1] = ["mallory"];

/// Who takes no messages from whom.
pub(super) const IGNORED: [(&str, &str); 1] = [("carol", "bob")];

const MEMBER: Groups = Groups::of([Group::Members]);
