//! Posts: listed.

use super::pager::{Walk, forged, once};
use super::sanitizing::reply;
use super::thread_fixture::posts;
use super::{Part, Someone, Suite, Verdict, Written, equal, holds};
use crate::model::{BodyFormat, ListPosts, Post, PostId, ThreadId};

board_rules!(
    mod posts;

    /// The oldest post comes first, and is the thread's first.
    async fn the_oldest_comes_first(suite: &Suite) -> Verdict {
        let (alice, thread, ids) = talk(suite, 4).await?;
        let page = alice
            .posts(&thread, &ListPosts::default())
            .await?
            .granted()?
            .it;
        equal("the posts", of(&page.items), ids.clone())?;
        equal("what follows", page.next, None)?;
        let first = alice.thread(&thread).await?.granted()?.first_post_id;
        equal("the first post", Some(&first), ids.first())
    }

    /// Posts are numbered from 1, upwards.
    async fn numbers_go_up_from_one(suite: &Suite) -> Verdict {
        suite.needs(Part::PostNumbers)?;
        let (alice, thread, _) = talk(suite, 4).await?;
        let items = posts(&alice, &thread).await?;
        let numbers: Vec<_> = items.iter().map(|post| post.number).collect();
        equal("the first number", numbers.first(), Some(&1))?;
        let what = format_args!("{numbers:?} go up");
        holds(what, numbers.is_sorted_by(|a, b| a < b))
    }

    /// Pages of any size meet without gap or overlap, and `next` is null exactly when nothing follows.
    async fn pages_of_any_size_meet(suite: &Suite) -> Verdict {
        let (alice, thread, ids) = talk(suite, 6).await?;
        for limit in [1, 2, 3, 5, 6, 7, 100] {
            let mut walk = Walk::of(limit);
            while walk.goes_on() {
                walk.posts(&alice, &thread).await?;
            }
            let found = of(&walk.items);
            equal(format_args!("a walk by {limit}"), found, ids.clone())?;
            let found = walk.pages();
            let expected = ids.len().div_ceil(limit.into());
            equal(format_args!("the pages of {limit}"), found, expected)?;
        }
        Ok(())
    }

    /// A walk meets each post that was there all along once, in order, however much is written meanwhile.
    async fn a_walk_meets_each_post_once_while_others_write(suite: &Suite) -> Verdict {
        let (alice, thread, ids) = talk(suite, 9).await?;
        let mut walk = Walk::of(2);
        let mut more = 0..5;
        while walk.goes_on() {
            walk.posts(&alice, &thread).await?;
            if more.next().is_some() {
                suite.post(&alice, &thread).await?;
            }
        }
        let walked = of(&walk.items);
        once(&walked, &ids)?;
        let in_order: Vec<_> = walked.iter().take(ids.len()).cloned().collect();
        equal("the posts that were there all along", in_order, ids)
    }

    /// Posts of the same moment are walked once each, too.
    async fn posts_of_one_moment_are_walked_once(suite: &Suite) -> Verdict {
        let (alice, thread, _) = talk(suite, 1).await?;
        let (mut there, words) = (Vec::new(), reply("Now"));
        for name in ["ann", "ben", "cem", "dan", "eve"] {
            let author = suite.member(name).await?.id();
            there.push(
                suite
                    .stage
                    .write_reply(&author, &thread, words.clone())
                    .await?,
            );
        }
        let mut walk = Walk::of(2);
        while walk.goes_on() {
            walk.posts(&alice, &thread).await?;
        }
        once(&of(&walk.items), &there)?;
        equal("how many were walked", walk.items.len(), there.len() + 1)
    }

    /// An empty page of a thread that is there is no absent thread.
    async fn an_empty_page_is_no_absent_thread(suite: &Suite) -> Verdict {
        suite.needs(Part::SuiteClock)?;
        let (alice, thread, _) = talk(suite, 2).await?;
        let list = ListPosts {
            since: Some(suite.now()),
            ..ListPosts::default()
        };
        let found = alice.posts(&thread, &list).await?.granted()?;
        equal(
            "what was posted later",
            (found.it.items, found.it.next),
            (Vec::new(), None),
        )?;
        let absent = ThreadId::from(987_654_321);
        alice.posts(&absent, &list).await?.absent()
    }

    /// `since` takes what was posted later than that moment, and not at it.
    async fn since_takes_what_was_posted_later(suite: &Suite) -> Verdict {
        suite.needs(Part::SuiteClock)?;
        let (alice, thread, ids) = talk(suite, 4).await?;
        let all = posts(&alice, &thread).await?;
        for (place, post) in all.iter().enumerate() {
            let list = ListPosts {
                since: Some(post.created_at),
                ..ListPosts::default()
            };
            let later = alice.posts(&thread, &list).await?.granted()?.it;
            let found = of(&later.items);
            equal("what was posted later", found, after(&ids, place + 1))?;
        }
        Ok(())
    }

    /// A page may begin at a post, which is its first item.
    async fn a_page_begins_at_the_post_that_is_named(suite: &Suite) -> Verdict {
        let (alice, thread, ids) = talk(suite, 4).await?;
        for (place, post) in ids.iter().enumerate() {
            let list = ListPosts {
                from: Some(post.clone()),
                ..ListPosts::default()
            };
            let page = alice.posts(&thread, &list).await?.granted()?.it;
            equal("the page", of(&page.items), after(&ids, place))?;
        }
        Ok(())
    }

    /// Of `from` and `since` both hold: a page begins at the later of the two.
    async fn from_and_since_both_hold(suite: &Suite) -> Verdict {
        suite.needs(Part::SuiteClock)?;
        let (alice, thread, ids) = talk(suite, 5).await?;
        let items = posts(&alice, &thread).await?;
        for (from, post) in items.iter().enumerate() {
            for (since, other) in items.iter().enumerate() {
                let list = ListPosts {
                    from: Some(post.post_id.clone()),
                    since: Some(other.created_at),
                    ..ListPosts::default()
                };
                let found = alice.posts(&thread, &list).await?.granted()?.it;
                let what = format!("the page from {from}, since {since}");
                equal(what, of(&found.items), after(&ids, from.max(since + 1)))?;
            }
        }
        Ok(())
    }

    /// A page begins at a post of its own thread, or at none.
    async fn a_page_begins_at_no_post_of_another_thread(suite: &Suite) -> Verdict {
        let (alice, thread, _) = talk(suite, 2).await?;
        let forum = alice.thread(&thread).await?.granted()?.forum_id;
        let other = suite.thread(&alice, &forum).await?;
        for post in [
            Some(other.first),
            PostId::new("no-such_post"),
            Some(PostId::from(987_654_321)),
        ] {
            let list = ListPosts {
                from: post,
                ..ListPosts::default()
            };
            alice.posts(&thread, &list).await?.unusable("from")?;
        }
        Ok(())
    }

    /// A cursor is the client's word: a place that no list gave is no failure.
    async fn a_forged_place_is_no_failure(suite: &Suite) -> Verdict {
        let (alice, thread, _) = talk(suite, 1).await?;
        for place in forged() {
            let list = ListPosts {
                after: Some(place),
                ..ListPosts::default()
            };
            alice.posts(&thread, &list).await?.page_or_unusable()?;
        }
        Ok(())
    }

    /// A page carries the forms of the bodies that were asked for, and null for the other.
    async fn a_page_carries_the_forms_that_are_asked_for(suite: &Suite) -> Verdict {
        let (alice, thread, _) = talk(suite, 2).await?;
        let has_source = suite.needs(Part::SourceMarkup).is_ok();
        for (body, source, html) in [
            (BodyFormat::Both, has_source, true),
            (BodyFormat::Source, has_source, false),
            (BodyFormat::Html, false, true),
        ] {
            let list = ListPosts {
                body,
                ..ListPosts::default()
            };
            for post in alice.posts(&thread, &list).await?.granted()?.it.items {
                let forms = (post.body.is_some(), post.body_html.is_some());
                equal(
                    format_args!("whether {body:?} has source and HTML"),
                    forms,
                    (source, html),
                )?;
            }
        }
        Ok(())
    }
);

/// A member, and a thread of theirs with so many posts.
pub(crate) async fn talk(suite: &Suite, posts: usize) -> Verdict<(Someone, ThreadId, Vec<PostId>)> {
    let (forum, alice) = suite.forum_and_member().await?;
    let Written { thread, first } = suite.thread(&alice, &forum).await?;
    let mut ids = vec![first];
    while ids.len() < posts {
        ids.push(suite.post(&alice, &thread).await?);
    }
    Ok((alice, thread, ids))
}

fn after(ids: &[PostId], place: usize) -> Vec<PostId> {
    ids.iter().skip(place).cloned().collect()
}

pub(crate) fn of(posts: &[Post]) -> Vec<PostId> {
    posts.iter().map(|post| post.post_id.clone()).collect()
}
