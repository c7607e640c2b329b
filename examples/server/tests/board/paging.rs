//! Pagination during writes: a list contains each item that existed before its first page once and in order.

use std::time::Duration;

use forum_api::conformance::{Audience, Role, Suite, TestCaller};
use forum_api::model::{ForumId, NewPost, NewThread, ThreadId};
use forum_api::test_util::TestClient;
use proptest::prelude::*;

use crate::backend::Backend;
use crate::demo::all;

const BACKEND: Backend = Backend::Memory;

/// A write after a page.
#[derive(Clone, Debug)]
enum Write {
    Thread,
    /// A reply to the thread with this number.
    Reply(usize),
    /// Advances the clock by this number of milliseconds.
    Wait(u64),
}

fn write() -> impl Strategy<Value = Write> {
    prop_oneof![
        Just(Write::Thread),
        (0..20_usize).prop_map(Write::Reply),
        (0..2000_u64).prop_map(Write::Wait),
    ]
}

/// Generates the limit of each page and the writes after it.
fn walk() -> impl Strategy<Value = Vec<(u8, Vec<Write>)>> {
    prop::collection::vec((1..6_u8, prop::collection::vec(write(), 0..4)), 1..12)
}

/// A forum with members who write in turn.
struct Town {
    suite: Suite,
    forum: ForumId,
    people: Vec<TestCaller>,
    threads: Vec<ThreadId>,
    replied: Vec<ThreadId>,
    written: usize,
}

impl Town {
    async fn new(before: &[Write]) -> Self {
        let suite = Suite::new(&BACKEND.unless_chosen()).await.unwrap();
        let forum = suite.forum(Audience::Guests).await.unwrap();
        let mut people = Vec::new();
        for number in 0..8 {
            let name = format!("person{number}");
            people.push(suite.add_member(&name, Role::Staff).await.unwrap());
        }
        let (threads, replied) = (Vec::new(), Vec::new());
        let mut town = Self {
            suite,
            forum,
            people,
            threads,
            replied,
            written: 0,
        };
        town.write(&Write::Thread).await;
        for write in before {
            town.write(write).await;
        }
        town.replied.clear();
        town
    }

    async fn write(&mut self, write: &Write) {
        let author = self.people[self.written % self.people.len()].id();
        self.written += 1;
        match write {
            Write::Thread => {
                let mut new = NewThread::default();
                (new.title, new.body) = ("A title".into(), "Some words".into());
                let written = self
                    .suite
                    .fixture
                    .write_thread(&author, &self.forum, new)
                    .await;
                self.threads.push(written.unwrap().0);
            }
            Write::Reply(number) => {
                let thread = self.threads[number % self.threads.len()].clone();
                let mut new = NewPost::default();
                new.body = "Some words".into();
                self.suite
                    .fixture
                    .write_reply(&author, &thread, new)
                    .await
                    .unwrap();
                self.replied.push(thread);
            }
            Write::Wait(millis) => self.suite.advance(Duration::from_millis(*millis)),
        }
    }

    /// Returns the ids of a list, which is read page by page with writes in between.
    async fn walk(&mut self, list: &str, id: &str, pages: &[(u8, Vec<Write>)]) -> Vec<String> {
        let api = self.suite.api();
        let reader = api.as_member(&self.people[0].id().to_string());
        let (mut found, mut after) = (Vec::new(), Some(String::new()));
        let mut pages = pages.iter();
        while let Some(cursor) = after {
            let (limit, writes) = pages
                .next()
                .map_or((100, &[][..]), |(limit, writes)| (*limit, writes));
            let (ids, next) = page(&reader, &format!("{list}limit={limit}{cursor}"), id).await;
            found.extend(ids);
            for write in writes {
                self.write(write).await;
            }
            after = next.map(|next| format!("&after={next}"));
        }
        found
    }
}

async fn page(reader: &TestClient<'_>, path: &str, id: &str) -> (Vec<String>, Option<String>) {
    let answer = reader.get(path).await;
    assert_eq!(answer.status, 200, "{path}");
    let page = answer.json();
    let ids = all(&page, id).into_iter().map(str::to_owned).collect();
    (ids, page["next"].as_str().map(str::to_owned))
}

async fn whole(town: &Town, list: &str, id: &str) -> Vec<String> {
    let api = town.suite.api();
    page(
        &api.as_member(&town.people[0].id().to_string()),
        &format!("{list}limit=100"),
        id,
    )
    .await
    .0
}

/// Returns the number of cases, which take longer on Postgres.
fn cases() -> u32 {
    match BACKEND.unless_chosen() {
        Backend::Postgres => 4,
        _ => 64,
    }
}

fn run(test: impl Future<Output = Result<(), TestCaseError>>) -> Result<(), TestCaseError> {
    tokio::runtime::Runtime::new().unwrap().block_on(test)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn unchanged_threads_are_listed_once_and_in_order(
        before in prop::collection::vec(write(), 0..20),
        pages in walk(),
    ) {
        run(async {
            let mut town = Town::new(&before).await;
            let list = format!("/forums/{}/threads?", town.forum);
            let mut resting = whole(&town, &list, "threadId").await;
            let mut walked = town.walk(&list, "threadId", &pages).await;
            let moved: Vec<_> = town.replied.iter().map(ToString::to_string).collect();
            resting.retain(|thread| !moved.contains(thread));
            walked.retain(|thread| resting.contains(thread));
            prop_assert_eq!(walked, resting);
            Ok(())
        })?;
    }

    #[test]
    fn posts_are_listed_once_and_in_order(
        before in prop::collection::vec((0..1_usize).prop_map(Write::Reply), 0..20),
        pages in walk(),
    ) {
        run(async {
            let mut town = Town::new(&before).await;
            let list = format!("/threads/{}/posts?", town.threads[0]);
            let there = whole(&town, &list, "postId").await;
            let walked = town.walk(&list, "postId", &pages).await;
            let afterwards = whole(&town, &list, "postId").await;
            prop_assert_eq!(&walked[..there.len()], there);
            prop_assert_eq!(&walked[..], &afterwards[..walked.len()]);
            Ok(())
        })?;
    }

    #[test]
    fn found_threads_are_listed_once(
        before in prop::collection::vec(write(), 0..20),
        pages in walk(),
        sort in prop_oneof!["relevance", "newest", "oldest"],
    ) {
        run(async {
            let mut town = Town::new(&before).await;
            let list = format!("/search?q=words&show=threads&sort={sort}&");
            let there = whole(&town, &list, "threadId").await;
            let mut walked = town.walk(&list, "threadId", &pages).await;
            walked.retain(|thread| there.contains(thread));
            prop_assert_eq!(walked, there);
            Ok(())
        })?;
    }
}
