//! Callers see visible content. Hidden content is not found.

use std::slice;

use super::*;

board_rules! {
    mod visibility, __rules_visibility;

    /// Every member sees the content that guests see.
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

    /// Each audience (guests, members, staff) sees its own forums and those of the wider audiences, and no others.
    async fn each_audience_sees_only_its_forums(suite: &Suite) -> TestResult {
        let mut forums = Vec::new();
        let mut audiences = vec![Audience::Guests, Audience::Members, Audience::Staff];
        audiences.retain(|readers| *readers != Audience::Members || suite.require(Capability::MemberForums).is_ok());
        for readers in audiences {
            forums.push((readers, suite.forum(readers).await?));
        }
        for (caller, visible) in [
            (suite.guest()?, &[Audience::Guests][..]),
            (suite.member("alice").await?, &[Audience::Guests, Audience::Members]),
            (suite.staff("sam").await?, &[Audience::Guests, Audience::Members, Audience::Staff]),
            (suite.admin("ada").await?, &[Audience::Guests, Audience::Members, Audience::Staff]),
        ] {
            let listed = caller.fetch_forums().await?.into_iter().map(|forum| forum.forum_id);
            let expected: Vec<_> = forums.iter().filter(|(readers, _)| visible.contains(readers)).map(|(_, forum)| forum.clone()).collect();
            check_eq!(listed.collect::<Vec<_>>(), expected, "the forums that {caller:?} sees")?;
        }
        Ok(())
    }

    /// No call finds a thread of a hidden forum.
    async fn a_hidden_thread_is_not_found(suite: &Suite) -> TestResult {
        let (forum, sam, alice) = suite.staff_forum().await?;
        let thread = suite.thread(&sam, &forum).await?.thread_id;
        sam.fetch_thread(&thread).await?;
        expect_thread_not_found(&alice, &forum, &thread).await
    }

    /// No call of a guest finds a thread of a hidden forum.
    async fn a_hidden_thread_is_not_found_by_a_guest(suite: &Suite) -> TestResult {
        let guest = suite.guest()?;
        let forum = suite.forum(Audience::Staff).await?;
        let thread = suite.thread(&suite.staff("sam").await?, &forum).await?.thread_id;
        expect_thread_not_found(&guest, &forum, &thread).await
    }

    /// A write in a hidden forum returns `PathNotFound` instead of `Forbidden`, and changes nothing.
    async fn hidden_forums_take_no_writes(suite: &Suite) -> TestResult {
        let (forum, sam, alice) = suite.staff_forum().await?;
        let thread = suite.thread(&sam, &forum).await?.thread_id;
        let before = sam.fetch_forums().await?;
        alice.start_thread(&forum, "A title", "Some words").await.expect_path_not_found()?;
        alice.reply(&thread, "Some words").await.expect_path_not_found()?;
        check_eq!(sam.fetch_forums().await?, before)
    }

    /// An id that no thread has is not found, whatever its form.
    async fn unknown_ids_are_not_found(suite: &Suite) -> TestResult {
        let alice = suite.member("alice").await?;
        let longest = "x".repeat(64);
        let numbers = ["0", "-1", "007", "9223372036854775807", "9223372036854775808"];
        for id in numbers.into_iter().chain(["no-such_thing", &longest]) {
            let thread = ThreadId::parse(id)?;
            alice.get_thread(&thread).await.expect_path_not_found()?;
            alice.first_page(&thread).await.expect_path_not_found()?;
            alice.reply(&thread, "Some words").await.expect_path_not_found()?;
        }
        Ok(())
    }

    /// A reply that awaits approval is visible only to its author and to moderators. For other callers `list_posts`
    /// omits it, and returns `InvalidParameter` of `from` if `from` names it.
    async fn only_author_and_moderators_see_a_reply_awaiting_approval(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        let nora = suite.newcomer("nora").await?;
        let thread = suite.thread(&alice, &forum).await?.thread_id;
        let post = nora.reply(&thread, "Some words").await.expect_ok()?;
        check_eq!(post.state, ContentState::AwaitingApproval)?;
        for (caller, visible) in callers_and_visibility(suite, &forum, alice, nora).await? {
            let listed = post_ids(&caller.fetch_posts(&thread).await?).contains(&post.post_id);
            check_eq!(listed, visible, "whether {caller:?} sees the post")?;
            for sort in [PostSort::Oldest, PostSort::Newest] {
                let from = PostFilter { from: Some(post.post_id.clone()), sort, ..PostFilter::default() };
                match (visible, caller.list_posts(&thread, &List::new(from)).await) {
                    (true, page) => page.expect_ok().map(drop)?,
                    (false, page) => page.expect_invalid_parameter("from")?,
                }
            }
        }
        Ok(())
    }

    /// A thread that awaits approval is visible only to its author and to moderators.
    async fn only_author_and_moderators_see_a_thread_awaiting_approval(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        let nora = suite.newcomer("nora").await?;
        let thread = nora.start_thread(&forum, "A title", "Some words").await.expect_ok()?;
        check_eq!(thread.state, ContentState::AwaitingApproval)?;
        let thread = thread.thread_id;
        for (caller, visible) in callers_and_visibility(suite, &forum, alice, nora).await? {
            let listed = caller.thread_ids(&forum).await?.contains(&thread);
            check_eq!(listed, visible, "whether {caller:?} sees the thread")?;
            caller.get_thread(&thread).await.expect_found_if(visible)?;
            caller.first_page(&thread).await.expect_found_if(visible)?;
        }
        Ok(())
    }

    /// A reply in a thread that awaits approval is forbidden for its author and not found for other members.
    async fn threads_awaiting_approval_take_no_replies(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        let nora = suite.newcomer("nora").await?;
        let thread = nora.start_thread(&forum, "A title", "Some words").await.expect_ok()?.thread_id;
        alice.reply(&thread, "Some words").await.expect_path_not_found()?;
        nora.reply(&thread, "Some words").await.expect_forbidden()
    }
}

async fn expect_thread_not_found(
    caller: &TestCaller,
    forum: &ForumId,
    thread: &ThreadId,
) -> TestResult {
    caller.get_thread(thread).await.expect_path_not_found()?;
    caller.first_page(thread).await.expect_path_not_found()?;
    let params = List::<ThreadFilter>::default();
    let page = caller.list_threads(forum, &params).await;
    page.expect_path_not_found()
}

/// Returns callers, each with `true` if the caller can see a post by `author` that awaits approval.
async fn callers_and_visibility(
    suite: &Suite,
    forum: &ForumId,
    other: TestCaller,
    author: TestCaller,
) -> TestResult<Vec<(TestCaller, bool)>> {
    let ada = suite.admin("ada").await?;
    let mut callers = vec![(other, false), (author, true), (ada, true)];
    callers.extend(suite.guest().ok().map(|guest| (guest, false)));
    if suite.require(Capability::Moderators).is_ok() {
        callers.push((suite.moderator("max", forum).await?, true));
    }
    Ok(callers)
}
