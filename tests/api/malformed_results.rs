//! Malformed results of a board: values that JSON or a header cannot represent are a 500, all others are sent unchanged.

use forum_api::model::*;

use crate::support::*;

/// Characters with a special meaning in JSON, HTML, headers or terminals.
const ODD: &str = "\0\r\n\u{1b}[2J\u{202e}\u{feff}\u{2028}\"\\</script>\u{7f}\u{ffff}";

/// Length of the longest response, in megabytes.
const MEGABYTES: usize = 10;

/// A board whose results are malformed. The limit of a list selects the result.
struct MalformedBoard;

#[async_trait]
impl Board for MalformedBoard {
    async fn containing_forum(&self, _: &Caller, _: ResourceRef<'_>) -> BoardResult<ForumId> {
        Ok(ForumId::parse("open").unwrap())
    }

    async fn list_forums(&self, _: &Caller) -> BoardResult<Page<Forum>> {
        Ok(Page { items: Vec::new(), next: Some(PageKey::new(1)) })
    }

    async fn list_threads(
        &self,
        _: &Caller,
        _: ForumId,
        list: List<ThreadFilter>,
    ) -> BoardResult<Page<Thread>> {
        let mut thread = fixtures::thread("open-1");
        let mut page = Page { items: Vec::new(), next: None };
        match list.limit.get() {
            1 => page.next = Some(PageKey::new("9".repeat(1 << 20))),
            2 => page.next = Some(PageKey::new(&ODD[1..ODD.len() - 3])),
            3 => thread.created_at = Timestamp::from_millis(i64::MAX),
            4 => thread.created_at = Timestamp::from_millis(-63_000_000_000_000),
            5 => (thread.version, thread.reply_count) = (i64::MIN, u64::MAX),
            6 => thread.title = ODD.into(),
            // Threads of a hidden forum.
            7 => page.items = vec![fixtures::thread("staff-1"); 2],
            _ => page.items = vec![fixtures::thread("open-2"); 5_000],
        }
        page.items.push(thread);
        Ok(page)
    }

    async fn list_posts(
        &self,
        _: &Caller,
        thread: ThreadId,
        _: List<PostFilter>,
    ) -> BoardResult<InForum<Page<Post>>> {
        let body = ODD.repeat((MEGABYTES << 20) / ODD.len());
        let page = Page { items: vec![fixtures::post(&thread.to_string(), 1, &body)], next: None };
        Ok(InForum::new(ForumId::parse("open").unwrap(), page))
    }

    async fn search(&self, _: &Caller, search: List<SearchFilter>) -> BoardResult<Page<SearchHit>> {
        let score = match search.limit.get() {
            1 => f64::NAN,
            2 => f64::INFINITY,
            _ => f64::MIN,
        };
        let mut hit = fixtures::hit("open");
        hit.score = score;
        Ok(Page::from(vec![hit]))
    }

    async fn get_poll(&self, _: &Caller, thread: ThreadId) -> BoardResult<InForum<Poll>> {
        let mut poll = fixtures::poll(&thread.to_string());
        if thread.to_string() == "open-1" {
            poll.total_votes = None;
        } else {
            poll.options[0].votes = None;
        }
        Ok(InForum::new(ForumId::parse("open").unwrap(), poll))
    }

    async fn get_member(&self, _: &Caller, _: UserRef) -> BoardResult<Member> {
        let wait = Duration::MAX;
        Err(BoardError::rate_limited(ODD.repeat(1_000)).with_retry_after(wait))
    }
}

async fn get(server: &Server, path: &str) -> TestResponse {
    let response = server.send(&Request::get(path)).await;
    let next = server.send(&Request::get("/forums/open/threads?limit=9")).await;
    assert_eq!(next.status, 200, "after {path}");
    response
}

async fn server() -> Server {
    let board = FullBoard::new();
    let environment = Environment::default();
    let stores = Stores::in_memory();
    let commands = Arc::new(MalformedBoard);
    let server = Server::over(environment, settings(), stores, &board, commands);
    server.listening().await
}

#[tokio::test]
async fn results_that_json_or_a_header_cannot_represent_are_a_500() {
    let server = server().await;
    let page_key = "a page key has 1048576 bytes, and the maximum is 120, or contains U+0000; use only the sort key";
    let time = "a time is not in the years 0 to 9999";
    let score = "a score is not finite";
    for (path, error) in [
        ("/forums/open/threads?limit=1", page_key),
        ("/forums/open/threads?limit=3", time),
        ("/forums/open/threads?limit=4", time),
        ("/search?q=tea&limit=1", score),
        ("/search?q=tea&limit=2", score),
    ] {
        assert_internal_error(&get(&server, path).await, error);
    }
}

/// Fails unless the response is a 500 whose cause is in the log.
fn assert_internal_error(response: &TestResponse, error: &str) {
    assert_eq!(outcome(response), INTERNAL_ERROR, "{error}");
    let log = log::of(response);
    let line = log.lines().find(|line| line.contains("Z ERROR ")).unwrap();
    assert!(line.ends_with(&format!(" error={error}")), "{line}");
}

#[tokio::test]
async fn a_second_page_of_forums_is_a_500() {
    let error = "the list of forums has no pages, but the board returned one with `next`";
    assert_internal_error(&get(&server().await, "/forums").await, error);
}

#[tokio::test]
async fn representable_values_are_sent_unchanged() {
    let server = server().await;
    let odd = get(&server, "/forums/open/threads?limit=6").await.json();
    assert_eq!(odd["items"][0]["title"], ODD);
    let many = get(&server, "/forums/open/threads?limit=5").await.json();
    assert_eq!(many["items"][0]["version"], i64::MIN);
    assert_eq!(get(&server, "/search?q=tea&limit=3").await.status, 200);
    let leads = get(&server, "/forums/open/threads?limit=2").await;
    let next = leads.json()["next"].as_str().unwrap().to_owned();
    assert!(leads.header("link").unwrap().contains(&next));

    let long = get(&server, "/threads/open-1/posts").await;
    assert_eq!(long.status, 200);
    let body = long.json()["items"][0]["body"].as_str().unwrap().len();
    assert!(body > (MEGABYTES - 1) << 20, "{body}");

    let limited = get(&server, "/members/bob").await;
    assert_eq!(outcome(&limited), (429, Some("RATE_LIMITED")));
    let wait = limited.header("retry-after").unwrap();
    assert!(wait.bytes().all(|digit| digit.is_ascii_digit()), "{wait}");
}

#[tokio::test]
async fn totals_of_a_poll_are_all_null_if_one_is_null() {
    let server = server().await;
    for thread in ["open-1", "open-2"] {
        let response = get(&server, &format!("/threads/{thread}/poll")).await;
        let log = log::of(&response);
        let warning = log.lines().find(|line| line.contains(" WARN ")).unwrap();
        let end = format!(
            "the board returned only some of a poll's totals; totals dropped command=\"getPoll\" poll={thread}"
        );
        assert!(warning.ends_with(&end), "{warning}");
        let poll = response.json();
        assert_eq!(poll["options"][0]["text"], "Green");
        assert_eq!(poll["options"][0]["votes"], Value::Null, "{thread}");
        assert_eq!(poll["totalVotes"], Value::Null, "{thread}");
    }
}

#[tokio::test]
async fn items_of_hidden_forums_are_left_out() {
    let response = get(&server().await, "/forums/open/threads?limit=7").await;
    let page = response.json();
    assert_eq!(page["items"].as_array().unwrap().len(), 1, "{page}");
    assert_eq!(page["items"][0]["forumId"], "open");
}
