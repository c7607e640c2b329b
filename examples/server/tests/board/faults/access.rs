//! Standings that are wrong, or outlive their request.

use forum_api::host::{Forums, Refusal, Standing};
use forum_api::model::{Author, ForumId, UserId};

use super::plant::Plant;
use super::twist::Twist;
use super::{Fault, says};

pub const FAULTS: &[Fault] = &[
    (
        "sight_that_is_taken_away_is_gone_at_once",
        "a thread is read once and remembered",
        Plant::Thread(Twist::Stale),
    ),
    (
        "a_guests_sight_is_asked_anew",
        "a guest goes on seeing a thread that is hidden",
        Plant::Thread(Twist::Forced(|_, question| question.by.user().is_none())),
    ),
    (
        "a_write_under_way_loses_what_is_hidden_meanwhile",
        "a write decides on the standing with which its request began",
        Plant::StartThread(Twist::Forced(|refusal, question| {
            let covered = question.by.standing().forums().contains(&question.it.0);
            covered && matches!(refusal, Refusal::Absent)
        })),
    ),
    (
        "a_write_under_way_ends_with_a_ban",
        "a write of one who was banned meanwhile is carried out",
        Plant::Reply(Twist::Forced(|refusal, _| says(refusal, "account"))),
    ),
    (
        "a_banned_account_has_no_standing",
        "a banned member keeps a standing, without any forum",
        Plant::Standing(Twist::Granted(|standing, question| {
            if question.it.0 == Some(UserId::from(2)) {
                standing.get_or_insert(Standing::new(Forums::none()));
            }
        })),
    ),
    (
        "a_banned_account_has_no_standing",
        "a ban is not taken back",
        Plant::SetBanned(Twist::Ask(|question| question.it.1 = true)),
    ),
    (
        "nobody_has_no_standing",
        "who is nobody has a standing, too",
        Plant::Standing(Twist::Granted(|standing, question| {
            if question.it.0 == UserId::new("no-such_member") {
                *standing = Some(Standing::new(Forums::none()));
            }
        })),
    ),
    (
        "a_removed_account_leaves_what_it_wrote",
        "who is gone is called somebody",
        Plant::Thread(Twist::Granted(|thread, _| {
            thread.author.get_or_insert(Author {
                user_id: UserId::from(0),
                username: "somebody".into(),
                avatar_url: None,
            });
        })),
    ),
    (
        "offline_is_for_administrators",
        "an offline board locks nobody out",
        Plant::SetOffline(Twist::Made(|_| Ok(()))),
    ),
    (
        "offline_is_for_administrators",
        "an offline board is open to staff",
        Plant::Standing(Twist::Granted(|standing, question| {
            if question.it.0 == Some(UserId::from(3)) {
                *standing = standing.take().map(|standing| standing.locked_out(false));
            }
        })),
    ),
    (
        "a_moderator_is_one_of_one_forum_while_it_lasts",
        "a moderator is one for good",
        Plant::SetModerator(Twist::Ask(|question| question.it.2 = true)),
    ),
    (
        "a_moderator_is_one_of_one_forum_while_it_lasts",
        "a moderator of one forum moderates all",
        Plant::Reply(Twist::Forced(|refusal, question| {
            let asks = |forum: i64| question.by.standing().forums().contains(&ForumId::from(forum));
            asks(2) && says(refusal, "locked")
        })),
    ),
    (
        "a_moderator_is_none_of_the_sub_forums",
        "a moderator is one of the sub-forums, too",
        Plant::SetModerator(Twist::Instead(|sound, question| {
            Box::pin(async {
                let (named, member, is_one) = &question.it;
                for forum in sound.board.forums(&sound.root().await?).await? {
                    let below = forum.parent_id.as_ref() == Some(named);
                    if below || forum.forum_id == *named {
                        let set = sound.stage.set_moderator(&forum.forum_id, member, *is_one);
                        sound.set(set).await?;
                    }
                }
                Ok(())
            })
        })),
    ),
];
