//! Search: what is found.

use std::time::Duration;

use super::*;

board_rules! {
    mod search;

    /// A hit has every word of the query, in any order and any case.
    async fn every_word_is_required(suite: &Suite) -> TestResult {
        let library = SearchFixture::new(suite).await?;
        let texts = ["green tea", "black tea", "a cup of Green, no TEA", "greens"];
        let [green, black, cup, _] = &library.posts(texts).await?;
        library.finds("tea", &[cup, black, green]).await?;
        library.finds("TEA green", &[cup, green]).await?;
        library.finds("tea coffee", &[]).await
    }

    /// There are no stop words: the most common word is found as well.
    async fn the_most_common_word_is_found(suite: &Suite) -> TestResult {
        let library = SearchFixture::new(suite).await?;
        let [the, of_the, _] = &library.posts(["the", "of the", "of"]).await?;
        library.finds("the", &[of_the, the]).await
    }

    /// The words of a phrase are adjacent and in order.
    async fn a_phrase_matches_adjacent_words(suite: &Suite) -> TestResult {
        let library = SearchFixture::new(suite).await?;
        let texts = ["green tea leaf", "green leaf", "leaf green"];
        let [tea, leaf, _] = &library.posts(texts).await?;
        library.finds("\"green leaf\"", &[leaf]).await?;
        library.finds("\"green tea\" leaf", &[tea]).await
    }

    /// An excluded word or phrase is in no hit.
    async fn excluded_terms_are_in_no_hit(suite: &Suite) -> TestResult {
        let library = SearchFixture::new(suite).await?;
        let [tea, _, apart] = &library.posts(["tea", "tea bag", "tea in a bag"]).await?;
        library.finds("tea -bag", &[tea]).await?;
        library.finds("tea -\"tea bag\"", &[apart, tea]).await
    }

    /// A letter with a combining accent equals the precomposed letter, in texts and in queries.
    async fn a_word_matches_in_any_unicode_form(suite: &Suite) -> TestResult {
        let library = SearchFixture::new(suite).await?;
        let [one, two, _] = &library.posts(["Grün", "Gru\u{308}n", "Gr"]).await?;
        library.finds("grün", &[two, one]).await?;
        library.finds("gru\u{308}n", &[two, one]).await
    }

    /// An excluded word with an accent is in no hit, in either form.
    async fn an_excluded_word_matches_in_any_unicode_form(suite: &Suite) -> TestResult {
        let library = SearchFixture::new(suite).await?;
        let [tea, ..] = &library.posts(["tea", "tea, grün", "tea, gru\u{308}n"]).await?;
        library.finds("tea -grün", &[tea]).await?;
        library.finds("tea -gru\u{308}n", &[tea]).await
    }

    /// A word whose marks are not letters, as in Hindi, is found as any other, and its excerpt shows it.
    async fn a_word_with_combining_marks_is_found(suite: &Suite) -> TestResult {
        let library = SearchFixture::new(suite).await?;
        let [both, tea, hindi] = &library.posts(["हिन्दी चाय", "चाय", "एक कप हिन्दी"]).await?;
        library.finds("हिन्दी", &[hindi, both]).await?;
        library.finds("चाय -हिन्दी", &[tea]).await?;
        for hit in library.alice.hits(&newest("हिन्दी")?).await? {
            check!(hit.excerpt.contains("हिन्दी"), "{:?} has it", hit.excerpt)?;
        }
        Ok(())
    }

    /// A title belongs only to its thread's first post, also when it is excluded.
    async fn a_title_belongs_to_the_first_post(suite: &Suite) -> TestResult {
        let library = SearchFixture::new(suite).await?;
        let first = library.thread("Smoked tea", "from China").await?;
        let answer = library.reply(&first.thread_id, "China, yes").await?;
        library.finds("smoked", &[&first]).await?;
        library.finds("smoked china", &[&first]).await?;
        library.finds("china -smoked", &[&answer]).await
    }

    /// A search can be limited to titles or to posts.
    async fn titles_and_posts_are_searched_separately(suite: &Suite) -> TestResult {
        let library = SearchFixture::new(suite).await?;
        let title = library.thread("Tea", "a cup").await?;
        let body = library.thread("Cup", "of tea").await?;
        for (within, posts) in [
            (SearchField::All, vec![&body, &title]),
            (SearchField::Titles, vec![&title]),
            (SearchField::Posts, vec![&body]),
        ] {
            library.finds_with(|search| search.field = within, &posts).await?;
        }
        Ok(())
    }

    /// A hit shows what was found, where, by whom and when.
    async fn a_hit_describes_its_post(suite: &Suite) -> TestResult {
        let library = SearchFixture::new(suite).await?;
        let at = library.thread("Which tea?", "the *brown* one").await?;
        for (show, kind) in [(SearchShow::Posts, SearchHitKind::Post), (SearchShow::Threads, SearchHitKind::Thread)] {
            let search = with(newest("brown")?, |search| search.show = show);
            let hit = only(library.alice.hits(&search).await?)?;
            check_eq!((hit.kind, &hit.forum_id), (kind, &library.forum))?;
            check_eq!((&hit.thread_id, &hit.post_id), (&at.thread_id, &at.post_id))?;
            check_eq!(hit.title, "Which tea?")?;
            check_eq!(author_id(&hit.author), Some(library.alice.id()))?;
            let excerpt = &hit.excerpt;
            check!(excerpt.contains("brown") && !excerpt.contains('<'), "{excerpt:?} is text")?;
            check!(hit.score.is_finite(), "{} is finite", hit.score)?;
        }
        Ok(())
    }

    /// With `show=threads`, each thread is one hit, however many of its posts match.
    async fn each_thread_is_one_hit(suite: &Suite) -> TestResult {
        let library = SearchFixture::new(suite).await?;
        let [talk, ..] = library.posts(["tea", "tea", "no", "tea"]).await?;
        let [other] = library.posts(["tea"]).await?;
        let search = with(newest("tea")?, |search| search.show = SearchShow::Threads);
        let hits = library.alice.hits(&search).await?;
        let found: Vec<_> = hits.into_iter().map(|hit| hit.thread_id).collect();
        check_eq!(found, [other.thread_id, talk.thread_id])
    }

    /// A search in forums covers their sub-forums.
    async fn a_forum_filter_includes_sub_forums(suite: &Suite) -> TestResult {
        let library = SearchFixture::new(suite).await?;
        let (top, alice) = (&library.forum, &library.alice);
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
            library.finds_with(|search| search.forum = forums, &posts).await?;
        }
        Ok(())
    }

    /// A search can be limited to an author, who is named by id or by name.
    async fn an_author_filter_accepts_an_id_or_a_name(suite: &Suite) -> TestResult {
        let library = SearchFixture::new(suite).await?;
        let bob = suite.member("bob").await?;
        let thread = library.thread("x", "tea").await?.thread_id;
        let by_bob = suite.write_reply(&bob, &thread, "tea").await?;
        for by in [bob.id_ref(), bob.name_ref()] {
            library.finds_with(|search| search.by = Some(by), &[&by_bob]).await?;
        }
        Ok(())
    }

    /// A search can be limited to a time span.
    async fn a_date_range_limits_the_hits(suite: &Suite) -> TestResult {
        suite.require(Capability::SuiteClock)?;
        let library = SearchFixture::new(suite).await?;
        let mut posts = Vec::new();
        for _ in 0..3 {
            posts.push(library.thread("x", "tea").await?);
            suite.advance(Duration::from_secs(4 * 24 * 60 * 60));
        }
        let [first, second, third] = &posts[..] else {
            return check_eq!(posts.len(), 3);
        };
        finds_when(&library, &[
            ("24h", &[]),
            ("7d", &[third]),
            ("30d", &[third, second, first]),
            ("2026-01-05..", &[third, second]),
            ("2026-01-05..2026-01-09", &[second]),
            ("..2026-01-05", &[first]),
            ("2027-01-01..", &[]),
            ("..2025-12-31", &[]),
        ])
        .await
    }

    /// A time span includes the instant at which it starts, and excludes the instant at which it ends.
    async fn a_date_range_includes_its_start_and_excludes_its_end(suite: &Suite) -> TestResult {
        suite.require(Capability::SuiteClock)?;
        let library = SearchFixture::new(suite).await?;
        let minute = Duration::from_secs(60);
        let day = minute * 60 * 24;
        suite.advance(day - minute - Duration::from_millis(1));
        let last_of_first_day = &library.thread("x", "tea").await?;
        suite.advance(day - minute + Duration::from_millis(1));
        let midnight = &library.thread("x", "tea").await?;
        suite.advance(day);
        finds_when(&library, &[
            ("2026-01-01..2026-01-02", &[last_of_first_day]),
            ("2026-01-02..2026-01-03", &[]),
            ("2026-01-03..2026-01-04", &[midnight]),
            ("..2026-01-03", &[last_of_first_day]),
            ("2026-01-03..", &[midnight]),
            ("24h", &[midnight]),
        ])
        .await
    }

    /// An unknown forum or author gives no hits, and is not an error.
    async fn an_unknown_forum_or_author_gives_no_hits(suite: &Suite) -> TestResult {
        let library = SearchFixture::new(suite).await?;
        library.thread("x", "tea").await?;
        for id in ["nothing", "987654321"] {
            library.finds_with(|search| search.forum.extend(ForumId::parse(id)), &[]).await?;
        }
        let ids = ["nobody", "987654321", "-1"].into_iter().filter_map(UserId::parse);
        for by in ids.map(UserRef::Id).chain([UserRef::Name("nobody".into())]) {
            library.finds_with(|search| search.by = Some(by), &[]).await?;
        }
        Ok(())
    }
}

/// What a search for tea finds in each of these time spans.
async fn finds_when(library: &SearchFixture<'_>, expected: &[(&str, &[&PostPath])]) -> TestResult {
    for (when, posts) in expected {
        library
            .finds_with(|search| search.when = DateRange::parse(when), posts)
            .await?;
    }
    Ok(())
}
