//! A board that has its answers at hand, and the API over it: what else a request takes is the library's.

use std::net::{IpAddr, Ipv4Addr};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use forum_api::host::{Authority, Board, Caller, Forums, In, Refusal, Result, Standing, Stored};
use forum_api::model::{
    Author, ForumId, ListPosts, Page, Post, PostId, State, ThreadId, Timestamp, UserId,
};
use forum_api::rate_limit::Window;
use forum_api::runtime::{Clock, SystemClock, SystemEntropy, TokioRuntime};
use forum_api::scope::Surface;
use forum_api::store::Stores;
use forum_api::token::{Issue, issue};
use forum_api::{ForumApi, Settings, async_trait};
use http::header::{ACCEPT, AUTHORIZATION, HOST};
use http::{Request, Response};
use http_body_util::{Empty, Full};
use tower::Service;

/// The list that is answered in 300 bytes.
pub const SMALL: &str = "/api/v1/threads/1/posts?limit=20";

/// The list that is answered in 5 KB.
pub const LARGE: &str = "/api/v1/threads/2/posts?limit=20";

/// A board with two threads.
#[derive(Debug)]
pub struct StaticBoard {
    /// A short post: 300 bytes.
    pub small: Page<Post>,
    /// Four posts of 1.2 KB each.
    pub large: Page<Post>,
}

impl Default for StaticBoard {
    fn default() -> Self {
        let long = "A sentence of a usual length, as people write it. ".repeat(9);
        Self {
            small: page([post(1, 1, "Short.")]),
            large: page([1, 2, 3, 4].map(|number| post(2, number, &long))),
        }
    }
}

fn page(items: impl Into<Vec<Post>>) -> Page<Post> {
    Page {
        items: items.into(),
        next: None,
    }
}

fn post(thread: i64, number: u64, body: &str) -> Post {
    Post {
        post_id: PostId::from(40),
        thread_id: ThreadId::from(thread),
        number,
        author: Some(Author {
            user_id: UserId::from(3),
            username: "alice".into(),
            avatar_url: None,
        }),
        state: State::Visible,
        created_at: Timestamp::from_millis(1_769_860_800_000),
        edited_at: None,
        edited_by: None,
        body: Some(body.into()),
        body_html: Some(format!("<p>{body}</p>\n")),
        can_edit: false,
        can_delete: false,
        version: 1,
    }
}

#[async_trait]
impl Authority for StaticBoard {
    async fn guest(&self) -> Stored<Standing> {
        Ok(Standing::new(Forums::none()))
    }

    async fn member(&self, _: &UserId) -> Stored<Option<Standing>> {
        Ok(Some(Standing::new(Forums::all())))
    }
}

#[async_trait]
impl Board for StaticBoard {
    async fn posts(&self, _: &Caller, thread: ThreadId, _: ListPosts) -> Result<In<Page<Post>>> {
        let page = match thread.number()? {
            1 => &self.small,
            2 => &self.large,
            _ => return Err(Refusal::Absent),
        };
        Ok(In {
            forum: ForumId::from(1),
            it: page.clone(),
        })
    }
}

/// The API over the board, with stores in memory and a token whose budget does not end.
#[derive(Debug)]
pub struct BenchFixture {
    pub api: ForumApi,
    /// What stands in the `authorization` header.
    pub bearer: String,
    /// Its budget.
    pub window: Window,
}

impl BenchFixture {
    pub fn over(board: Arc<StaticBoard>) -> Self {
        Self::with(board, Stores::in_memory())
    }

    /// The same over stores that may hold something.
    pub fn with(board: Arc<StaticBoard>, stores: Stores) -> Self {
        let bearer = format!("Bearer {}", token(&stores));
        let mut settings = Settings::default();
        settings.token_window.units = u32::MAX;
        let window = settings.token_window;
        let builder = ForumApi::builder(board.clone(), board, stores, TokioRuntime);
        let api = builder.settings(settings).build();
        Self {
            api,
            bearer,
            window,
        }
    }

    /// A request as a client sends it.
    pub fn request(&self, path: &str) -> Request<Empty<Bytes>> {
        Request::get(path)
            .header(HOST, "board.example")
            .header(ACCEPT, "application/json")
            .header(AUTHORIZATION, &self.bearer)
            .extension(IpAddr::from(Ipv4Addr::LOCALHOST))
            .body(Empty::new())
            .unwrap()
    }

    /// The answer to it, for which nothing has to be waited.
    pub fn answer(&self, request: Request<Empty<Bytes>>) -> Response<Full<Bytes>> {
        at_once(self.api.clone().call(request)).unwrap()
    }
}

/// A token that carries what lists of posts need.
pub fn token(stores: &Stores) -> String {
    let wanted = Issue {
        owner: &UserId::from(3),
        label: "bench",
        scopes: &["threads:read".into(), "posts:read".into()],
        expires_in_days: "",
    };
    let (tokens, now) = (&*stores.tokens, SystemClock.now());
    let issued = at_once(issue(tokens, &SystemEntropy, Surface::Full, wanted, now));
    issued.unwrap().0.reveal().to_owned()
}

/// What comes of something for which nothing has to be waited.
pub fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits for something"),
    }
}
