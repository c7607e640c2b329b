//! Subscriptions.

use forum_api::host::Refusal;
use forum_api::model::{Followed, State, Target};

use super::plant::Plant;
use super::sound::member;
use super::twist::Twist;
use super::{Fault, says};

pub const FAULTS: &[Fault] = &[
    (
        "following_twice_is_following_once",
        "what is followed already is told as new",
        Plant::Follow(Twist::Granted(|followed, _| {
            if let Followed::Already(subscription) = followed {
                *followed = Followed::New(subscription.clone());
            }
        })),
    ),
    (
        "a_subscription_tells_what_is_followed",
        "a subscription has no title",
        Plant::Subscriptions(Twist::Granted(|page, _| {
            page.items.iter_mut().for_each(|item| item.title.clear());
        })),
    ),
    (
        "subscriptions_are_walked_newest_first",
        "the kind that is asked for is ignored",
        Plant::Subscriptions(Twist::Ask(|question| question.it.0.target = None)),
    ),
    (
        "subscriptions_are_walked_newest_first",
        "the last item of a page is lost",
        Plant::Subscriptions(Twist::Granted(|page, _| {
            let left = page.items.len() - usize::from(page.next.is_some());
            page.items.truncate(left);
        })),
    ),
    (
        "subscriptions_are_personal",
        "who follows nothing is shown what others follow",
        Plant::Subscriptions(Twist::Instead(|sound, question| {
            Box::pin(async {
                let list = &question.it.0;
                let mut page = sound.board.subscriptions(member(&question.by)?, list.clone()).await?;
                for other in sound.members().await {
                    if page.items.is_empty() {
                        page = sound.board.subscriptions(&other, list.clone()).await?;
                    }
                }
                Ok(page)
            })
        })),
    ),
    (
        "nobody_follows_what_they_do_not_see",
        "what is hidden is forbidden to follow",
        Plant::Follow(Twist::Refused(|refusal| {
            *refusal = Refusal::Forbidden("Not for you.".into());
        })),
    ),
    (
        "what_becomes_hidden_leaves_the_list",
        "what is hidden cannot be unfollowed",
        Plant::Unfollow(Twist::Instead(|sound, question| {
            Box::pin(async {
                let (what,) = question.it.clone();
                let forums = question.by.standing().forums();
                match &what {
                    Target::Forum(forum) if !forums.contains(forum) => Err(Refusal::Absent),
                    _ => sound.board.unfollow(member(&question.by)?, what).await,
                }
            })
        })),
    ),
    (
        "a_deleted_thread_leaves_the_list",
        "who follows a thread is forgotten when it is deleted",
        Plant::DeletePost(Twist::Instead(|sound, question| {
            Box::pin(async {
                let (at,) = question.it.clone();
                for follower in sound.members().await {
                    let what = Target::Thread(at.thread.clone());
                    drop(sound.board.unfollow(&follower, what).await);
                }
                sound.board.delete_post(member(&question.by)?, at).await
            })
        })),
    ),
    (
        "unfollowing_takes_a_subscription",
        "what is not followed is unfollowed all the same",
        Plant::Unfollow(Twist::Answer(|done, _| *done = Ok(()))),
    ),
    (
        "authors_follow_what_they_write_in",
        "who starts a thread follows it, whether they want to or not",
        Plant::StartThread(Twist::Ask(|question| question.it.1.subscribe = true)),
    ),
    (
        "authors_follow_what_they_write_in",
        "who replies does not follow",
        Plant::Reply(Twist::Ask(|question| question.it.1.subscribe = false)),
    ),
    (
        "a_follow_is_decided_when_it_is_made",
        "who saw something when the request came in follows it",
        Plant::Follow(Twist::Forced(|refusal, question| {
            let saw = !question.by.standing().forums().is_empty();
            saw && matches!(refusal, Refusal::NotFound(_))
        })),
    ),
    (
        "a_follow_is_decided_when_it_is_made",
        "who was banned meanwhile follows",
        Plant::Follow(Twist::Forced(|refusal, _| says(refusal, "account"))),
    ),
    (
        "a_waiting_thread_is_followed_by_its_author",
        "nobody follows what awaits approval",
        Plant::Follow(Twist::Instead(|sound, question| {
            Box::pin(async {
                let (what,) = question.it.clone();
                if let Target::Thread(thread) = &what
                    && sound.thread(thread).await?.state == State::AwaitingApproval
                {
                    return Err(Refusal::NotFound("It awaits approval.".into()));
                }
                sound.board.follow(member(&question.by)?, what).await
            })
        })),
    ),
];
