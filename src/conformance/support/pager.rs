//! Lists, walked page by page.

use super::{Someone, Stop, Verdict, equal, holds};
use crate::model::{
    ForumId, Limit, ListPosts, ListThreads, Page, Position, Post, Thread, ThreadId,
};

/// A reader on the way through a list.
#[derive(Debug)]
pub(crate) struct Walk<T> {
    /// What was read so far.
    pub(crate) items: Vec<T>,
    /// How much a page holds.
    pub(crate) limit: Limit,
    /// Where the next page begins.
    pub(crate) after: Option<Position>,
    pages: usize,
}

/// More pages than any list of the suite has.
const ENDLESS: usize = 200;

/// Places that no list gave: a cursor is the client's word.
pub(crate) fn forged() -> impl Iterator<Item = Position> {
    let places = [
        "",
        ".",
        "x",
        "1",
        "1.2.3",
        "1.2.3.4",
        "9999999999999999999999.1",
        "-9223372036854775808",
        "-1.-1",
        "';--",
        "ä\u{0}",
    ];
    places.into_iter().map(Position::new)
}

impl<T> Walk<T> {
    /// One at the beginning of a list, with pages of so many items.
    pub(crate) fn of(items: u8) -> Self {
        Self {
            items: Vec::new(),
            limit: Limit::new(items).unwrap_or_default(),
            after: None,
            pages: 0,
        }
    }

    /// Whether there is more to read.
    pub(crate) fn goes_on(&self) -> bool {
        self.pages == 0 || self.after.is_some()
    }

    /// Reads a page.
    pub(crate) fn take(&mut self, page: Page<T>) -> Verdict {
        let limit = self.limit.get();
        let fits = page.items.len() <= limit;
        holds(format_args!("a page of {limit} holds no more"), fits)?;
        if let Some(next) = &page.next {
            let long = next.as_str().len();
            let short = long <= Position::MAX;
            let what = format_args!("a position of {long} bytes has at most {}", Position::MAX);
            holds(what, short)?;
        }
        self.pages += 1;
        self.items.extend(page.items);
        self.after = page.next;
        match self.pages < ENDLESS {
            true => Ok(()),
            false => Err(Stop::broken(
                "a walk",
                "comes to no end",
                "the end of the list",
            )),
        }
    }

    /// How many pages were read.
    pub(crate) fn pages(&self) -> usize {
        self.pages
    }
}

impl Walk<Thread> {
    /// Reads the next page of a forum's threads.
    pub(crate) async fn threads(&mut self, reader: &Someone, forum: &ForumId) -> Verdict {
        let list = ListThreads {
            limit: self.limit,
            after: self.after.clone(),
            since: None,
        };
        self.take(reader.threads(forum, &list).await?.granted()?)
    }
}

impl Walk<Post> {
    /// Reads the next page of a thread's posts.
    pub(crate) async fn posts(&mut self, reader: &Someone, thread: &ThreadId) -> Verdict {
        let list = ListPosts {
            limit: self.limit,
            after: self.after.clone(),
            ..ListPosts::default()
        };
        self.take(reader.posts(thread, &list).await?.granted()?.it)
    }
}

/// Each of `there` is once among what was `walked`.
pub(crate) fn once<I: PartialEq + std::fmt::Debug>(walked: &[I], there: &[I]) -> Verdict {
    for item in there {
        let times = walked.iter().filter(|other| *other == item).count();
        equal(
            format_args!("how often {item:?}, which was there all along, is in {walked:?}"),
            times,
            1,
        )?;
    }
    Ok(())
}
