//! Who finds what, and from when on.

use forum_api::conformance::Audience;
use forum_api::model::{EditPost, ForumId, PostAt};

use super::Fault;
use super::plant::Plant;
use super::sound::member;
use super::twist::Twist;

pub const FAULTS: &[Fault] = &[
    (
        "new_text_is_found_at_once",
        "replies are not found",
        Plant::Search(Twist::Instead(|sound, question| {
            Box::pin(async {
                let (search,) = question.it.clone();
                let mut page = sound.board.search(&question.by, search).await?;
                for hit in std::mem::take(&mut page.items) {
                    let thread = sound.thread(&hit.thread_id).await?;
                    let first = thread.first_post_id == hit.post_id;
                    page.items.extend(first.then_some(hit));
                }
                Ok(page)
            })
        })),
    ),
    (
        "what_is_hidden_is_not_found",
        "hidden forums are searched when they are named",
        Plant::Search(Twist::Instead(|sound, question| {
            Box::pin(async {
                let (search,) = question.it.clone();
                let by = match search.forum.is_empty() {
                    true => question.by.clone(),
                    false => sound.root().await?,
                };
                sound.board.search(&by, search).await
            })
        })),
    ),
    (
        "a_guest_finds_what_guests_see",
        "a guest finds nothing",
        Plant::Search(Twist::Granted(|page, question| {
            if question.by.user().is_none() {
                page.items.clear();
            }
        })),
    ),
    (
        "a_hidden_sub_forum_is_not_found_through_its_parent",
        "a hidden forum hides what is below it",
        Plant::Search(Twist::Granted(|page, question| {
            let forums = question.by.standing().forums();
            let sees = |forum: i64| forums.contains(&forum.into());
            page.items.retain(|hit| hit.forum_id != ForumId::from(3) || sees(2));
        })),
    ),
    (
        "sight_is_asked_anew",
        "what was hidden once is found no more",
        Plant::SetReaders(Twist::Ask(|question| {
            question.it.1 = Audience::Staff;
        })),
    ),
    (
        "what_is_approved_is_found",
        "to approve is to do nothing",
        Plant::Approve(Twist::Made(|_| Ok(()))),
    ),
    (
        "a_deleted_post_is_not_found",
        "a restored post comes back without its words",
        Plant::Restore(Twist::Instead(|sound, question| {
            Box::pin(async {
                let (post,) = question.it.clone();
                sound.set(sound.stage.restore(&post)).await?;
                let (root, thread) = (sound.root().await?, sound.thread_of(&post).await?);
                let mut edit = EditPost::default();
                edit.body = "-".into();
                let edited = sound.board.edit_post(member(&root)?, PostAt { thread, post }, edit);
                edited.await.map(drop)
            })
        })),
    ),
    (
        "a_deleted_thread_is_not_found",
        "what was deleted in a thread is restored with it",
        Plant::Restore(Twist::Instead(|sound, question| {
            Box::pin(async {
                let thread = sound.thread_of(&question.it.0).await?;
                for post in sound.posts(&thread).await? {
                    drop(sound.stage.restore(&post.post_id).await);
                }
                Ok(())
            })
        })),
    ),
    (
        "an_edited_post_is_found_by_its_new_words",
        "what was edited is found no more",
        Plant::Search(Twist::Instead(|sound, question| {
            Box::pin(async {
                let (search,) = question.it.clone();
                let mut page = sound.board.search(&question.by, search).await?;
                for hit in std::mem::take(&mut page.items) {
                    let posts = sound.posts(&hit.thread_id).await?;
                    let edited = posts.iter().any(|post| {
                        post.post_id == hit.post_id && post.edited_at.is_some()
                    });
                    page.items.extend((!edited).then_some(hit));
                }
                Ok(page)
            })
        })),
    ),
];
