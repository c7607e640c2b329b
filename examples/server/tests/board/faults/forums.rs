//! Forums: how they hang together, and what they count.

use std::collections::HashMap;

use forum_api::host::Result;
use forum_api::model::{Forum, State};

use super::Fault;
use super::plant::Plant;
use super::sound::Sound;
use super::twist::{Question, Twist};

pub const FAULTS: &[Fault] = &[
    (
        "parents_stand_before_children_by_position",
        "children stand before their parents",
        Plant::Forums(Twist::Granted(|forums, _| forums.reverse())),
    ),
    (
        "parents_stand_before_children_by_position",
        "positions count through all forums",
        Plant::Forums(Twist::Granted(|forums, _| {
            (1..).zip(forums).for_each(|(place, forum)| forum.position = place);
        })),
    ),
    (
        "a_parent_is_the_nearest_that_is_seen",
        "a forum below a hidden one hangs from none",
        Plant::Forums(Twist::Granted(|forums, _| {
            if forums.len() < 4 {
                forums.iter_mut().for_each(|forum| forum.parent_id = None);
            }
        })),
    ),
    (
        "an_empty_forum_counts_nothing",
        "an empty forum was active in 1970",
        Plant::Forums(Twist::Granted(|forums, _| {
            for forum in forums {
                forum.last_activity_at.get_or_insert_default();
            }
        })),
    ),
    (
        "what_is_posted_counts_in_its_forum_alone",
        "a forum does not count first posts",
        Plant::Forums(Twist::Granted(|forums, _| {
            forums.iter_mut().for_each(|forum| forum.post_count -= forum.thread_count);
        })),
    ),
    (
        "a_forum_does_not_count_what_is_below_it",
        "a forum counts what is below it",
        Plant::Forums(Twist::Granted(|forums, _| {
            let below: HashMap<_, _> = forums
                .iter()
                .filter_map(|forum| Some((forum.parent_id.clone()?, forum.thread_count)))
                .collect();
            for forum in forums {
                forum.thread_count += below.get(&forum.forum_id).unwrap_or(&0);
            }
        })),
    ),
    (
        "what_awaits_approval_counts_nowhere",
        "a forum counts what awaits approval",
        Plant::Forums(Twist::Instead(|sound, question| {
            Box::pin(counting(sound, question, |state| state != State::Deleted))
        })),
    ),
    (
        "what_is_hidden_counts_nowhere",
        "a forum counts what is in hidden ones",
        Plant::Forums(Twist::Instead(|sound, question| {
            Box::pin(async {
                let all = sound.board.forums(&sound.root().await?).await?;
                let posts = all.iter().map(|forum| forum.post_count).sum();
                let mut forums = sound.board.forums(&question.by).await?;
                forums.iter_mut().for_each(|forum| forum.post_count = posts);
                Ok(forums)
            })
        })),
    ),
    (
        "a_forum_tells_its_title",
        "a title is HTML",
        Plant::Forums(Twist::Granted(|forums, _| {
            for forum in forums {
                forum.title = forum.title.replace('&', "&amp;");
            }
        })),
    ),
];

/// The forums that somebody sees, with counts of the threads in such states.
pub async fn counting(
    sound: &Sound,
    question: &Question<()>,
    counts: fn(State) -> bool,
) -> Result<Vec<Forum>> {
    let mut forums = sound.board.forums(&question.by).await?;
    for forum in &mut forums {
        let threads = sound.threads(&forum.forum_id).await?.into_iter();
        forum.thread_count = threads.filter(|thread| counts(thread.state)).count() as u64;
    }
    Ok(forums)
}
