//! What is visible is shown, and what is hidden does not exist for the caller.

use std::slice;

use super::*;

board_rules! {
    mod visibility;

    /// What guests see, every member sees as well.
    async fn members_see_all_that_guests_see(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        let path = suite.thread(&alice, &forum).await?;
        for caller in [suite.guest()?, suite.member("bob").await?, alice] {
            caller.fetch_forum(&forum).await?;
            check_eq!(caller.thread_ids(&forum).await?, slice::from_ref(&path.thread_id), "for {caller:?}")?;
            caller.fetch_thread(&path.thread_id).await?;
            caller.fetch_post(&path).await?;
        }
        Ok(())
    }

    /// Guests do not see the forums of members, and members do not see those of staff.
    async fn each_audience_sees_only_its_forums(suite: &Suite) -> TestResult {
        let mut forums = Vec::new();
        for readers in [Audience::Guests, Audience::Members, Audience::Staff] {
            forums.push(suite.forum(readers).await?);
        }
        for (caller, sees) in [
            (suite.guest()?, 1),
            (suite.member("alice").await?, 2),
            (suite.staff("sam").await?, 3),
            (suite.admin("ada").await?, 3),
        ] {
            let listed = caller.fetch_forums().await?.into_iter().map(|forum| forum.forum_id);
            let expected: Vec<_> = forums.iter().take(sees).cloned().collect();
            check_eq!(listed.collect::<Vec<_>>(), expected, "the forums that {caller:?} sees")?;
        }
        Ok(())
    }

    /// A thread of a hidden forum does not exist for the caller, in any call.
    async fn a_hidden_thread_is_not_found(suite: &Suite) -> TestResult {
        let forum = suite.forum(Audience::Staff).await?;
        let sam = suite.staff("sam").await?;
        let thread = suite.thread(&sam, &forum).await?.thread_id;
        sam.fetch_thread(&thread).await?;
        is_absent(&suite.member("alice").await?, &forum, &thread).await
    }

    /// A thread of a hidden forum does not exist for the guest either.
    async fn a_hidden_thread_is_not_found_by_a_guest(suite: &Suite) -> TestResult {
        let guest = suite.guest()?;
        let forum = suite.forum(Audience::Members).await?;
        let thread = suite.thread(&suite.member("alice").await?, &forum).await?.thread_id;
        is_absent(&guest, &forum, &thread).await
    }

    /// A write in a hidden forum is refused as absent, not as forbidden, and writes nothing.
    async fn hidden_forums_take_no_writes(suite: &Suite) -> TestResult {
        let forum = suite.forum(Audience::Staff).await?;
        let (sam, alice) = (suite.staff("sam").await?, suite.member("alice").await?);
        let thread = suite.thread(&sam, &forum).await?.thread_id;
        let before = sam.fetch_forums().await?;
        alice.start_thread(&forum, "A title", "Some words").await.expect_path_not_found()?;
        alice.reply(&thread, "Some words").await.expect_path_not_found()?;
        check_eq!(sam.fetch_forums().await?, before)
    }

    /// An id that no thread has is absent, whatever it looks like.
    async fn unknown_ids_are_not_found(suite: &Suite) -> TestResult {
        let alice = suite.member("alice").await?;
        let longest = "x".repeat(64);
        let numbers = ["0", "-1", "007", "9223372036854775807", "9223372036854775808"];
        for id in numbers.into_iter().chain(["no-such_thing", &longest]) {
            let Some(thread) = ThreadId::parse(id) else {
                continue;
            };
            alice.get_thread(&thread).await.expect_path_not_found()?;
            alice.first_page(&thread).await.expect_path_not_found()?;
            alice.reply(&thread, "Some words").await.expect_path_not_found()?;
        }
        Ok(())
    }

    /// A reply that awaits approval exists for its author and for moderators.
    async fn only_author_and_moderators_see_a_reply_awaiting_approval(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        let nora = suite.newcomer("nora").await?;
        let thread = suite.thread(&alice, &forum).await?.thread_id;
        let post = nora.reply(&thread, "Some words").await.expect_ok()?;
        check_eq!(post.state, ContentState::AwaitingApproval)?;
        let from = ListPostsParams { from: Some(post.post_id.clone()), ..ListPostsParams::default() };
        for (caller, sees) in readers_of_waiting(suite, &forum, alice, nora).await? {
            let listed = post_ids(&caller.fetch_posts(&thread).await?).contains(&post.post_id);
            check_eq!(listed, sees, "whether {caller:?} sees it")?;
            match (sees, caller.list_posts(&thread, &from).await) {
                (true, page) => page.expect_ok().map(drop)?,
                (false, page) => page.expect_invalid_parameter("from")?,
            }
        }
        Ok(())
    }

    /// A thread that awaits approval exists for its author and for moderators.
    async fn only_author_and_moderators_see_a_thread_awaiting_approval(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        let nora = suite.newcomer("nora").await?;
        let thread = nora.start_thread(&forum, "A title", "Some words").await.expect_ok()?;
        check_eq!(thread.state, ContentState::AwaitingApproval)?;
        let thread = thread.thread_id;
        for (caller, sees) in readers_of_waiting(suite, &forum, alice, nora).await? {
            let listed = caller.thread_ids(&forum).await?.contains(&thread);
            check_eq!(listed, sees, "whether {caller:?} sees it")?;
            caller.get_thread(&thread).await.expect_found_if(sees)?;
            caller.first_page(&thread).await.expect_found_if(sees)?;
        }
        Ok(())
    }

    /// A thread that awaits approval takes no replies: its author is forbidden, for others it is absent.
    async fn threads_awaiting_approval_take_no_replies(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        let nora = suite.newcomer("nora").await?;
        let thread = nora.start_thread(&forum, "A title", "Some words").await.expect_ok()?.thread_id;
        alice.reply(&thread, "Some words").await.expect_path_not_found()?;
        nora.reply(&thread, "Some words").await.expect_forbidden()
    }
}

async fn is_absent(caller: &TestCaller, forum: &ForumId, thread: &ThreadId) -> TestResult {
    caller.get_thread(thread).await.expect_path_not_found()?;
    caller.first_page(thread).await.expect_path_not_found()?;
    let list = ListThreadsParams::default();
    caller
        .list_threads(forum, &list)
        .await
        .expect_path_not_found()
}

/// Callers, and whether each sees what `author` wrote and what awaits approval.
async fn readers_of_waiting(
    suite: &Suite,
    forum: &ForumId,
    other: TestCaller,
    author: TestCaller,
) -> TestResult<Vec<(TestCaller, bool)>> {
    let ada = suite.admin("ada").await?;
    let mut all = vec![(other, false), (author, true), (ada, true)];
    all.extend(suite.guest().ok().map(|guest| (guest, false)));
    let moderator = suite.moderator("max", forum).await;
    all.extend(moderator.ok().map(|moderator| (moderator, true)));
    Ok(all)
}
