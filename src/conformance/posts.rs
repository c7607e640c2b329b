//! Posts: listed and written.

use super::walk::{Walk, once};
use super::{Audience, Part, Someone, Suite, Verdict, Written, equal, holds};
use crate::host::Refusal;
use crate::model::{BodyFormat, ListPosts, Position, Post, PostId, Reply, ThreadId};

/// The oldest post comes first, and is the thread's first.
pub async fn the_oldest_comes_first(suite: &Suite) -> Verdict {
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
pub async fn numbers_go_up_from_one(suite: &Suite) -> Verdict {
    suite.needs(Part::PostNumbers)?;
    let (alice, thread, _) = talk(suite, 4).await?;
    let page = alice
        .posts(&thread, &ListPosts::default())
        .await?
        .granted()?
        .it;
    let numbers: Vec<_> = page.items.iter().map(|post| post.number).collect();
    equal("the first number", numbers.first(), Some(&1))?;
    holds(
        format_args!("{numbers:?} go up"),
        numbers.is_sorted_by(|a, b| a < b),
    )
}

/// Pages of any size meet without gap or overlap, and `next` is null exactly when nothing follows.
pub async fn pages_of_any_size_meet(suite: &Suite) -> Verdict {
    let (alice, thread, ids) = talk(suite, 6).await?;
    for limit in [1, 2, 3, 5, 6, 7, 100] {
        let mut walk = Walk::of(limit);
        while walk.goes_on() {
            walk.take(alice.posts(&thread, &page(&walk)).await?.granted()?.it)?;
        }
        equal(
            format_args!("a walk by {limit}"),
            of(&walk.items),
            ids.clone(),
        )?;
        equal(
            format_args!("the pages of {limit}"),
            walk.pages(),
            ids.len().div_ceil(limit.into()),
        )?;
    }
    Ok(())
}

/// A walk meets each post that was there all along once, in order, however much is written meanwhile.
pub async fn a_walk_meets_each_post_once_while_others_write(suite: &Suite) -> Verdict {
    let (alice, thread, ids) = talk(suite, 9).await?;
    let mut walk = Walk::of(2);
    let mut more = 0..5;
    while walk.goes_on() {
        walk.take(alice.posts(&thread, &page(&walk)).await?.granted()?.it)?;
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
pub async fn posts_of_one_moment_are_walked_once(suite: &Suite) -> Verdict {
    let (alice, thread, _) = talk(suite, 1).await?;
    let (mut there, words) = (
        Vec::new(),
        Reply {
            body: "Now".into(),
            ..Reply::default()
        },
    );
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
        walk.take(alice.posts(&thread, &page(&walk)).await?.granted()?.it)?;
    }
    once(&of(&walk.items), &there)?;
    equal("how many were walked", walk.items.len(), there.len() + 1)
}

/// An empty page of a thread that is there is no absent thread.
pub async fn an_empty_page_is_no_absent_thread(suite: &Suite) -> Verdict {
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
pub async fn since_takes_what_was_posted_later(suite: &Suite) -> Verdict {
    suite.needs(Part::SuiteClock)?;
    let (alice, thread, ids) = talk(suite, 4).await?;
    let all = alice
        .posts(&thread, &ListPosts::default())
        .await?
        .granted()?
        .it
        .items;
    for (place, post) in all.iter().enumerate() {
        let list = ListPosts {
            since: Some(post.created_at),
            ..ListPosts::default()
        };
        let later = alice.posts(&thread, &list).await?.granted()?.it;
        equal(
            "what was posted later",
            of(&later.items),
            after(&ids, place + 1),
        )?;
    }
    Ok(())
}

/// A page may begin at a post, which is its first item.
pub async fn a_page_begins_at_the_post_that_is_named(suite: &Suite) -> Verdict {
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

/// A page begins at a post of its own thread, or at none.
pub async fn a_page_begins_at_no_post_of_another_thread(suite: &Suite) -> Verdict {
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
pub async fn a_forged_place_is_no_failure(suite: &Suite) -> Verdict {
    let (alice, thread, _) = talk(suite, 1).await?;
    for place in [
        "",
        ".",
        "x",
        "1",
        "1.2.3",
        "9999999999999999999999.1",
        "-1.-1",
        "';--",
        "ä\u{0}",
    ] {
        let list = ListPosts {
            after: Some(Position::new(place)),
            ..ListPosts::default()
        };
        let (what, reply) = alice.posts(&thread, &list).await?.reply();
        let fine = matches!(reply, Ok(_) | Err(Refusal::Unusable("after", _)));
        holds(
            format_args!("{what}: {reply:?} is a page, or `after` is unusable"),
            fine,
        )?;
    }
    Ok(())
}

/// A page carries the forms of the bodies that were asked for, and null for the other.
pub async fn a_page_carries_the_forms_that_are_asked_for(suite: &Suite) -> Verdict {
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

/// A body comes back as it was typed.
pub async fn a_body_is_kept_as_it_was_typed(suite: &Suite) -> Verdict {
    suite.needs(Part::SourceMarkup)?;
    let (alice, thread, _) = talk(suite, 1).await?;
    let typed = "Grüße, 茶 & \"tea\" <b>\n\n- ☕️";
    let post = alice.reply(&thread, &words(typed)).await?.granted()?.it;
    equal("the body", post.body.as_deref(), Some(typed))?;
    let page = alice
        .posts(&thread, &ListPosts::default())
        .await?
        .granted()?
        .it;
    let listed = page.items.last().and_then(|post| post.body.as_deref());
    equal("the body in a list", listed, Some(typed))
}

/// No markup that people type becomes HTML that runs.
pub async fn what_people_type_does_not_run(suite: &Suite) -> Verdict {
    let (alice, thread, _) = talk(suite, 1).await?;
    let typed =
        "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n[x](javascript:alert(1))";
    let post = alice.reply(&thread, &words(typed)).await?.granted()?.it;
    let html = post.body_html.unwrap_or_default().to_lowercase();
    for harm in [
        "<script",
        "<img src=x",
        "href=\"javascript:",
        "href='javascript:",
    ] {
        holds(
            format_args!("{html:?} has no {harm:?}"),
            !html.contains(harm),
        )?;
    }
    Ok(())
}

/// A reply is there at once, the last of its thread, and counted.
pub async fn a_reply_is_the_last_of_its_thread_at_once(suite: &Suite) -> Verdict {
    let (_, thread, ids) = talk(suite, 2).await?;
    let bob = suite.member("bob").await?;
    let reply = bob.reply(&thread, &words("Green.")).await?.granted()?.it;
    let author = reply.author.as_ref().map(|author| author.user_id.clone());
    equal(
        "its thread and author",
        (&reply.thread_id, author),
        (&thread, Some(bob.id())),
    )?;
    let page = bob
        .posts(&thread, &ListPosts::default())
        .await?
        .granted()?
        .it;
    equal("the same, in the list", page.items.last(), Some(&reply))?;
    let thread = bob.thread(&thread).await?.granted()?;
    let last = thread.last_post.map(|last| (last.post_id, last.created_at));
    equal(
        "the last post",
        last,
        Some((reply.post_id, reply.created_at)),
    )?;
    equal("how many replies", thread.reply_count, ids.len() as u64)?;
    equal(
        "the last activity",
        thread.last_activity_at,
        reply.created_at,
    )
}

/// An empty body is invalid, with a text that names the field, and nothing is left behind.
pub async fn an_empty_body_is_invalid(suite: &Suite) -> Verdict {
    let (alice, thread, ids) = talk(suite, 1).await?;
    let before = alice.thread(&thread).await?.granted()?;
    for body in ["", " \n\t"] {
        alice.reply(&thread, &words(body)).await?.invalid("body")?;
    }
    equal(
        "the thread afterwards",
        alice.thread(&thread).await?.granted()?,
        before,
    )?;
    let page = alice
        .posts(&thread, &ListPosts::default())
        .await?
        .granted()?
        .it;
    equal("the posts afterwards", of(&page.items), ids)
}

/// Replies that come at once are all there, each with a number of its own, and all counted.
pub async fn replies_at_once_are_all_there(suite: &Suite) -> Verdict {
    let (alice, thread, _) = talk(suite, 1).await?;
    let mut works = Vec::new();
    for name in ["ann", "ben", "cem", "dan", "eve", "fay"] {
        let (author, thread) = (suite.member(name).await?, thread.clone());
        works.push(async move { author.reply(&thread, &words("Now")).await?.granted() });
    }
    let wrote = works.len();
    for reply in suite.race(works).await {
        reply?;
    }
    let page = alice
        .posts(&thread, &ListPosts::default())
        .await?
        .granted()?
        .it;
    equal("the posts", page.items.len(), wrote + 1)?;
    equal(
        "the replies",
        alice.thread(&thread).await?.granted()?.reply_count,
        wrote as u64,
    )?;
    suite.needs(Part::PostNumbers)?;
    let numbers: Vec<_> = page.items.iter().map(|post| post.number).collect();
    holds(
        format_args!("{numbers:?} go up"),
        numbers.is_sorted_by(|a, b| a < b),
    )
}

/// A member, and a thread of theirs with so many posts.
async fn talk(suite: &Suite, posts: usize) -> Verdict<(Someone, ThreadId, Vec<PostId>)> {
    let (forum, alice) = (
        suite.forum(Audience::Guests).await?,
        suite.member("alice").await?,
    );
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

fn page(walk: &Walk<Post>) -> ListPosts {
    ListPosts {
        limit: walk.limit,
        after: walk.after.clone(),
        ..ListPosts::default()
    }
}

fn of(posts: &[Post]) -> Vec<PostId> {
    posts.iter().map(|post| post.post_id.clone()).collect()
}

fn words(body: &str) -> Reply {
    Reply {
        body: body.into(),
        ..Reply::default()
    }
}
