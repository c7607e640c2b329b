//! The end of the list of all rules: those on events.

/// Hands the list that it is given to a macro, with the rules on events after it.
#[doc(hidden)]
#[macro_export]
macro_rules! __event_cases {
    ($with:path, $arguments:tt $($before:tt)*) => {
        $with! { $arguments
            $($before)*
            events {
                what_is_posted_is_told_of
                an_edit_is_told_of
                an_edit_of_what_was_approved_is_told_of
                a_deletion_is_told_of
                a_first_post_is_told_of_as_its_thread
                a_vote_is_told_of
                an_edit_of_a_poll_is_told_of
                a_rating_is_told_of
                a_message_is_told_of_once
                replies_at_once_are_each_told_of
                of_deletions_at_once_one_is_told_of
                of_votes_at_once_one_is_told_of
            }
            silence {
                what_awaits_approval_is_silent
                a_poll_that_awaits_approval_is_silent
                reading_a_message_is_silent
                following_is_silent
                a_refused_post_is_silent
                a_refused_edit_is_silent
                a_refused_deletion_is_silent
                a_refused_vote_is_silent
                a_refused_rating_is_silent
                a_refused_message_is_silent
            }
            telling {
                a_post_is_told_as_everybody_finds_it
                a_thread_is_told_as_everybody_finds_it
                a_poll_is_told_as_everybody_finds_it
                a_vote_is_told_without_its_voter
                a_message_is_told_by_its_ids
                a_deleted_post_is_told_without_its_text
                what_awaits_approval_shows_in_no_event
                who_did_it_is_told
                an_event_says_where_it_happened
                a_rating_without_a_post_is_in_no_forum
            }
        }
    };
}
