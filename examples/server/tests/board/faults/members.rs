//! Profiles and accounts.

use forum_api::model::{UserId, UserRef};

use super::Fault;
use super::plant::Plant;
use super::twist::Twist;

pub const FAULTS: &[Fault] = &[
    (
        "a_profile_is_found_by_id_and_by_name",
        "names are told in capitals",
        Plant::Profile(Twist::Granted(|profile, _| {
            profile.username = profile.username.to_uppercase();
        })),
    ),
    (
        "who_is_nobody_is_absent",
        "an id is read as a number all the same",
        Plant::Profile(Twist::Ask(|question| {
            if question.it.0.to_string().starts_with('0') {
                question.it.0 = UserRef::Id(UserId::from(1));
            }
        })),
    ),
    (
        "a_banned_members_profile_stays",
        "the profile of one who was banned is gone",
        Plant::Profile(Twist::Instead(|sound, question| {
            Box::pin(async {
                let user = question.it.0.clone();
                let profile = sound.board.profile(&question.by, user).await?;
                sound.member(&profile.user_id).await?;
                Ok(profile)
            })
        })),
    ),
    (
        "posts_count_where_every_member_may_read",
        "a profile counts posts in hidden forums",
        Plant::Profile(Twist::Instead(|sound, question| {
            Box::pin(async {
                let user = question.it.0.clone();
                let mut profile = sound.board.profile(&question.by, user).await?;
                let forums = sound.board.forums(&sound.root().await?).await?;
                profile.post_count = forums.iter().map(|forum| forum.post_count).sum();
                Ok(profile)
            })
        })),
    ),
    (
        "an_account_is_the_callers_own",
        "an account is an administrator's",
        Plant::Me(Twist::AsRoot),
    ),
    (
        "what_is_unread_is_told_where_there_are_messages",
        "what is unread is not told",
        Plant::Me(Twist::Granted(|account, _| account.unread_messages = None)),
    ),
];
