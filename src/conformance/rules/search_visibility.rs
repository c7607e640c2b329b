//! Visibility of hits, and their update after changes.

use super::*;

board_rules! {
    mod search_visibility, __rules_search_visibility;

    /// New text is found immediately.
    async fn new_text_is_found_at_once(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        fixture.expect_hits("tea", &[]).await?;
        let first = fixture.thread("Tea", "x").await?;
        fixture.expect_hits("tea", &[&first]).await?;
        let answer = fixture.reply(&first.thread_id, "tea").await?;
        fixture.expect_hits("tea", &[&answer, &first]).await
    }

    /// Only callers who see a forum find its posts, even if the search names the forum.
    async fn search_omits_hidden_content(suite: &Suite) -> TestResult {
        let (forum, sam, alice) = suite.staff_forum().await?;
        let first = suite.write_thread(&sam, &forum, "Tea", "tea").await?;
        for within in [None, Some(&forum)] {
            let search = with(newest("tea")?, |search| search.forum.extend(within.cloned()));
            sam.expect_hits(&search, &[&first]).await?;
            let actual = alice.expect_hits(&search, &[]).await;
            actual.map_err(|failure| failure.with_note(hidden_note(&forum, &alice)))?;
        }
        Ok(())
    }

    /// Guests find only posts that guests see.
    async fn guests_find_only_visible_posts(suite: &Suite) -> TestResult {
        let guest = suite.guest()?;
        let fixture = SearchFixture::new(suite).await?;
        let sam = suite.staff("sam").await?;
        let staff = suite.forum(Audience::Staff).await?;
        let seen = fixture.thread("x", "tea").await?;
        let unseen = suite.write_thread(&sam, &staff, "x", "tea").await?;
        sam.expect_hits(&newest("tea")?, &[&unseen, &seen]).await?;
        let actual = guest.expect_hits(&newest("tea")?, &[&seen]).await;
        actual.map_err(|failure| failure.with_note(hidden_note(&staff, &guest)))
    }

    /// A search in a forum omits its hidden sub-forums, but includes visible forums below them. A search in a hidden
    /// forum has no hits, not even in visible sub-forums.
    async fn a_search_in_a_parent_omits_a_hidden_sub_forum(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        let sam = suite.staff("sam").await?;
        let middle = suite.sub_forum(&fixture.forum, Audience::Staff).await?;
        let below = suite.sub_forum(&middle, Audience::Guests).await?;
        let in_middle = suite.write_thread(&sam, &middle, "x", "tea").await?;
        let in_below = suite.write_thread(&sam, &below, "x", "tea").await?;
        for (forum, by_alice) in [(&fixture.forum, vec![&in_below]), (&middle, vec![])] {
            let search = with(newest("tea")?, |search| search.forum.push(forum.clone()));
            let actual = fixture.alice.expect_hits(&search, &by_alice).await;
            let note = hidden_note(&middle, &fixture.alice);
            actual.map_err(|failure| {
                failure.with_note(format_args!("{note}; its sub-forum {below} is not"))
            })?;
            sam.expect_hits(&search, &[&in_below, &in_middle]).await?;
        }
        Ok(())
    }

    /// Access is looked up for every search.
    async fn visibility_is_checked_on_each_search(suite: &Suite) -> TestResult {
        suite.require(Capability::HiddenForums)?;
        let fixture = SearchFixture::new(suite).await?;
        let first = fixture.thread("x", "tea").await?;
        for (readers, posts) in [(Audience::Staff, vec![]), (Audience::Guests, vec![&first])] {
            suite.fixture.set_readers(&fixture.forum, readers).await?;
            let actual = fixture.expect_hits("tea", &posts).await;
            let note = format_args!("forum {} is now for {readers:?}", fixture.forum);
            actual.map_err(|failure| failure.with_note(note))?;
        }
        Ok(())
    }

    /// A post that awaits approval is found once it is approved.
    async fn search_finds_approved_content(suite: &Suite) -> TestResult {
        let nora = suite.newcomer("nora").await?;
        let fixture = SearchFixture::new(suite).await?;
        let thread = fixture.thread("x", "y").await?.thread_id;
        let pending = suite.write_thread(&nora, &fixture.forum, "Tea", "x").await?;
        let answer = suite.write_reply(&nora, &thread, "tea").await?;
        fixture.expect_hits("tea", &[]).await?;
        suite.fixture.approve(&answer.post_id).await?;
        fixture.expect_hits("tea", &[&answer]).await?;
        suite.fixture.approve(&pending.post_id).await?;
        fixture.expect_hits("tea", &[&answer, &pending]).await
    }

    /// A deleted post is not found until it is restored.
    async fn a_deleted_post_is_not_found(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        let [first, second] = &fixture.posts(["tea", "tea"]).await?;
        fixture.alice.delete_post(second).await.expect_ok()?;
        fixture.expect_hits("tea", &[first]).await?;
        if suite.restore(&second.post_id).await? {
            fixture.expect_hits("tea", &[second, first]).await?;
        }
        Ok(())
    }

    /// No post of a deleted thread is found. After the thread is restored, all its posts that were not deleted
    /// separately are found again.
    async fn a_deleted_thread_is_not_found(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        let mia = suite.moderator("mia", &fixture.forum).await?;
        let [first, second, third] = &fixture.posts(["tea", "tea", "tea"]).await?;
        for post in [second, first] {
            mia.delete_post(post).await.expect_ok()?;
        }
        fixture.expect_hits("tea", &[]).await?;
        if suite.restore(&first.post_id).await? {
            fixture.expect_hits("tea", &[third, first]).await?;
        }
        Ok(())
    }

    /// An edited post is found only by its new words.
    async fn an_edited_post_is_found_by_its_new_words(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        let path = fixture.thread("Drinks", "tea").await?;
        fixture.alice.edit(&path, "coffee").await.expect_ok()?;
        fixture.expect_hits("tea", &[]).await?;
        fixture.expect_hits("coffee drinks", &[&path]).await
    }
}

fn hidden_note(forum: &ForumId, caller: &TestCaller) -> String {
    format!("forum {forum} is hidden from {caller:?}")
}
