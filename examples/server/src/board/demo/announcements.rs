//! What staff announced.

use super::places::Story;

pub(super) const STORIES: &[Story] = &[
    Story {
        title: "Welcome to the board",
        days_ago: 380,
        posts: &[
            (
                "admin",
                0,
                "Welcome, everybody.\n\nThis board is for people who like to take their time: over a pot of tea, a slow \
loaf of bread, or a bicycle that has seen better days. Introduce yourself in *General*, ask whatever you like in *Help*, \
and be kind to each other. That is nearly all there is to know.",
            ),
            (
                "mod",
                3,
                "Two more things: search before you ask, and use a title that says what you want to know.",
            ),
            (
                "alice",
                9,
                "Thank you for setting this up! The kettle is on.",
            ),
            (
                "bob",
                1700,
                "A late hello from me as well. I came for the bicycles and stayed for the bread.",
            ),
        ],
    },
    Story {
        title: "House rules",
        days_ago: 379,
        posts: &[
            (
                "admin",
                0,
                "1. Talk about the thing, not about the person.\n2. No advertising. A link to your own recipe is fine, a \
link to your shop is not.\n3. Quote no more than you answer.\n4. Photographs of your breakfast are welcome.\n\n\
Moderators may move, lock or remove what does not fit. If you think they were wrong, write to them and not about them.",
            ),
            ("carol", 4300, "Rule four is the reason I registered."),
        ],
    },
    Story {
        title: "Summer meeting by the river",
        days_ago: 34,
        posts: &[
            (
                "admin",
                0,
                "We meet on the second Saturday of next month at the old boathouse, from noon until the cake is gone. \
Bring a cup, something to share, and if you have one, a folding chair.\n\n| what | who |\n|---|---|\n| kettle and stove | \
admin |\n| bread | carol |\n| repair stand | bob |",
            ),
            (
                "carol",
                2,
                "Two rye loaves and one white. If somebody brings salted butter I will name the sourdough after you.",
            ),
            (
                "bob",
                20,
                "I will bring the repair stand and the good pump. Brakes and gears only, please: no wheel building in the grass.",
            ),
            (
                "alice",
                5,
                "Butter is on me. Is there a train that stops nearby?",
            ),
            (
                "mod",
                1,
                "The regional train stops ten minutes away, once an hour, and it takes bicycles.",
            ),
        ],
    },
    Story {
        title: "The board has an API now",
        days_ago: 6,
        posts: &[
            (
                "admin",
                0,
                "Programs can read and write here from now on, with a token that can do no more than its owner. \
Ask an administrator for one, keep it to yourself, and start with `GET /api/v1/forums`. The whole description is at \
`/api/v1/openapi.json`.",
            ),
            (
                "bob",
                2,
                "My bicycle computer can finally tell you how little I rode this week.",
            ),
            (
                "alice",
                30,
                "I wrote a small script that tells me when somebody answers in the tea thread. It took me one evening and two pots.",
            ),
        ],
    },
];
