//! The list of all rules, from which the tests and the report are made.

use super::Case;

/// Hands the list of all rules to a macro: the files, and the cases in each.
#[doc(hidden)]
#[macro_export]
macro_rules! __board_cases {
    ($with:path, $($arguments:tt)*) => {
        $crate::conformance::__event_cases! { $with, ($($arguments)*)
            visibility {
                what_guests_see_every_member_sees
                each_audience_sees_its_forums_and_no_other
                a_hidden_thread_is_absent
                a_hidden_thread_is_absent_for_the_guest
                nobody_writes_where_they_see_nothing
                what_no_id_names_is_absent
                a_waiting_reply_is_for_its_author_and_moderators
                a_waiting_thread_is_for_its_author_and_moderators
                a_waiting_thread_takes_no_replies
            }
            standing {
                sight_that_is_taken_away_is_gone_at_once
                a_guests_sight_is_asked_anew
                a_write_under_way_loses_what_is_hidden_meanwhile
                a_write_under_way_ends_with_a_ban
                a_banned_account_has_no_standing
                nobody_has_no_standing
                a_removed_account_leaves_what_it_wrote
                offline_is_for_administrators
                a_moderator_is_one_of_one_forum_while_it_lasts
                a_moderator_is_none_of_the_sub_forums
            }
            service {
                reads_are_answered_to_members_and_guests
                hidden_and_absent_are_the_same_bytes
                a_token_never_outlives_its_owners_standing
                an_offline_board_answers_administrators_alone
                cursors_lead_to_the_end
            }
            forums {
                parents_stand_before_children_by_position
                a_parent_is_the_nearest_that_is_seen
                a_forum_tells_its_title
                an_empty_forum_counts_nothing
                what_is_posted_counts_in_its_forum_alone
                a_forum_does_not_count_what_is_below_it
                what_awaits_approval_counts_nowhere
                what_is_hidden_counts_nowhere
            }
            threads {
                newest_activity_comes_first
                pages_of_any_size_meet
                threads_of_one_moment_are_walked_once
                a_walk_meets_each_thread_once_while_others_write
                since_takes_what_was_active_later
                a_list_is_of_one_forum
                a_forged_place_is_no_failure
                a_pinned_thread_is_not_lifted
            }
            starting {
                a_thread_is_started_with_its_first_post
                an_empty_title_or_body_is_invalid
                a_title_is_a_single_line
            }
            posts {
                the_oldest_comes_first
                numbers_go_up_from_one
                pages_of_any_size_meet
                a_walk_meets_each_post_once_while_others_write
                posts_of_one_moment_are_walked_once
                an_empty_page_is_no_absent_thread
                since_takes_what_was_posted_later
                a_page_begins_at_the_post_that_is_named
                from_and_since_both_hold
                a_page_begins_at_no_post_of_another_thread
                a_forged_place_is_no_failure
                a_page_carries_the_forms_that_are_asked_for
            }
            replies {
                a_body_is_kept_as_it_was_typed
                what_people_type_does_not_run
                a_reply_is_the_last_of_its_thread_at_once
                an_empty_body_is_invalid
                replies_at_once_are_all_there
                a_new_reply_is_as_it_was_written
            }
            permission {
                who_may_start_a_thread_is_told
                a_guest_is_told_that_they_may_write_nowhere
                who_may_not_write_is_forbidden
                a_locked_thread_takes_replies_of_moderators_alone
            }
            members {
                a_profile_is_found_by_id_and_by_name
                who_is_nobody_is_absent
                a_banned_members_profile_stays
                posts_count_where_every_member_may_read
                an_account_is_the_callers_own
                what_is_unread_is_told_where_there_are_messages
            }
            edits {
                an_edit_shows
                an_edit_counts
                a_stale_edit_is_a_conflict
                one_of_many_edits_of_a_version_is_made
                an_edit_needs_a_body
                authors_and_moderators_edit
                a_guest_changes_nothing
                a_post_that_is_not_seen_there_is_not_edited
                a_hidden_post_is_not_edited
                a_locked_thread_is_edited_by_moderators
                an_edit_window_closes
                a_moderator_who_is_one_no_longer_edits_no_longer
                a_banned_author_edits_no_longer
                what_is_edited_does_not_run
            }
            deletion {
                a_deleted_post_is_for_moderators
                authors_and_moderators_delete_replies
                moderators_delete_threads
                deleted_content_is_in_no_forum
                nobody_replies_in_a_deleted_thread
                one_of_many_deletions_is_made
                nobody_changes_what_is_deleted
                numbers_stay
            }
            counting {
                counts_follow_a_reply
                an_older_post_takes_no_activity_along
                a_thread_falls_back_with_its_last_post
                counts_follow_a_thread
                a_restored_thread_brings_no_deleted_reply_back
                a_profile_counts_what_is_there
            }
            approval {
                an_approved_reply_is_for_everybody
                an_approved_thread_is_for_everybody
                an_author_changes_what_awaits
                an_edit_of_what_was_approved_shows_or_awaits
                an_edit_of_an_approved_first_post_shows_or_awaits
                a_restored_reply_awaits_again
                a_restored_thread_awaits_again
                a_reply_is_approved_in_a_deleted_thread
            }
            subscriptions {
                following_twice_is_following_once
                a_subscription_tells_what_is_followed
                subscriptions_are_walked_newest_first
                subscriptions_are_personal
                nobody_follows_what_they_do_not_see
                what_becomes_hidden_leaves_the_list
                a_deleted_thread_leaves_the_list
                unfollowing_takes_a_subscription
                authors_follow_what_they_write_in
                a_follow_is_decided_when_it_is_made
                a_waiting_thread_is_followed_by_its_author
            }
            polls {
                a_poll_comes_with_its_thread
                a_refused_poll_leaves_no_thread
                a_hidden_threads_poll_is_absent
                a_guest_sees_polls
                an_unknown_poll_is_absent
                a_poll_awaits_approval_with_its_thread
                a_poll_is_deleted_with_its_thread
                a_poll_closes_by_itself
            }
            votes {
                a_vote_counts_and_is_its_voters_own
                a_vote_for_several_is_one_voters
                a_vote_stands
                a_vote_can_be_changed_where_the_poll_says_so
                a_vote_names_what_can_be_chosen
                of_many_votes_at_once_one_counts
                a_locked_thread_takes_votes
                voting_takes_sight_alone
                a_vote_is_decided_when_it_is_counted
                a_vote_outlives_its_account
                a_banned_member_votes_no_longer
            }
            poll_edits {
                its_writer_and_moderators_edit_a_poll
                a_locked_threads_poll_is_a_moderators
                an_edit_is_decided_when_it_is_made
                what_an_edit_leaves_out_stays
                options_that_were_voted_for_are_a_moderators
                a_question_that_was_voted_on_is_a_moderators
                choices_that_were_made_are_a_moderators
                a_removed_option_takes_its_votes
                a_refused_edit_changes_nothing
                an_end_is_set_and_taken_away
                a_stale_edit_is_a_conflict
            }
            reputation {
                ratings_add_up
                nobody_rates_themselves
                an_unknown_member_is_absent
                a_rating_has_points
                a_post_is_rated_once
                a_member_is_rated_once_a_day
                a_rating_is_for_a_post_of_the_member
                nobody_rates_for_a_post_that_they_do_not_see
                nobody_rates_for_a_post_that_is_hidden
                of_many_ratings_at_once_one_counts
                a_banned_member_rates_no_longer
            }
            messages {
                each_party_has_a_copy_of_its_own
                a_message_tells_who_sent_it_and_to_whom
                anothers_copy_is_absent
                a_folder_is_walked_while_messages_come
                unread_and_read_ones_are_told_apart
                unread_messages_are_counted
                a_message_outlives_accounts
                a_message_is_kept_as_it_was_typed
                what_is_sent_does_not_run
            }
            sending {
                a_recipient_who_is_named_twice_gets_one_copy
                a_member_may_write_to_themselves
                an_incomplete_message_is_refused
                a_subject_is_a_single_line
                nobody_gets_a_message_with_an_unknown_recipient
                an_ignored_member_may_not_write
                a_banned_member_writes_no_longer
            }
            receipts {
                a_message_is_read_once
                a_peek_changes_nothing
                no_receipt_comes_unasked
                one_receipt_comes_however_many_race
                each_reader_is_told_of_once
                a_receipt_is_unread
                an_ignored_reader_opens_as_any_other
                a_message_is_opened_when_nobody_is_left_to_be_told
                a_request_for_a_receipt_is_told
                a_sender_who_opens_their_copy_is_told_of_nothing
            }
            search {
                every_word_is_required
                the_most_common_word_is_found
                a_phrase_stands_together
                what_is_excluded_is_in_no_hit
                a_word_is_found_however_it_is_coded
                a_word_is_excluded_however_it_is_coded
                a_word_with_marks_is_found
                a_title_belongs_to_the_first_post
                titles_and_posts_are_searched_apart
                a_hit_tells_what_was_found
                a_thread_is_one_hit
                a_forum_is_searched_with_its_sub_forums
                an_author_is_named_by_id_or_by_name
                a_span_of_time_has_a_beginning_and_an_end
                a_span_of_time_includes_its_start_and_excludes_its_end
                what_is_not_there_gives_no_hits
            }
            sought {
                new_text_is_found_at_once
                what_is_hidden_is_not_found
                a_guest_finds_what_guests_see
                a_hidden_sub_forum_is_not_found_through_its_parent
                sight_is_asked_anew
                what_is_approved_is_found
                a_deleted_post_is_not_found
                a_deleted_thread_is_not_found
                an_edited_post_is_found_by_its_new_words
            }
            hits {
                pages_of_any_size_meet
                the_best_come_first
                a_walk_meets_each_hit_once_while_others_write
                a_thread_comes_by_its_newest_or_oldest_match
                a_thread_comes_by_its_best_match
                a_walk_meets_each_thread_once
                a_walk_meets_each_thread_once_while_others_write
                a_forged_place_is_no_failure
            }
        }
    };
}

macro_rules! list {
    (() $($file:ident { $($case:ident)+ })+) => {
        /// All rules.
        pub const CASES: &[Case] = &[$($(
            Case::new(
                concat!(stringify!($file), "::", stringify!($case)),
                |suite| Box::pin(super::$file::$case(suite)),
            ),
        )+)+];
    };
}

__board_cases!(list,);
