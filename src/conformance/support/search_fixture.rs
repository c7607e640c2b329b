//! Texts to search in, and what somebody finds of them.

use super::{Audience, Part, Someone, Stop, Suite, Verdict, Written, equal, sanitizing};
use crate::model::{ForumId, PostId, Query, Search, SearchHit, Sort, ThreadId};

/// A forum that everybody sees, and a member who writes there.
pub(crate) struct Library<'a> {
    pub(crate) suite: &'a Suite,
    pub(crate) forum: ForumId,
    pub(crate) alice: Someone,
}

impl<'a> Library<'a> {
    pub(crate) async fn open(suite: &'a Suite) -> Verdict<Self> {
        Ok(Self {
            suite,
            forum: suite.forum(Audience::Guests).await?,
            alice: suite.member("alice").await?,
        })
    }

    /// A thread by alice.
    pub(crate) async fn thread(&self, title: &str, body: &str) -> Verdict<Written> {
        thread(self.suite, &self.alice, &self.forum, title, body).await
    }

    /// A thread by alice with each of these texts in it, the first of them as its first post.
    pub(crate) async fn posts<const N: usize>(
        &self,
        texts: [&str; N],
    ) -> Verdict<(ThreadId, [PostId; N])> {
        let mut texts = texts.into_iter();
        let first = texts.next().unwrap_or("x");
        let Written { thread, first } = self.thread("Untitled", first).await?;
        let mut posts = vec![first];
        for text in texts {
            posts.push(reply(self.suite, &self.alice, &thread, text).await?);
        }
        let posts = posts.try_into();
        let posts =
            posts.map_err(|_| Stop::broken("a thread", "other posts", "as many as texts"))?;
        Ok((thread, posts))
    }

    /// What alice finds, newest first, has to be these posts.
    pub(crate) async fn finds(&self, q: &str, posts: &[&PostId]) -> Verdict {
        finds(&self.alice, &newest(q)?, posts).await
    }
}

/// A thread by `author`, a minute after what was before.
pub(crate) async fn thread(
    suite: &Suite,
    author: &Someone,
    forum: &ForumId,
    title: &str,
    body: &str,
) -> Verdict<Written> {
    suite.needs(Part::Search)?;
    suite
        .write_thread(author, forum, sanitizing::start(title, body))
        .await
}

/// A reply by `author`, a minute after what was before.
pub(crate) async fn reply(
    suite: &Suite,
    author: &Someone,
    thread: &ThreadId,
    body: &str,
) -> Verdict<PostId> {
    suite
        .write_reply(author, thread, sanitizing::reply(body))
        .await
}

/// A search for `q`, newest first.
pub(crate) fn newest(q: &str) -> Verdict<Search> {
    let Some(query) = Query::parse(q) else {
        return Err(Stop::broken(q, "cannot be searched for", "a query"));
    };
    let mut search = Search::new(query);
    search.sort = Sort::Newest;
    Ok(search)
}

/// The hits on the first page.
pub(crate) async fn hits(someone: &Someone, search: &Search) -> Verdict<Vec<SearchHit>> {
    Ok(someone.search(search).await?.granted()?.items)
}

/// What `someone` finds has to be these posts, in this order.
pub(crate) async fn finds(someone: &Someone, search: &Search, posts: &[&PostId]) -> Verdict {
    let hits = hits(someone, search).await?;
    let found: Vec<_> = hits.iter().map(|hit| &hit.post_id).collect();
    let what = format_args!("what {} finds with {search:?}", someone.name());
    equal(what, found, posts)
}
