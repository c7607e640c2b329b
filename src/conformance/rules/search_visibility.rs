//! Search: who finds it, and when.

use super::search_fixture::{Library, finds, newest, reply, thread};
use super::thread_fixture::edit;
use super::{Audience, Part, Role, Someone, Suite, Verdict};
use crate::model::{ForumId, PostAt};

board_rules!(
    mod search_visibility;

    /// New text is found at once.
    async fn new_text_is_found_at_once(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        library.finds("tea", &[]).await?;
        let written = library.thread("Tea", "x").await?;
        library.finds("tea", &[&written.first]).await?;
        let answer = reply(suite, &library.alice, &written.thread, "tea").await?;
        library.finds("tea", &[&answer, &written.first]).await
    }

    /// What is in a hidden forum is found by those who see it, and by nobody else: not by its name either.
    async fn what_is_hidden_is_not_found(suite: &Suite) -> Verdict {
        let (staff, sam) = (
            suite.forum(Audience::Staff).await?,
            suite.join("sam", Role::Staff).await?,
        );
        let alice = suite.member("alice").await?;
        let first = thread(suite, &sam, &staff, "Tea", "tea").await?.first;
        for forum in [None, Some(&staff)] {
            let mut search = newest("tea")?;
            search.forum.extend(forum.cloned());
            finds(&sam, &search, &[&first]).await?;
            let found = finds(&alice, &search, &[]).await;
            found.map_err(|stop| stop.noting(hidden(&staff, &alice)))?;
        }
        Ok(())
    }

    /// What guests do not see they do not find.
    async fn a_guest_finds_what_guests_see(suite: &Suite) -> Verdict {
        let (guest, library) = (suite.guest()?, Library::open(suite).await?);
        let members = suite.forum(Audience::Members).await?;
        let seen = library.thread("x", "tea").await?.first;
        let unseen = thread(suite, &library.alice, &members, "x", "tea").await?;
        library.finds("tea", &[&unseen.first, &seen]).await?;
        let found = finds(&guest, &newest("tea")?, &[&seen]).await;
        found.map_err(|stop| stop.noting(hidden(&members, &guest)))
    }

    /// A sub-forum is not found through the one above when it is hidden, and not through one that is.
    async fn a_hidden_sub_forum_is_not_found_through_its_parent(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let sam = suite.join("sam", Role::Staff).await?;
        let middle = suite.sub_forum(&library.forum, Audience::Staff).await?;
        let below = suite.sub_forum(&middle, Audience::Guests).await?;
        let in_middle = thread(suite, &sam, &middle, "x", "tea").await?.first;
        let in_below = thread(suite, &sam, &below, "x", "tea").await?.first;
        for (forum, by_alice, by_sam) in [
            (&library.forum, vec![&in_below], vec![&in_below, &in_middle]),
            (&middle, vec![], vec![&in_below, &in_middle]),
        ] {
            let mut search = newest("tea")?;
            search.forum.push(forum.clone());
            let found = finds(&library.alice, &search, &by_alice).await;
            let note = hidden(&middle, &library.alice);
            found.map_err(|stop| {
                stop.noting(format_args!("{note}; its sub-forum {below} is not"))
            })?;
            finds(&sam, &search, &by_sam).await?;
        }
        Ok(())
    }

    /// A forum that is hidden from now on is not searched from now on, and is again when it is shown again.
    async fn sight_is_asked_anew(suite: &Suite) -> Verdict {
        suite.needs(Part::HiddenForums)?;
        let library = Library::open(suite).await?;
        let first = library.thread("x", "tea").await?.first;
        for (readers, found) in [(Audience::Staff, vec![]), (Audience::Guests, vec![&first])] {
            suite.stage.set_readers(&library.forum, readers).await?;
            let found = library.finds("tea", &found).await;
            let note = format_args!("forum {} is now for {readers:?}", library.forum);
            found.map_err(|stop| stop.noting(note))?;
        }
        Ok(())
    }

    /// What awaits approval is found when it is approved.
    async fn what_is_approved_is_found(suite: &Suite) -> Verdict {
        let (newbie, library) = (suite.newcomer("newbie").await?, Library::open(suite).await?);
        let talk = library.thread("x", "y").await?.thread;
        let waiting = thread(suite, &newbie, &library.forum, "Tea", "x")
            .await?
            .first;
        let answer = reply(suite, &newbie, &talk, "tea").await?;
        library.finds("tea", &[]).await?;
        suite.stage.approve(&answer).await?;
        library.finds("tea", &[&answer]).await?;
        suite.stage.approve(&waiting).await?;
        library.finds("tea", &[&answer, &waiting]).await
    }

    /// A deleted post is gone at once, and comes back when it is restored.
    async fn a_deleted_post_is_not_found(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let (thread, [first, second]) = &library.posts(["tea", "tea"]).await?;
        let (thread, post) = (thread.clone(), second.clone());
        let at = PostAt { thread, post };
        library.alice.delete_post(&at).await?.granted()?;
        library.finds("tea", &[first]).await?;
        suite.stage.restore(second).await?;
        library.finds("tea", &[second, first]).await
    }

    /// With a thread all that is in it is gone, and what was not deleted by itself comes back with it.
    async fn a_deleted_thread_is_not_found(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let mia = suite.moderator("mia", &library.forum).await?;
        let (thread, [first, second, third]) = &library.posts(["tea", "tea", "tea"]).await?;
        for post in [second, first] {
            let (thread, post) = (thread.clone(), post.clone());
            mia.delete_post(&PostAt { thread, post }).await?.granted()?;
        }
        library.finds("tea", &[]).await?;
        suite.stage.restore(first).await?;
        library.finds("tea", &[third, first]).await
    }

    /// An edited post is found by its new words alone.
    async fn an_edited_post_is_found_by_its_new_words(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let at = library.thread("Drinks", "tea").await?.at();
        library
            .alice
            .edit_post(&at, &edit("coffee"))
            .await?
            .granted()?;
        library.finds("tea", &[]).await?;
        library.finds("coffee drinks", &[&at.post]).await
    }
);

fn hidden(forum: &ForumId, someone: &Someone) -> String {
    format!("forum {forum} is hidden from {}", someone.name())
}
