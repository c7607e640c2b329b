//! Questions and answers.

use super::places::Story;

pub(super) const STORIES: &[Story] = &[
    Story {
        title: "How do I quote somebody?",
        days_ago: 200,
        posts: &[
            (
                "carol",
                0,
                "I see grey bars beside other people's words in your posts. How do I make one?",
            ),
            (
                "mod",
                1,
                "Begin the line with a `>`:\n\n    > Nothing but hurry.\n\nAn empty line ends the quotation. Two stars make \
**bold**, one makes *italics*, and a line that begins with a hyphen becomes a list. It is called Markdown.",
            ),
            (
                "carol",
                1,
                "> It is called Markdown.\n\nLike this? Lovely, thank you.",
            ),
        ],
    },
    Story {
        title: "What may a token do?",
        days_ago: 5,
        posts: &[
            (
                "bob",
                0,
                "If I give my script a token with all scopes, can it read the staff forum then?",
            ),
            (
                "admin",
                2,
                "No. A token only ever takes away: it can do what *you* can do, as far as its scopes go. You cannot read the \
staff forum, so it cannot. And if you were banned tomorrow, it would stop working in the same moment.",
            ),
            ("bob", 1, "Reassuring. I will try to stay out of trouble."),
            (
                "alice",
                12,
                "Give it only the scopes that it needs, though. Mine has `threads:read` and `posts:read`, and has never missed another.",
            ),
        ],
    },
    Story {
        title: "Why is my post not there yet?",
        days_ago: 2,
        posts: &[
            (
                "alice",
                0,
                "A friend of mine registered on Monday and says that nobody sees her posts. Is something broken?",
            ),
            (
                "mod",
                2,
                "All is well. The first posts of a new account await approval: I read them over my morning tea and let them \
through. After a few good ones that ends. It keeps the watches out.",
            ),
            (
                "newbie",
                5,
                "That friend is me, hello! I only wanted to say that I like it here.",
            ),
        ],
    },
    Story {
        title: "Changing my name",
        days_ago: 90,
        posts: &[
            (
                "bob",
                0,
                "Can I have a capital letter in my name? I registered in a hurry.",
            ),
            (
                "admin",
                6,
                "Names do not tell capitals from small letters, so nobody else can take yours. For the letter itself, write to me.",
            ),
            ("bob", 3, "Small it is, then. It suits me."),
        ],
    },
];
