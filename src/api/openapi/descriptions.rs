//! What the types cannot say of an operation.

/// Each operation that needs a note, with the note.
#[rustfmt::skip]
pub(super) const NOTES: &[(&str, &str)] = &[
    ("getMe", "Begin with it: it tells what the token may be used for."),
    ("listThreads", "Pinned threads are not lifted: `pinned` says which ones they are."),
    ("startThread", "With `poll` it carries one from the start. The `state` of the answer says whether the thread awaits \
        approval."),
    ("listPosts", "To read what is new, send the time of the last post that you have as `since`; to start at a post that \
        somebody linked to, its id as `from`."),
    ("reply", "The `state` of the answer says whether the post awaits approval."),
    ("editPost", "`canEdit` of the post says whether the caller may. Send the `version` that you read as \
        `expectedVersion`: should somebody else have changed the post meanwhile, the answer is a 409, and nothing is lost."),
    ("deletePost", "`canDelete` of the post says whether the caller may. A moderator can bring it back, but not through \
        this API. Once it is gone it is a 404 to delete it again, and a 409 for who still sees it."),
    ("rateMember", "The board's settings bound `points`, and say whether they may be negative and the comment empty. \
        0 points are a 422, and so is what the settings refuse."),
    ("sendMessage", "The answer is the sender's own copy. Each party has one, with an id of its own."),
    ("openMessage", "It is carried out each time, so it has no `etag`. HEAD marks nothing read."),
    ("getPoll", "A thread without a poll is a 404."),
    ("vote", "Voting again is a 409, unless `canChangeVote`. In a closed poll it is a 403; with no options, the same one \
        twice or more than `maxChoices` a 422; with one that is not there a 404."),
    ("editPoll", "What is left out stays; naming no change at all is a 400. The options may be changed by the poll's \
        writer while nobody has voted (a 409 afterwards), and by a moderator always. Fewer than two, doubled texts, or a \
        `maxChoices` above their number are a 422. A `closesAt` in the past closes the poll. Send the `version` that you \
        read as `expectedVersion`, so as not to undo somebody else's edit."),
    ("listSubscriptions", "What the caller may not see now is left out, and comes back when they may."),
    ("follow", "201 for a new subscription; 200 with the one that was there. A target that is absent or hidden is a 404."),
    ("unfollow", "It works even where the target is hidden by now. What is not followed is a 404."),
    ("search", "All words of `q` are required; those of `\"a phrase\"` side by side, and those of `-word` must be absent. \
        A forum or member that is absent or hidden gives no hits."),
];

/// The note of the operation of this name, or nothing.
pub(super) fn note(name: &str) -> &'static str {
    let found = NOTES.iter().find(|(operation, _)| *operation == name);
    found.map_or("", |(_, note)| note)
}

#[cfg(test)]
mod tests {
    use super::NOTES;
    use crate::api::endpoints::TABLE;

    #[test]
    fn each_is_of_an_operation() {
        for (operation, _) in NOTES {
            assert!(
                TABLE.iter().any(|row| row.name == *operation),
                "{operation}"
            );
        }
    }
}
