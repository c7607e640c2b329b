//! Search: what is found.

use std::time::Duration;

use super::search_fixture::{Library, finds, hits, newest, reply, thread};
use super::{Audience, Part, Suite, Verdict, equal, holds};
use crate::model::{ForumId, HitKind, PostId, SearchIn, Show, UserId, UserRef, When};

board_rules!(
    mod search;

    /// A hit has every word that is searched for, in any order and whatever the case of its letters.
    async fn every_word_is_required(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let texts = ["green tea", "black tea", "a cup of Green, no TEA", "greens"];
        let (_, [green, black, cup, _]) = &library.posts(texts).await?;
        library.finds("tea", &[cup, black, green]).await?;
        library.finds("TEA green", &[cup, green]).await?;
        library.finds("tea coffee", &[]).await
    }

    /// There are no stop words: the most common word is found as well.
    async fn the_most_common_word_is_found(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let (_, [the, of_the, _]) = &library.posts(["the", "of the", "of"]).await?;
        library.finds("the", &[of_the, the]).await
    }

    /// The words of a phrase stand side by side, in their order.
    async fn a_phrase_stands_together(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let texts = ["green tea leaf", "green leaf", "leaf green"];
        let (_, [tea, leaf, _]) = &library.posts(texts).await?;
        library.finds("\"green leaf\"", &[leaf]).await?;
        library.finds("\"green tea\" leaf", &[tea]).await
    }

    /// What is excluded, a word or a phrase, is in no hit.
    async fn what_is_excluded_is_in_no_hit(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let texts = ["tea", "tea bag", "tea in a bag"];
        let (_, [tea, _, apart]) = &library.posts(texts).await?;
        library.finds("tea -bag", &[tea]).await?;
        library.finds("tea -\"tea bag\"", &[apart, tea]).await
    }

    /// A letter and its accent are the same as the letter that has it, in what is searched and in what is searched for.
    async fn a_word_is_found_however_it_is_coded(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let (_, [one, two, _]) = &library.posts(["Grün", "Gru\u{308}n", "Gr"]).await?;
        library.finds("grün", &[two, one]).await?;
        library.finds("gru\u{308}n", &[two, one]).await
    }

    /// What is excluded is in no hit, whichever of the two is written.
    async fn a_word_is_excluded_however_it_is_coded(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let texts = ["tea", "tea, grün", "tea, gru\u{308}n"];
        let (_, [tea, ..]) = &library.posts(texts).await?;
        library.finds("tea -grün", &[tea]).await?;
        library.finds("tea -gru\u{308}n", &[tea]).await
    }

    /// A word whose marks are no letters, as in Hindi, is found as any other, and its hit shows it.
    async fn a_word_with_marks_is_found(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let (_, [both, tea, hindi]) = &library.posts(["हिन्दी चाय", "चाय", "एक कप हिन्दी"]).await?;
        library.finds("हिन्दी", &[hindi, both]).await?;
        library.finds("चाय -हिन्दी", &[tea]).await?;
        for hit in hits(&library.alice, &newest("हिन्दी")?).await? {
            let told = hit.excerpt.contains("हिन्दी");
            holds(format_args!("{:?} has it", hit.excerpt), told)?;
        }
        Ok(())
    }

    /// A title belongs to its thread's first post, and to no other: for what is excluded, too.
    async fn a_title_belongs_to_the_first_post(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let written = library.thread("Smoked tea", "from China").await?;
        let answer = reply(suite, &library.alice, &written.thread, "China, yes").await?;
        library.finds("smoked", &[&written.first]).await?;
        library.finds("smoked china", &[&written.first]).await?;
        library.finds("china -smoked", &[&answer]).await
    }

    /// A search may be for titles alone, or for posts without them.
    async fn titles_and_posts_are_searched_apart(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let title = library.thread("Tea", "a cup").await?.first;
        let body = library.thread("Cup", "of tea").await?.first;
        for (within, posts) in [
            (SearchIn::All, vec![&body, &title]),
            (SearchIn::Titles, vec![&title]),
            (SearchIn::Posts, vec![&body]),
        ] {
            let mut search = newest("tea")?;
            search.within = within;
            finds(&library.alice, &search, &posts).await?;
        }
        Ok(())
    }

    /// A hit tells what was found, where, by whom and when.
    async fn a_hit_tells_what_was_found(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let written = library.thread("Which tea?", "the *brown* one").await?;
        for (show, kind) in [
            (Show::Posts, HitKind::Post),
            (Show::Threads, HitKind::Thread),
        ] {
            let mut search = newest("brown")?;
            search.show = show;
            for hit in hits(&library.alice, &search).await? {
                equal("its kind", hit.kind, kind)?;
                equal("its forum", &hit.forum_id, &library.forum)?;
                equal("its thread", &hit.thread_id, &written.thread)?;
                equal("its post", &hit.post_id, &written.first)?;
                equal("its title", &*hit.title, "Which tea?")?;
                let author = hit.author.map(|author| author.user_id);
                equal("its author", author, Some(library.alice.id()))?;
                let told = hit.excerpt.contains("brown") && !hit.excerpt.contains('<');
                let what = format_args!("{:?} is plain text with it", hit.excerpt);
                holds(what, told)?;
                let what = format_args!("{} is a score", hit.score);
                holds(what, hit.score.is_finite())?;
            }
        }
        library.finds("brown", &[&written.first]).await
    }

    /// Where threads are shown, each is there once, however many of its posts match.
    async fn a_thread_is_one_hit(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let (talk, _) = library.posts(["tea", "tea", "no", "tea"]).await?;
        let (other, _) = library.posts(["tea"]).await?;
        let mut search = newest("tea")?;
        search.show = Show::Threads;
        let hits = hits(&library.alice, &search).await?;
        let found: Vec<_> = hits.into_iter().map(|hit| hit.thread_id).collect();
        equal("the threads", found, vec![other, talk])
    }

    /// A search in a forum is in its sub-forums as well, and one in several is in all of them.
    async fn a_forum_is_searched_with_its_sub_forums(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let (top, alice) = (&library.forum, &library.alice);
        let below = suite.sub_forum(top, Audience::Guests).await?;
        let deeper = suite.sub_forum(&below, Audience::Guests).await?;
        let other = suite.forum(Audience::Guests).await?;
        let tea = |forum| thread(suite, alice, forum, "x", "tea");
        let (in_top, in_below) = (&tea(top).await?.first, &tea(&below).await?.first);
        let (in_deeper, in_other) = (&tea(&deeper).await?.first, &tea(&other).await?.first);
        for (forums, posts) in [
            (vec![top.clone()], vec![in_deeper, in_below, in_top]),
            (vec![below.clone()], vec![in_deeper, in_below]),
            (
                vec![deeper.clone(), other.clone(), deeper],
                vec![in_other, in_deeper],
            ),
            (vec![], vec![in_other, in_deeper, in_below, in_top]),
        ] {
            let mut search = newest("tea")?;
            search.forum = forums;
            finds(alice, &search, &posts).await?;
        }
        Ok(())
    }

    /// A search may be for what one member wrote, who is named by id or by name.
    async fn an_author_is_named_by_id_or_by_name(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let bob = suite.member("bob").await?;
        let thread = library.thread("x", "tea").await?.thread;
        let by_bob = reply(suite, &bob, &thread, "tea").await?;
        for by in [bob.by_id(), bob.by_name()] {
            let mut search = newest("tea")?;
            search.by = Some(by);
            finds(&library.alice, &search, &[&by_bob]).await?;
        }
        Ok(())
    }

    /// A search may be for what was written in a span of time.
    async fn a_span_of_time_has_a_beginning_and_an_end(suite: &Suite) -> Verdict {
        suite.needs(Part::SuiteClock)?;
        let library = Library::open(suite).await?;
        let day = Duration::from_secs(24 * 60 * 60);
        let tea = async || -> Verdict<PostId> {
            let written = library.thread("x", "tea").await?;
            suite.wait(day * 4);
            Ok(written.first)
        };
        let (first, second, third) = (&tea().await?, &tea().await?, &tea().await?);
        for (when, posts) in [
            ("24h", vec![]),
            ("7d", vec![third]),
            ("30d", vec![third, second, first]),
            ("2026-01-05..", vec![third, second]),
            ("2026-01-05..2026-01-09", vec![second]),
            ("..2026-01-05", vec![first]),
            ("2027-01-01..", vec![]),
            ("..2025-12-31", vec![]),
        ] {
            let mut search = newest("tea")?;
            search.when = When::parse(when);
            finds(&library.alice, &search, &posts).await?;
        }
        Ok(())
    }

    /// A span of time includes the instant at which it starts, and excludes the instant at which it ends.
    async fn a_span_of_time_includes_its_start_and_excludes_its_end(suite: &Suite) -> Verdict {
        suite.needs(Part::SuiteClock)?;
        let library = Library::open(suite).await?;
        let minute = Duration::from_secs(60);
        let day = minute * 60 * 24;
        suite.wait(day - minute - Duration::from_millis(1));
        let last_of_first_day = &library.thread("x", "tea").await?.first;
        suite.wait(day - minute + Duration::from_millis(1));
        let midnight = &library.thread("x", "tea").await?.first;
        suite.wait(day);
        for (when, posts) in [
            ("2026-01-01..2026-01-02", vec![last_of_first_day]),
            ("2026-01-02..2026-01-03", vec![]),
            ("2026-01-03..2026-01-04", vec![midnight]),
            ("..2026-01-03", vec![last_of_first_day]),
            ("2026-01-03..", vec![midnight]),
            ("24h", vec![midnight]),
        ] {
            let mut search = newest("tea")?;
            search.when = When::parse(when);
            finds(&library.alice, &search, &posts).await?;
        }
        Ok(())
    }

    /// A forum or an author that is not there gives no hits, and is no error.
    async fn what_is_not_there_gives_no_hits(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        library.thread("x", "tea").await?;
        let nobody = UserRef::Name("nobody".into());
        for (forum, by) in [
            (ForumId::new("nothing"), None),
            (ForumId::new("987654321"), None),
            (None, Some(nobody)),
            (None, UserId::new("nobody").map(UserRef::Id)),
            (None, UserId::new("987654321").map(UserRef::Id)),
            (None, UserId::new("-1").map(UserRef::Id)),
        ] {
            let mut search = newest("tea")?;
            search.forum.extend(forum);
            search.by = by;
            finds(&library.alice, &search, &[]).await?;
        }
        Ok(())
    }
);
