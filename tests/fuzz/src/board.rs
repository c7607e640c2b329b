//! A board that refuses every call and quotes its arguments, and an API over it.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Waker};

use bytes::Bytes;
use forum_api::host::{
    Access, Authorizer, BackendResult, Board, BoardError, BoardResult, Caller, CreateOutcome,
    InForum, MemberCaller, RequestInfo, ResourceRef, VisibleForums,
};
use forum_api::model::*;
use forum_api::scope::Surface;
use forum_api::store::Stores;
use forum_api::test_util::{TestApi, TestResponse};
use forum_api::token::Expiry;
use forum_api::{ApiSettings, async_trait, board_methods};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{Method, Request, Uri};

/// Page key of the second page of a list of threads.
pub(super) static NEXT: Mutex<String> = Mutex::new(String::new());

/// The API with budgets that are never used up.
static BOARD: LazyLock<TestApi> = LazyLock::new(|| {
    let mut settings = ApiSettings::default();
    settings.token_budget.units = u32::MAX;
    settings.guest_budget.units = u32::MAX;
    let board = Arc::new(EchoBoard);
    TestApi::with(
        board,
        Stores::in_memory(),
        |environment| environment,
        |api| api.settings(settings),
    )
});

/// A member's token with all scopes.
static TOKEN: LazyLock<String> = LazyLock::new(|| {
    let scopes: Vec<_> = Surface::Full.scopes().collect();
    let token = BOARD.issue_token("1", &scopes, Expiry::NEVER);
    token.expose_secret().into()
});

/// Returns the member's response, or `None` if `uri` is invalid. Checks that status and code are documented.
pub(super) fn send_as_member(method: Method, uri: &[u8], body: &[u8]) -> Option<TestResponse> {
    let request = Request::builder()
        .method(method)
        .uri(Uri::try_from(uri).ok()?)
        .header(AUTHORIZATION, format!("Bearer {}", *TOKEN))
        .header(CONTENT_TYPE, "application/json")
        .body(Bytes::copy_from_slice(body))
        .ok()?;
    let answer = ready(BOARD.send(request));
    let outcomes = [(200, None), (400, Some("bad_request")), (403, Some("FORBIDDEN"))];
    let outcome = (answer.status, answer.code().map(ErrorCode::as_str));
    assert!(outcomes.contains(&outcome), "{answer:?}");
    if answer.status == 400 {
        let plain = |letter: char| letter.is_ascii() && !letter.is_control();
        assert!(message(&answer).chars().all(plain), "{answer:?}");
        assert!(message(&answer).len() <= 200, "{answer:?}");
    }
    Some(answer)
}

/// Returns the message of an error.
pub(super) fn message(answer: &TestResponse) -> String {
    let json = answer.json();
    json["error"]["message"].as_str().unwrap_or_default().into()
}

/// Returns the output of a future that is ready at once.
pub(super) fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("nothing here waits"),
    }
}

/// A board that refuses every call and quotes its arguments.
struct EchoBoard;

#[async_trait]
impl Authorizer for EchoBoard {
    async fn guest_access(&self, _: &RequestInfo) -> BackendResult<Access> {
        Ok(Access::new(VisibleForums::all()))
    }

    async fn member_access(&self, _: &UserId, _: &RequestInfo) -> BackendResult<Option<Access>> {
        Ok(Some(Access::new(VisibleForums::all())))
    }
}

macro_rules! echo {
    ([$($done:tt)*] Caller list_forums $arguments:tt -> $result:ty; $($rest:tt)*) => {
        echo!([$($done)*] $($rest)*);
    };
    ([$($done:tt)*] Caller list_threads $arguments:tt -> $result:ty; $($rest:tt)*) => {
        echo!([$($done)*] $($rest)*);
    };
    ([$($done:tt)*] $caller:ident $method:ident $arguments:tt -> $result:ty; $($rest:tt)*) => {
        echo!([$($done)* $caller $method $arguments -> $result;] $($rest)*);
    };
    ([$($caller:ident $method:ident($($argument:ident: $type:ty),*) -> $result:ty;)+]) => {
        #[async_trait]
        impl Board for EchoBoard {
            async fn containing_forum(&self, _: &Caller, _: ResourceRef<'_>) -> BoardResult<ForumId> {
                Ok(ForumId::from(1))
            }

            async fn list_forums(&self, _: &Caller) -> BoardResult<Page<Forum>> {
                Ok(Vec::new().into())
            }

            async fn list_threads(&self, _: &Caller, _: ForumId, list: List<ThreadFilter>) -> BoardResult<Page<Thread>> {
                if let Some(after) = list.after {
                    return Err(BoardError::forbidden(after.as_str()));
                }
                let next = Some(PageKey::new(NEXT.lock().unwrap()));
                let items = Vec::new();
                Ok(Page { items, next })
            }

            $(async fn $method(&self, _: &$caller $(, $argument: $type)*) -> BoardResult<$result> {
                Err(BoardError::forbidden(format!("{:?}", ($(&$argument,)*))))
            })+
        }
    };
}

board_methods!(echo []);
