//! What staff discuss.

use super::places::Story;

pub(super) const STORIES: &[Story] = &[
    Story {
        title: "Watch sellers",
        days_ago: 58,
        posts: &[
            (
                "mod",
                2,
                "I banned mallory: one post, and eleven links below it before I was awake. The thread stays as a warning.",
            ),
            (
                "admin",
                5,
                "Agreed. From now on new accounts go into the group of newcomers until we have read something of theirs.",
            ),
            ("mod", 1, "I will look after the queue in the mornings."),
        ],
    },
    Story {
        title: "Opening the API",
        days_ago: 12,
        posts: &[
            (
                "admin",
                0,
                "Before we announce it: is there anything in the forums that programs should not read?",
            ),
            (
                "mod",
                20,
                "Nothing that people may not read either. A token sees what its owner sees, so this forum stays ours.",
            ),
            (
                "admin",
                2,
                "Good. I keep an eye on the budgets during the first week.",
            ),
        ],
    },
];
