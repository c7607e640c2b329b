//! What people talk about.

use super::places::Story;

pub(super) const STORIES: &[Story] = &[
    Story {
        title: "Which tea for a rainy afternoon?",
        days_ago: 5,
        posts: &[
            (
                "alice",
                0,
                "It has been raining since breakfast and I have nothing left but peppermint. What do you drink on a day like \
this?\n\nI used to say **Assam**, with milk, from the pot with the chipped spout. Lately it keeps me awake.",
            ),
            (
                "bob",
                1,
                "Smoked tea. It smells like a camp fire, and nobody asks you to share it.",
            ),
            (
                "carol",
                3,
                "Roasted green tea, the brown kind. Hardly any caffeine, tastes of toast and hazelnuts, and forgives boiling water.",
            ),
            (
                "alice",
                2,
                "> tastes of toast and hazelnuts\n\nSold. Do you rinse the pot with hot water first?",
            ),
            (
                "carol",
                1,
                "Always. A cold pot steals the first five degrees, and that is the difference between tea and warm water.",
            ),
            (
                "mod",
                22,
                "Rooibos with a slice of orange. Not tea, I know, I know.",
            ),
        ],
    },
    Story {
        title: "My sourdough will not rise",
        days_ago: 21,
        posts: &[
            (
                "bob",
                0,
                "Day nine of my first starter: it bubbles, it smells of apples, but the loaf comes out like a paving stone. \
Flour is plain wheat, the kitchen has 18 degrees. What am I doing wrong?",
            ),
            (
                "carol",
                4,
                "Nothing but hurry. At 18 degrees a young starter needs a day, not a night. Try this:\n\n- feed it twice, \
twelve hours apart, with half rye flour\n- wait until it doubles within six hours\n- only then bake with it\n\nA rubber \
band around the jar tells you whether it doubled.",
            ),
            (
                "alice",
                2,
                "And put the dough on top of the refrigerator. It is the warmest place in my flat.",
            ),
            ("bob", 49, "It doubled! It is *alive*! Baking tomorrow."),
            (
                "bob",
                26,
                "A real loaf. Crooked, with a crust that sings when it cools. Thank you both.",
            ),
            (
                "carol",
                1,
                "The singing is the best part. Photograph or it did not happen, see rule four.",
            ),
        ],
    },
    Story {
        title: "Squeaking brakes in wet weather",
        days_ago: 47,
        posts: &[
            (
                "alice",
                0,
                "My rim brakes scream like a gull as soon as the road is wet. The pads are new. Do I have to live with it?",
            ),
            (
                "bob",
                5,
                "No. Clean the rim with alcohol, roughen the pads with sandpaper, and *toe them in*: the front edge of the pad \
should touch the rim one millimetre before the rear edge. A folded business card under the rear edge does the trick.",
            ),
            (
                "alice",
                70,
                "The business card worked. The gull is silent. I owe you a pot of tea.",
            ),
            (
                "mod",
                3,
                "Adding this to my list of answers that I look up every autumn.",
            ),
        ],
    },
    Story {
        title: "Books you read twice",
        days_ago: 120,
        posts: &[
            (
                "carol",
                0,
                "Some books I finish and give away. A few I read again every winter. Which are yours, and why do you go back?",
            ),
            (
                "mod",
                8,
                "An old field guide to birds. There is no plot, but the weather in it is excellent.",
            ),
            (
                "alice",
                14,
                "A cookery book from my grandmother, with notes in the margin. She and the author did not agree about nutmeg.",
            ),
            (
                "bob",
                40,
                "The manual of my first bicycle. I have never understood the chapter on hub gears, so I keep trying.",
            ),
            ("carol", 2, "I should have known better than to ask *you*."),
        ],
    },
    Story {
        title: "Cheap watches, best price!!!",
        days_ago: 58,
        posts: &[
            (
                "mallory",
                0,
                "Friends, I have found very cheap watches. Ask me for the address.",
            ),
            (
                "mod",
                1,
                "No advertising, see the house rules. This account will not post again.",
            ),
        ],
    },
];
