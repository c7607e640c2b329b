//! A board that refuses every command with its arguments in words, so that the answer tells what was read.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Waker};

use bytes::Bytes;
use forum_api::host::{
    Access, Authorizer, BackendResult, Board, BoardError, BoardResult, Caller, InForum,
    MemberCaller, ResourceRef, VisibleForums,
};
use forum_api::model::*;
use forum_api::scope::Surface;
use forum_api::store::Stores;
use forum_api::test_util::{TestApi, TestResponse};
use forum_api::{ApiSettings, async_trait};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Uri};
use http_body_util::Full;

/// What the first page of a list of threads says of the next one.
pub(super) static NEXT: Mutex<String> = Mutex::new(String::new());

/// The board, of which no budget is ever spent.
static BOARD: LazyLock<TestApi> = LazyLock::new(|| {
    let mut settings = ApiSettings::default();
    settings.token_budget.units = u32::MAX;
    settings.guest_budget.units = u32::MAX;
    let (authority, board) = (Arc::new(EchoBoard), Arc::new(EchoBoard));
    TestApi::with(authority, board, Stores::in_memory(), settings, |it| it)
});

/// The token of a member, with every scope.
pub(super) static TOKEN: LazyLock<String> = LazyLock::new(|| {
    let scopes: Vec<_> = Surface::Full.scopes().map(|scope| scope.as_str()).collect();
    BOARD.token("1", &scopes, "").expose_secret().into()
});

/// What the member gets; nothing where `uri` is none.
pub(super) fn ask(method: Method, uri: &[u8], body: &[u8]) -> Option<TestResponse> {
    let bearer = HeaderValue::from_str(&format!("Bearer {}", *TOKEN)).unwrap();
    let mut request = request(method, uri, body)?;
    request.headers_mut().insert(AUTHORIZATION, bearer);
    Some(send(request))
}

/// A request without a token.
pub(super) fn request(method: Method, uri: &[u8], body: &[u8]) -> Option<Request<Full<Bytes>>> {
    let request = Request::builder()
        .method(method)
        .uri(Uri::try_from(uri).ok()?);
    let request = request.header(CONTENT_TYPE, "application/json");
    request.body(Bytes::copy_from_slice(body).into()).ok()
}

/// Checks that the response has a documented status and code.
pub(super) fn send(request: Request<Full<Bytes>>) -> TestResponse {
    let answer = ready(BOARD.send(request));
    let outcomes = [
        (200, None),
        (400, Some("bad_request")),
        (401, Some("unauthenticated")),
        (403, Some("FORBIDDEN")),
    ];
    assert!(
        outcomes.contains(&(answer.status, answer.code())),
        "{answer:?}"
    );
    if answer.status == 400 {
        let plain = |letter: char| letter.is_ascii() && !letter.is_control();
        assert!(message(&answer).chars().all(plain), "{answer:?}");
        assert!(message(&answer).len() <= 200, "{answer:?}");
    }
    answer
}

/// What a refusal says.
pub(super) fn message(answer: &TestResponse) -> String {
    let json = answer.json();
    json["error"]["message"].as_str().unwrap_or_default().into()
}

/// The value of a future that waits for nothing.
pub(super) fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("nothing here waits"),
    }
}

/// A board that refuses every call with its arguments in words.
struct EchoBoard;

#[async_trait]
impl Authorizer for EchoBoard {
    async fn guest_access(&self) -> BackendResult<Access> {
        Ok(Access::new(VisibleForums::all()))
    }

    async fn member_access(&self, _: &UserId) -> BackendResult<Option<Access>> {
        Ok(Some(Access::new(VisibleForums::all())))
    }
}

macro_rules! echo {
    ($($method:ident($caller:ty, $($place:ty,)? :$input:ty) -> $output:ty;)+) => {
        #[async_trait]
        impl Board for EchoBoard {
            async fn containing_forum(&self, _: &Caller, _: ResourceRef<'_>) -> BoardResult<ForumId> {
                Ok(ForumId::from(1))
            }

            async fn list_forums(&self, _: &Caller) -> BoardResult<Vec<Forum>> {
                Ok(Vec::new())
            }

            async fn list_threads(&self, _: &Caller, _: ForumId, list: ListThreadsParams) -> BoardResult<Page<Thread>> {
                if let Some(after) = list.after {
                    return Err(BoardError::Forbidden(after.as_str().into()));
                }
                let next = Some(PageKey::new(NEXT.lock().unwrap()));
                let items = Vec::new();
                Ok(Page { items, next })
            }

            $(async fn $method(&self, _: $caller, $(_: $place,)? input: $input) -> BoardResult<$output> {
                Err(BoardError::Forbidden(format!("{input:?}")))
            })+
        }
    };
}

echo! {
    list_posts(&Caller, ThreadId, :ListPostsParams) -> InForum<Page<Post>>;
    list_messages(&MemberCaller, :ListMessagesParams) -> Page<MessageSummary>;
    list_subscriptions(&MemberCaller, :ListSubscriptionsParams) -> Page<Subscription>;
    search(&Caller, :SearchParams) -> Page<SearchHit>;
    create_thread(&MemberCaller, ForumId, :NewThread) -> Thread;
    create_post(&MemberCaller, ThreadId, :NewPost) -> InForum<Post>;
    update_post(&MemberCaller, PostPath, :PostUpdate) -> InForum<Post>;
    rate_member(&MemberCaller, UserRef, :NewRating) -> Rating;
    send_message(&MemberCaller, :NewMessage) -> Message;
    vote(&MemberCaller, PollId, :NewVote) -> InForum<Poll>;
    update_poll(&MemberCaller, PollId, :PollUpdate) -> InForum<Poll>;
    subscribe(&MemberCaller, :SubscriptionTarget) -> SubscribeOutcome;
}
