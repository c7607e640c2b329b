//! A board with a prepared page and the API over it, to measure the library only.

use std::net::{IpAddr, Ipv4Addr};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use forum_api::host::{
    Access, Authorizer, BackendResult, Board, BoardError, BoardResult, Caller, InForum,
    RequestInfo, ResourceRef, VisibleForums,
};
use forum_api::model::{
    Author, ContentState, ForumId, List, Page, Post, PostFilter, PostId, ThreadId, Timestamp,
    UserId,
};
use forum_api::runtime::{Clock, OsRandom, SystemClock};
use forum_api::scope::{Scope, Surface};
use forum_api::store::Stores;
use forum_api::token::{TokenRequest, issue_token};
use forum_api::{ApiSettings, ForumApi, ResponseBody, async_trait};
use http::header::{ACCEPT, AUTHORIZATION, HOST};
use http::{Request, Response};
use http_body_util::Empty;
use serde::Serialize;
use tower::Service;

/// A list with a response of 300 bytes.
const PATH: &str = "/api/v1/threads/1/posts?limit=20";

/// A board with one page: a short post.
#[derive(Debug)]
pub struct StaticBoard {
    pub page: Page<Post>,
}

/// Body of a response with this page, which is the last one.
pub fn body(page: &Page<Post>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Body<'a> {
        items: &'a [Post],
        next: Option<&'a str>,
    }
    let body = Body { items: &page.items, next: None };
    serde_json::to_vec(&body).unwrap()
}

fn page() -> Page<Post> {
    let mut post = Post::new(
        PostId::from(40),
        ThreadId::from(1),
        1,
        ContentState::Visible,
        Timestamp::from_millis(1_769_860_800_000),
    );
    post.author = Some(Author::new(UserId::from(3), "alice"));
    post.body = Some("Short.".into());
    post.body_html = Some("<p>Short.</p>\n".into());
    Page { items: vec![post], next: None }
}

#[async_trait]
impl Authorizer for StaticBoard {
    async fn guest_access(&self, _: &RequestInfo) -> BackendResult<Access> {
        Ok(Access::new(VisibleForums::none()))
    }

    async fn member_access(&self, _: &UserId, _: &RequestInfo) -> BackendResult<Option<Access>> {
        Ok(Some(Access::new(VisibleForums::all())))
    }
}

#[async_trait]
impl Board for StaticBoard {
    async fn containing_forum(&self, _: &Caller, _: ResourceRef<'_>) -> BoardResult<ForumId> {
        Err(BoardError::NotImplemented)
    }

    async fn list_posts(
        &self,
        _: &Caller,
        _: ThreadId,
        _: List<PostFilter>,
    ) -> BoardResult<InForum<Page<Post>>> {
        Ok(InForum { forum_id: ForumId::from(1), value: self.page.clone() })
    }
}

/// The API over the board, with stores in memory and a token whose budget is never used up.
#[derive(Debug)]
pub struct BenchFixture {
    pub board: Arc<StaticBoard>,
    api: ForumApi,
    /// Value of the `authorization` header.
    bearer: String,
}

impl BenchFixture {
    #[expect(clippy::new_without_default, reason = "a fixture")]
    pub fn new() -> Self {
        let board = Arc::new(StaticBoard { page: page() });
        let stores = Stores::in_memory();
        let bearer = format!("Bearer {}", token(&stores));
        let mut settings = ApiSettings::default();
        settings.token_budget.units = u32::MAX;
        let builder = ForumApi::builder(board.clone(), stores);
        let api = builder.settings(settings).build().unwrap();
        Self { board, api, bearer }
    }

    /// A request as a client sends it.
    pub fn request(&self) -> Request<Empty<Bytes>> {
        Request::get(PATH)
            .header(HOST, "board.example")
            .header(ACCEPT, "application/json")
            .header(AUTHORIZATION, &self.bearer)
            .extension(IpAddr::from(Ipv4Addr::LOCALHOST))
            .body(Empty::new())
            .unwrap()
    }

    /// Returns the response, which is ready at once.
    pub fn answer(&self, request: Request<Empty<Bytes>>) -> Response<ResponseBody> {
        at_once(self.api.clone().call(request)).unwrap()
    }
}

/// Issues a token that may list posts.
fn token(stores: &Stores) -> String {
    let owner = UserId::from(3);
    let scopes = [Scope::THREADS_READ, Scope::POSTS_READ];
    let wanted = TokenRequest::new(&owner, &scopes).label("bench");
    let tokens = &*stores.tokens;
    let now = SystemClock.now();
    let issued = at_once(issue_token(tokens, &OsRandom, Surface::Full, wanted, now));
    issued.unwrap().0.expose_secret().to_owned()
}

/// Returns the output of a future that is ready at once.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the future is not ready"),
    }
}
