//! Posts: written.

use super::posts::{of, talk};
use super::sanitizing::{HARM, harmless, reply};
use super::thread_fixture::posts;
use super::{Part, Suite, Verdict, equal, holds};
use crate::model::State;

board_rules!(
    mod replies;

    /// A body comes back as it was typed.
    async fn a_body_is_kept_as_it_was_typed(suite: &Suite) -> Verdict {
        suite.needs(Part::SourceMarkup)?;
        let (alice, thread, _) = talk(suite, 1).await?;
        let typed = "Grüße, 茶 & \"tea\" <b>\n\n- ☕️";
        let post = alice.reply(&thread, &reply(typed)).await?.granted()?.it;
        equal("the body", post.body.as_deref(), Some(typed))?;
        let items = posts(&alice, &thread).await?;
        let listed = items.last().and_then(|post| post.body.as_deref());
        equal("the body in a list", listed, Some(typed))
    }

    /// No markup that people type becomes HTML that runs.
    async fn what_people_type_does_not_run(suite: &Suite) -> Verdict {
        let (alice, thread, _) = talk(suite, 1).await?;
        let post = alice.reply(&thread, &reply(HARM)).await?.granted()?.it;
        harmless(&post.body_html.unwrap_or_default())
    }

    /// A new reply is visible, was never edited, and is of the first version.
    async fn a_new_reply_is_as_it_was_written(suite: &Suite) -> Verdict {
        let (alice, thread, _) = talk(suite, 1).await?;
        let post = alice.reply(&thread, &reply("Green.")).await?.granted()?.it;
        let found = (post.state, post.version);
        equal("its state and version", found, (State::Visible, 1))?;
        let found = (post.edited_at, post.edited_by);
        equal("when and by whom it was edited", found, (None, None))?;
        match suite.needs(Part::SuiteClock) {
            Ok(()) => equal("when it was written", post.created_at, suite.now()),
            Err(_) => Ok(()),
        }
    }

    /// A reply is there at once, the last of its thread, and counted.
    async fn a_reply_is_the_last_of_its_thread_at_once(suite: &Suite) -> Verdict {
        let (_, thread, ids) = talk(suite, 2).await?;
        let bob = suite.member("bob").await?;
        let reply = bob.reply(&thread, &reply("Green.")).await?.granted()?.it;
        let author = reply.author.as_ref().map(|author| author.user_id.clone());
        let found = (&reply.thread_id, author);
        equal("its thread and author", found, (&thread, Some(bob.id())))?;
        let items = posts(&bob, &thread).await?;
        equal("the same, in the list", items.last(), Some(&reply))?;
        let thread = bob.thread(&thread).await?.granted()?;
        let last = thread.last_post.map(|last| (last.post_id, last.created_at));
        equal(
            "the last post",
            last,
            Some((reply.post_id, reply.created_at)),
        )?;
        equal("how many replies", thread.reply_count, ids.len() as u64)?;
        let found = thread.last_activity_at;
        equal("the last activity", found, reply.created_at)
    }

    /// Refuses an empty body as invalid, names the field, and leaves nothing behind.
    async fn an_empty_body_is_invalid(suite: &Suite) -> Verdict {
        let (alice, thread, ids) = talk(suite, 1).await?;
        let before = alice.thread(&thread).await?.granted()?;
        for body in ["", " \n\t"] {
            alice.reply(&thread, &reply(body)).await?.invalid("body")?;
        }
        let found = alice.thread(&thread).await?.granted()?;
        equal("the thread afterwards", found, before)?;
        let items = posts(&alice, &thread).await?;
        equal("the posts afterwards", of(&items), ids)
    }

    /// Replies that come at once are all there, each with a number of its own, and all counted.
    async fn replies_at_once_are_all_there(suite: &Suite) -> Verdict {
        let (alice, thread, _) = talk(suite, 1).await?;
        let mut works = Vec::new();
        for name in ["ann", "ben", "cem", "dan", "eve", "fay"] {
            let (author, thread) = (suite.member(name).await?, thread.clone());
            works.push(async move { author.reply(&thread, &reply("Now")).await?.granted() });
        }
        let wrote = works.len();
        for reply in suite.race(works).await {
            reply?;
        }
        let items = posts(&alice, &thread).await?;
        equal("the posts", items.len(), wrote + 1)?;
        let found = alice.thread(&thread).await?.granted()?.reply_count;
        equal("the replies", found, wrote as u64)?;
        suite.needs(Part::PostNumbers)?;
        let numbers: Vec<_> = items.iter().map(|post| post.number).collect();
        let what = format_args!("{numbers:?} go up");
        holds(what, numbers.is_sorted_by(|a, b| a < b))
    }
);
