//! The forums of the demo board.

use super::super::access::Lists;
use super::super::groups::{Group, Groups};
use super::{announcements, general, help, members, staff};

/// A forum with what was written in it.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    /// The title of the forum above.
    pub(super) below: Option<&'static str>,
    pub(super) lists: Lists<Option<Groups>>,
    pub(super) moderators: &'static [&'static str],
    pub(super) stories: &'static [Story],
}

/// A thread.
#[derive(Debug)]
pub(super) struct Story {
    pub(super) title: &'static str,
    /// How many days ago it was started.
    pub(super) days_ago: u32,
    pub(super) posts: &'static [Post],
}

/// Its author, how many hours it was written after the one before, and its source markup.
pub(super) type Post = (&'static str, u32, &'static str);

/// Who tries a new board, and in which thread.
pub(super) const TRIAL: (&str, &str) = ("alice", "Which tea for a rainy afternoon?");

/// A poll that a story carries, written by whoever began it.
#[derive(Debug)]
pub(super) struct Question {
    /// The story's title.
    pub(super) story: &'static str,
    pub(super) text: &'static str,
    pub(super) options: &'static [&'static str],
}

/// The only one.
pub(super) const QUESTION: Question = Question {
    story: "Which tea for a rainy afternoon?",
    text: "What goes into the pot when it rains?",
    options: &[
        "Black tea",
        "Green tea",
        "Something smoked",
        "Herbs, and no tea at all",
    ],
};

/// All forums, parents before their children.
pub(super) const ALL: [Place; 5] = [
    Place {
        title: "Announcements",
        description: "News of the board and its meetings.",
        below: None,
        lists: Lists {
            read: GUESTS,
            start: STAFF,
            reply: MEMBERS,
        },
        moderators: &[],
        stories: announcements::STORIES,
    },
    Place {
        title: "General",
        description: "Tea, bread, bicycles, and whatever else is on your mind.",
        below: None,
        lists: Lists {
            read: GUESTS,
            start: MEMBERS,
            reply: MEMBERS,
        },
        moderators: &["mod"],
        stories: general::STORIES,
    },
    Place {
        title: "Help",
        description: "Questions about the board, answered by those who asked them before.",
        below: Some("General"),
        lists: Lists {
            read: None,
            start: None,
            reply: None,
        },
        moderators: &["mod"],
        stories: help::STORIES,
    },
    Place {
        title: "Members",
        description: "Among ourselves.",
        below: None,
        lists: Lists {
            read: MEMBERS,
            start: MEMBERS,
            reply: MEMBERS,
        },
        moderators: &[],
        stories: members::STORIES,
    },
    Place {
        title: "Staff",
        description: "For those who look after the board.",
        below: None,
        lists: Lists {
            read: STAFF,
            start: STAFF,
            reply: STAFF,
        },
        moderators: &[],
        stories: staff::STORIES,
    },
];

const GUESTS: Option<Groups> = Some(Groups::of([Group::Guests]));
const MEMBERS: Option<Groups> = Some(Groups::of([Group::Members]));
const STAFF: Option<Groups> = Some(Groups::of([Group::Staff]));
