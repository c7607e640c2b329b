//! Search queries, filters and hits.

use std::time::Duration;

use super::*;

board_rules! {
    mod search, __rules_search;

    /// A hit contains every word of the query, in any order and case.
    async fn every_word_is_required(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        let texts = ["green tea", "black tea", "a cup of Green, no TEA", "greens"];
        let [green, black, cup, _] = &fixture.posts(texts).await?;
        fixture.expect_hits("tea", &[cup, black, green]).await?;
        fixture.expect_hits("TEA green", &[cup, green]).await?;
        fixture.expect_hits("tea coffee", &[]).await
    }

    /// The search has no stop words: the most common words are found.
    async fn the_most_common_word_is_found(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        let [the, of_the, _] = &fixture.posts(["the", "of the", "of"]).await?;
        fixture.expect_hits("the", &[of_the, the]).await
    }

    /// A phrase matches adjacent words in order.
    async fn a_phrase_matches_adjacent_words(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        let texts = ["green tea leaf", "green leaf", "leaf green"];
        let [tea, leaf, _] = &fixture.posts(texts).await?;
        fixture.expect_hits("\"green leaf\"", &[leaf]).await?;
        fixture.expect_hits("\"green tea\" leaf", &[tea]).await
    }

    /// A hit contains no excluded word or phrase.
    async fn excluded_terms_are_in_no_hit(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        let [tea, _, apart] = &fixture.posts(["tea", "tea bag", "tea in a bag"]).await?;
        fixture.expect_hits("tea -bag", &[tea]).await?;
        fixture.expect_hits("tea -\"tea bag\"", &[apart, tea]).await
    }

    /// A letter with a combining accent matches its precomposed form, in texts and in queries.
    async fn a_word_matches_in_any_unicode_form(suite: &Suite) -> TestResult {
        suite.require(Capability::UnicodeSearch)?;
        let fixture = SearchFixture::new(suite).await?;
        let [one, two, _] = &fixture.posts(["Grün", "Gru\u{308}n", "Gr"]).await?;
        fixture.expect_hits("grün", &[two, one]).await?;
        fixture.expect_hits("gru\u{308}n", &[two, one]).await
    }

    /// An excluded word with an accent excludes both Unicode forms.
    async fn an_excluded_word_matches_in_any_unicode_form(suite: &Suite) -> TestResult {
        suite.require(Capability::UnicodeSearch)?;
        let fixture = SearchFixture::new(suite).await?;
        let [tea, ..] = &fixture.posts(["tea", "tea, grün", "tea, gru\u{308}n"]).await?;
        fixture.expect_hits("tea -grün", &[tea]).await?;
        fixture.expect_hits("tea -gru\u{308}n", &[tea]).await
    }

    /// A letter of a script without spaces between words is a word, and a run of such letters in a query is a phrase. The
    /// width of a character does not matter.
    async fn a_letter_of_a_script_without_spaces_is_a_word(suite: &Suite) -> TestResult {
        suite.require(Capability::UnicodeSearch)?;
        let fixture = SearchFixture::new(suite).await?;
        let texts = ["我家在上海东边", "海上", "서울에서", "กินข้าวผัด", "東京タワー", "ﾃｽﾄ ＡＢＣ"];
        let [shanghai, sea, seoul, rice, tower, width] = &fixture.posts(texts).await?;
        for (query, hits) in [
            ("上海", vec![shanghai]),
            ("海", vec![sea, shanghai]),
            ("上海东", vec![shanghai]),
            ("海 -上海", vec![sea]),
            ("서울", vec![seoul]),
            ("ข้าว", vec![rice]),
            ("タワー", vec![tower]),
            ("ﾀﾜｰ", vec![tower]),
            ("テスト abc", vec![width]),
        ] {
            fixture.expect_hits(query, &hits).await?;
        }
        Ok(())
    }

    /// A word with combining marks that are not letters, as in Hindi, is found and appears in the excerpt.
    async fn a_word_with_combining_marks_is_found(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        let [both, tea, hindi] = &fixture.posts(["हिन्दी चाय", "चाय", "एक कप हिन्दी"]).await?;
        fixture.expect_hits("हिन्दी", &[hindi, both]).await?;
        fixture.expect_hits("चाय -हिन्दी", &[tea]).await?;
        for hit in fixture.alice.hits(&newest("हिन्दी")?).await? {
            check!(hit.excerpt.contains("हिन्दी"), "{:?} has it", hit.excerpt)?;
        }
        Ok(())
    }

    /// A title matches only as part of its thread's first post, also for excluded words.
    async fn a_title_belongs_to_the_first_post(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        let first = fixture.thread("Smoked tea", "from China").await?;
        let reply = fixture.reply(&first.thread_id, "China, yes").await?;
        fixture.expect_hits("smoked", &[&first]).await?;
        fixture.expect_hits("smoked china", &[&first]).await?;
        fixture.expect_hits("china -smoked", &[&reply]).await
    }

    /// A search finds a new title at once, and no longer the title that it replaced.
    async fn a_new_title_is_found(suite: &Suite) -> TestResult {
        suite.require(Capability::TitleEdits)?;
        let fixture = SearchFixture::new(suite).await?;
        let first = fixture.thread("Smoked tea", "from China").await?;
        fixture.alice.edit_title(&first, "Green leaves").await.expect_ok()?;
        fixture.expect_hits("leaves china", &[&first]).await?;
        fixture.expect_hits("smoked", &[]).await?;
        check_eq!(only(fixture.alice.hits(&newest("china")?).await?)?.title, "Green leaves")
    }

    /// A search can be limited to titles or to posts.
    async fn titles_and_posts_are_searched_separately(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        let title = fixture.thread("Tea", "a cup").await?;
        let body = fixture.thread("Cup", "of tea").await?;
        for (within, posts) in [
            (SearchField::All, vec![&body, &title]),
            (SearchField::Titles, vec![&title]),
            (SearchField::Posts, vec![&body]),
        ] {
            fixture.expect_hits_with(|search| search.field = within, &posts).await?;
        }
        Ok(())
    }

    /// A hit has the kind, forum, thread, post, title, author, excerpt and score of its post.
    async fn a_hit_describes_its_post(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        let path = fixture.thread("Which tea?", "the *brown* one").await?;
        for (show, kind) in [(SearchShow::Posts, SearchHitKind::Post), (SearchShow::Threads, SearchHitKind::Thread)] {
            let search = with(newest("brown")?, |search| search.show = show);
            let hit = only(fixture.alice.hits(&search).await?)?;
            check_eq!((hit.kind, &hit.forum_id), (kind, &fixture.forum))?;
            check_eq!((&hit.thread_id, &hit.post_id), (&path.thread_id, &path.post_id))?;
            check_eq!(hit.title, "Which tea?")?;
            check_eq!(author_id(&hit.author), Some(fixture.alice.id()))?;
            let excerpt = &hit.excerpt;
            check!(excerpt.contains("brown") && !excerpt.contains('<'), "{excerpt:?} is text")?;
            check!(hit.score.is_finite(), "{} is finite", hit.score)?;
        }
        Ok(())
    }

    /// With `show=threads` each thread is one hit, even if several of its posts match.
    async fn each_thread_is_one_hit(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        let [thread, ..] = fixture.posts(["tea", "tea", "no", "tea"]).await?;
        let [other] = fixture.posts(["tea"]).await?;
        let search = with(newest("tea")?, |search| search.show = SearchShow::Threads);
        let hits = fixture.alice.hits(&search).await?;
        let actual: Vec<_> = hits.into_iter().map(|hit| hit.thread_id).collect();
        check_eq!(actual, [other.thread_id, thread.thread_id])
    }

    /// A forum filter includes sub-forums.
    async fn a_forum_filter_includes_sub_forums(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        let top = &fixture.forum;
        let alice = &fixture.alice;
        let below = &suite.sub_forum(top, Audience::Guests).await?;
        let deeper = &suite.sub_forum(below, Audience::Guests).await?;
        let other = &suite.forum(Audience::Guests).await?;
        let in_top = &suite.write_thread(alice, top, "x", "tea").await?;
        let in_below = &suite.write_thread(alice, below, "x", "tea").await?;
        let in_deeper = &suite.write_thread(alice, deeper, "x", "tea").await?;
        let in_other = &suite.write_thread(alice, other, "x", "tea").await?;
        for (forums, posts) in [
            (vec![top], vec![in_deeper, in_below, in_top]),
            (vec![below], vec![in_deeper, in_below]),
            (vec![deeper, other, deeper], vec![in_other, in_deeper]),
            (vec![], vec![in_other, in_deeper, in_below, in_top]),
        ] {
            let forums = forums.into_iter().cloned().collect();
            fixture.expect_hits_with(|search| search.forum = forums, &posts).await?;
        }
        Ok(())
    }

    /// An author filter accepts an id or a name.
    async fn an_author_filter_accepts_an_id_or_a_name(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        let bob = suite.member("bob").await?;
        let thread = fixture.thread("x", "tea").await?.thread_id;
        let by_bob = suite.write_reply(&bob, &thread, "tea").await?;
        for author in [bob.id_ref(), bob.name_ref()] {
            fixture.expect_hits_with(|search| search.by = Some(author), &[&by_bob]).await?;
        }
        Ok(())
    }

    /// A search without a query lists the posts of its author, newest first, within the other filters.
    async fn a_search_without_a_query_lists_the_posts_of_its_author(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        let other_forum = suite.forum(Audience::Guests).await?;
        let bob = suite.member("bob").await?;
        let tea = fixture.thread("x", "tea").await?;
        let cup = &suite.write_thread(&bob, &fixture.forum, "Cup", "y").await?;
        let other = &suite.write_thread(&bob, &other_forum, "Pot", "y").await?;
        let reply = &suite.write_reply(&bob, &tea.thread_id, "tea").await?;
        let last = &suite.write_reply(&bob, &cup.thread_id, "z").await?;
        let search = SearchFilter::of_author(bob.name_ref());
        let forum = fixture.forum.clone();
        let oldest = with(search.clone(), |search| search.sort = SearchSort::Oldest);
        let titles = with(search.clone(), |search| search.field = SearchField::Titles);
        let threads = with(search.clone(), |search| search.show = SearchShow::Threads);
        let in_forum = with(search.clone(), |search| search.forum.push(forum));
        for (search, posts) in [
            (&search, vec![last, reply, other, cup]),
            (&oldest, vec![cup, other, reply, last]),
            (&titles, vec![other, cup]),
            (&threads, vec![last, reply, other]),
            (&in_forum, vec![last, reply, cup]),
        ] {
            fixture.alice.expect_hits(search, &posts).await?;
        }
        for hit in fixture.alice.hits(&search).await? {
            check_eq!(hit.score, 0.0)?;
            check!(!hit.excerpt.is_empty(), "the excerpt is the beginning of the post")?;
        }
        let unknown = SearchFilter::of_author(UserRef::Name("unknown".into()));
        fixture.alice.expect_hits(&unknown, &[]).await
    }

    /// A date range limits the hits.
    async fn a_date_range_limits_the_hits(suite: &Suite) -> TestResult {
        suite.require(Capability::InjectedClock)?;
        let fixture = SearchFixture::new(suite).await?;
        let mut posts = Vec::new();
        for _ in 0..3 {
            posts.push(fixture.thread("x", "tea").await?);
            suite.advance(Duration::from_secs(4 * 24 * 60 * 60));
        }
        let [first, second, third] = &exactly(posts)?;
        expect_hits_by_date(&fixture, &[
            ("24h", &[]),
            ("7d", &[third]),
            ("30d", &[third, second, first]),
            ("2026-01-05..", &[third, second]),
            ("2026-01-05..2026-01-09", &[second]),
            ("..2026-01-05", &[first]),
            ("2027-01-01..", &[]),
            ("..2025-12-31", &[]),
        ]).await
    }

    /// A date range includes its start and excludes its end.
    async fn a_date_range_includes_its_start_and_excludes_its_end(suite: &Suite) -> TestResult {
        suite.require(Capability::InjectedClock)?;
        let fixture = SearchFixture::new(suite).await?;
        let minute = Duration::from_secs(60);
        let day = minute * 60 * 24;
        suite.advance(day - minute - Duration::from_millis(1));
        let last_of_first_day = &fixture.thread("x", "tea").await?;
        suite.advance(day - minute + Duration::from_millis(1));
        let midnight = &fixture.thread("x", "tea").await?;
        suite.advance(day);
        expect_hits_by_date(&fixture, &[
            ("2026-01-01..2026-01-02", &[last_of_first_day]),
            ("2026-01-02..2026-01-03", &[]),
            ("2026-01-03..2026-01-04", &[midnight]),
            ("..2026-01-03", &[last_of_first_day]),
            ("2026-01-03..", &[midnight]),
            ("24h", &[midnight]),
        ]).await
    }

    /// An unknown forum or author gives no hits, and is not an error.
    async fn an_unknown_forum_or_author_gives_no_hits(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        fixture.thread("x", "tea").await?;
        for id in ["nothing", "987654321"] {
            fixture.expect_hits_with(|search| search.forum.extend(ForumId::parse(id)), &[]).await?;
        }
        let ids = ["unknown", "987654321", "-1"].into_iter().flat_map(UserId::parse);
        for author in ids.map(UserRef::Id).chain([UserRef::Name("unknown".into())]) {
            fixture.expect_hits_with(|search| search.by = Some(author), &[]).await?;
        }
        Ok(())
    }
}

/// Checks the hits of a search for "tea" in each date range.
async fn expect_hits_by_date(
    fixture: &SearchFixture<'_>,
    expected: &[(&str, &[&PostPath])],
) -> TestResult {
    for (when, posts) in expected {
        let when = DateRange::parse(when)?;
        let change = |search: &mut SearchFilter| search.when = Some(when);
        fixture.expect_hits_with(change, posts).await?;
    }
    Ok(())
}
