//! What members say among themselves.

use super::places::Story;

pub(super) const STORIES: &[Story] = &[
    Story {
        title: "Introduce yourself",
        days_ago: 370,
        posts: &[
            (
                "mod",
                0,
                "Who are you, what are you drinking, and what is on the workbench?",
            ),
            (
                "alice",
                11,
                "Alice, a translator. Assam. A chair with three legs that used to have four.",
            ),
            (
                "bob",
                1600,
                "Bob, I repair lifts. Black coffee, I confess. Two bicycles, one of which may ride again.",
            ),
            (
                "carol",
                2500,
                "Carol, baker by accident. Whatever is in the pot. A jar of rye starter called Gertrude.",
            ),
        ],
    },
    Story {
        title: "Swap shop: seeds, jars and spare parts",
        days_ago: 75,
        posts: &[
            (
                "carol",
                0,
                "I have far too many tomato seeds and not a single lid for my jars. Who trades?",
            ),
            (
                "alice",
                7,
                "Eight lids, large, never used. I would love three kinds of tomatoes, if one of them is striped.",
            ),
            (
                "carol",
                1,
                "Striped, black, and one that claims to be a pineapple. They are in the post on Friday.",
            ),
            (
                "bob",
                30,
                "Looking for a 27 inch tyre and offering a working dynamo.",
            ),
        ],
    },
    Story {
        title: "Who comes to the river by bicycle?",
        days_ago: 30,
        posts: &[
            (
                "bob",
                0,
                "I start at nine from the market square: thirty kilometres, flat, with a stop at the bakery. Company is welcome.",
            ),
            ("alice", 4, "Count me in, now that the gull is silent."),
            (
                "carol",
                9,
                "I come by train with the bread. Somebody has to arrive with dry rye.",
            ),
        ],
    },
];
