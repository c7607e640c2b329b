//! Boards that answer nonsense: what can be said in JSON is said as it is, and the rest costs one 500.

use std::sync::Arc;
use std::time::Duration;

use forum_api::async_trait;
use forum_api::host::{Board, BoardError, BoardResult, Caller, InForum, ResourceRef};
use forum_api::model::*;
use forum_api::store::Stores;
use forum_api::test_util::TestResponse;

use crate::support::server::settings;
use crate::support::{Ask, FullBoard, Server, outcome, world};

/// Ends lines, strings, terminals' lines and whole texts.
const ODD: &str = "\0\r\n\u{1b}[2J\u{202e}\u{feff}\u{2028}\"\\</script>\u{7f}\u{ffff}";

/// How many megabytes the longest answer has.
const MEGABYTES: usize = 10;

/// What it is asked for is the name of the nonsense.
struct Nonsense;

#[async_trait]
impl Board for Nonsense {
    async fn containing_forum(&self, _: &Caller, _: ResourceRef<'_>) -> BoardResult<ForumId> {
        Ok(ForumId::parse("open").unwrap())
    }

    async fn list_threads(
        &self,
        _: &Caller,
        _: ForumId,
        list: ListThreadsParams,
    ) -> BoardResult<Page<Thread>> {
        let mut thread = world::thread("open-1");
        let mut page = Page {
            items: Vec::new(),
            next: None,
        };
        match list.limit.get() {
            1 => page.next = Some(PageKey::new("9".repeat(1 << 20))),
            2 => page.next = Some(PageKey::new(&ODD[..ODD.len() - 3])),
            3 => thread.created_at = Timestamp::from_millis(i64::MAX),
            4 => thread.created_at = Timestamp::from_millis(-63_000_000_000_000),
            5 => (thread.version, thread.reply_count) = (i64::MIN, u64::MAX),
            6 => thread.title = ODD.into(),
            // Those of another place, hidden from everybody here.
            7 => page.items = vec![world::thread("staff-1"); 2],
            _ => page.items = vec![world::thread("open-2"); 5_000],
        }
        page.items.push(thread);
        Ok(page)
    }

    async fn list_posts(
        &self,
        _: &Caller,
        thread: ThreadId,
        _: ListPostsParams,
    ) -> BoardResult<InForum<Page<Post>>> {
        let body = ODD.repeat((MEGABYTES << 20) / ODD.len());
        let page = Page {
            items: vec![world::post(&thread.to_string(), 1, &body)],
            next: None,
        };
        Ok(InForum::new(ForumId::parse("open").unwrap(), page))
    }

    async fn search(&self, _: &Caller, search: SearchParams) -> BoardResult<Page<SearchHit>> {
        let score = match search.limit.get() {
            1 => f64::NAN,
            2 => f64::INFINITY,
            _ => f64::MIN,
        };
        let items = vec![SearchHit {
            score,
            ..world::hit("open")
        }];
        Ok(Page { items, next: None })
    }

    async fn get_member(&self, _: &Caller, _: UserRef) -> BoardResult<Member> {
        let wait = Duration::MAX;
        Err(BoardError::RateLimited(ODD.repeat(1_000), Some(wait)))
    }
}

async fn ask(server: &Server, path: &str) -> TestResponse {
    let answer = server.send(&Ask::get(path)).await;
    let next = server.send(&Ask::get("/forums/open/threads?limit=9")).await;
    assert_eq!(next.status, 200, "after {path}");
    answer
}

async fn server() -> Server {
    let board = FullBoard::new();
    let server = Server::over(settings(), Stores::in_memory(), &board, Arc::new(Nonsense));
    server.listening().await
}

#[tokio::test]
async fn what_json_or_a_header_cannot_say_costs_one_500() {
    let server = server().await;
    for path in [
        "/forums/open/threads?limit=1",
        "/forums/open/threads?limit=3",
        "/forums/open/threads?limit=4",
        "/search?q=tea&limit=1",
        "/search?q=tea&limit=2",
    ] {
        let answer = ask(&server, path).await;
        assert_eq!(outcome(&answer), (500, Some("internal_error")), "{path}");
    }
}

#[tokio::test]
async fn what_can_be_said_is_said_as_it_is() {
    let server = server().await;
    let odd = ask(&server, "/forums/open/threads?limit=6").await.json();
    assert_eq!(odd["items"][0]["title"], ODD);
    let many = ask(&server, "/forums/open/threads?limit=5").await.json();
    assert_eq!(many["items"][0]["version"], i64::MIN);
    assert_eq!(ask(&server, "/search?q=tea&limit=3").await.status, 200);
    let leads = ask(&server, "/forums/open/threads?limit=2").await;
    let next = leads.json()["next"].as_str().unwrap().to_owned();
    assert!(leads.header("link").unwrap().contains(&next));

    let long = ask(&server, "/threads/open-1/posts").await;
    assert_eq!(long.status, 200);
    let body = long.json()["items"][0]["body"].as_str().unwrap().len();
    assert!(body > (MEGABYTES - 1) << 20, "{body}");

    let refused = ask(&server, "/members/bob").await;
    assert_eq!(outcome(&refused), (429, Some("RATE_LIMITED")));
    let wait = refused.header("retry-after").unwrap();
    assert!(wait.bytes().all(|digit| digit.is_ascii_digit()), "{wait}");
}

#[tokio::test]
async fn what_nobody_here_sees_is_left_out() {
    let page = ask(&server().await, "/forums/open/threads?limit=7").await;
    let page = page.json();
    assert_eq!(page["items"].as_array().unwrap().len(), 1, "{page}");
    assert_eq!(page["items"][0]["forumId"], "open");
}
