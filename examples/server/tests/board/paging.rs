//! Pages of lists during concurrent writes: an item that does not move is listed once and in order.

use std::time::Duration;

use forum_api::conformance::{Audience, Role, Suite, TestCaller};
use forum_api::model::{ForumId, NewPost, NewThread, ThreadId};
use forum_api::test_util::TestClient;
use proptest::prelude::*;

use crate::backend::Backend;
use crate::demo::field_values;

const BACKEND: Backend = Backend::Memory;

/// A change between two pages.
#[derive(Clone, Debug)]
enum Write {
    Thread,
    /// A reply to the thread with this number.
    Reply(usize),
    /// Advances the clock by milliseconds.
    Wait(u64),
}

fn write() -> impl Strategy<Value = Write> {
    prop_oneof![
        Just(Write::Thread),
        (0..20_usize).prop_map(Write::Reply),
        (0..2000_u64).prop_map(Write::Wait),
    ]
}

/// Limits of pages, each with the writes after the page.
fn page_plans() -> impl Strategy<Value = Vec<(u8, Vec<Write>)>> {
    prop::collection::vec((1..6_u8, prop::collection::vec(write(), 0..4)), 1..12)
}

/// A board with one forum and members who write in it.
struct PagingFixture {
    suite: Suite,
    forum: ForumId,
    members: Vec<TestCaller>,
    threads: Vec<ThreadId>,
    replied: Vec<ThreadId>,
    written: usize,
}

impl PagingFixture {
    async fn new(before: &[Write]) -> Self {
        let suite = Suite::new(&BACKEND.or_from_environment()).await.unwrap();
        let forum = suite.forum(Audience::Guests).await.unwrap();
        let mut members = Vec::new();
        for number in 0..8 {
            let name = format!("member{number}");
            members.push(suite.add_member(&name, Role::Staff).await.unwrap());
        }
        let (threads, replied) = (Vec::new(), Vec::new());
        let mut fixture = Self {
            suite,
            forum,
            members,
            threads,
            replied,
            written: 0,
        };
        fixture.write(&Write::Thread).await;
        for write in before {
            fixture.write(write).await;
        }
        fixture.replied.clear();
        fixture
    }

    async fn write(&mut self, write: &Write) {
        let author = self.members[self.written % self.members.len()].id();
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

    /// Reads a list page by page with writes between the pages. Returns the ids of its items.
    async fn read_pages(
        &mut self,
        list: &str,
        id: &str,
        pages: &[(u8, Vec<Write>)],
    ) -> Vec<String> {
        let api = self.suite.api();
        let reader = api.as_member(&self.members[0].id().to_string());
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
    let ids = field_values(&page, id)
        .into_iter()
        .map(str::to_owned)
        .collect();
    (ids, page["next"].as_str().map(str::to_owned))
}

async fn read_at_once(fixture: &PagingFixture, list: &str, id: &str) -> Vec<String> {
    let api = fixture.suite.api();
    page(
        &api.as_member(&fixture.members[0].id().to_string()),
        &format!("{list}limit=100"),
        id,
    )
    .await
    .0
}

/// Returns the number of cases. It is smaller on Postgres, where each case takes longer.
fn cases() -> u32 {
    match BACKEND.or_from_environment() {
        Backend::Postgres => 4,
        _ => 64,
    }
}

fn block_on(test: impl Future<Output = Result<(), TestCaseError>>) -> Result<(), TestCaseError> {
    tokio::runtime::Runtime::new().unwrap().block_on(test)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn unchanged_threads_are_listed_once_and_in_order(
        before in prop::collection::vec(write(), 0..20),
        pages in page_plans(),
    ) {
        block_on(async {
            let mut fixture = PagingFixture::new(&before).await;
            let list = format!("/forums/{}/threads?", fixture.forum);
            let mut unchanged = read_at_once(&fixture, &list, "threadId").await;
            let mut listed = fixture.read_pages(&list, "threadId", &pages).await;
            let moved: Vec<_> = fixture.replied.iter().map(ToString::to_string).collect();
            unchanged.retain(|thread| !moved.contains(thread));
            listed.retain(|thread| unchanged.contains(thread));
            prop_assert_eq!(listed, unchanged);
            Ok(())
        })?;
    }

    #[test]
    fn posts_are_listed_once_and_in_order(
        before in prop::collection::vec((0..1_usize).prop_map(Write::Reply), 0..20),
        pages in page_plans(),
    ) {
        block_on(async {
            let mut fixture = PagingFixture::new(&before).await;
            let list = format!("/threads/{}/posts?", fixture.threads[0]);
            let expected = read_at_once(&fixture, &list, "postId").await;
            let listed = fixture.read_pages(&list, "postId", &pages).await;
            let afterwards = read_at_once(&fixture, &list, "postId").await;
            prop_assert_eq!(&listed[..expected.len()], expected);
            prop_assert_eq!(&listed[..], &afterwards[..listed.len()]);
            Ok(())
        })?;
    }

    #[test]
    fn found_threads_are_listed_once(
        before in prop::collection::vec(write(), 0..20),
        pages in page_plans(),
        sort in prop_oneof!["relevance", "newest", "oldest"],
    ) {
        block_on(async {
            let mut fixture = PagingFixture::new(&before).await;
            let list = format!("/search?q=words&show=threads&sort={sort}&");
            let expected = read_at_once(&fixture, &list, "threadId").await;
            let mut listed = fixture.read_pages(&list, "threadId", &pages).await;
            listed.retain(|thread| expected.contains(thread));
            prop_assert_eq!(listed, expected);
            Ok(())
        })?;
    }
}
