//! The description of a request that authorizer and board receive.

use std::net::{IpAddr, Ipv4Addr};

use forum_api::host::{Access, BackendResult, RequestInfo, VisibleForums};
use forum_api::model::{Forum, Page};
use forum_api::test_util::{TestApi, TestRequest};
use forum_api::token::Expiry;

use crate::support::*;

/// A board without content, which keeps the descriptions that it receives.
#[derive(Default)]
struct RecordingBoard(Mutex<Vec<RequestInfo>>);

#[async_trait]
impl Authorizer for RecordingBoard {
    async fn guest_access(&self, request: &RequestInfo) -> BackendResult<Access> {
        self.0.lock().unwrap().push(request.clone());
        Ok(Access::new(VisibleForums::all()))
    }

    async fn member_access(
        &self,
        _: &UserId,
        request: &RequestInfo,
    ) -> BackendResult<Option<Access>> {
        self.guest_access(request).await.map(Some)
    }
}

#[async_trait]
impl Board for RecordingBoard {
    async fn containing_forum(&self, _: &Caller, _: ResourceRef<'_>) -> BoardResult<ForumId> {
        Err(BoardError::NotImplemented)
    }

    async fn list_forums(&self, caller: &Caller) -> BoardResult<Page<Forum>> {
        self.0.lock().unwrap().push(caller.request().clone());
        Ok(Vec::new().into())
    }
}

const PROXY: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));

struct Fixture {
    board: Arc<RecordingBoard>,
    api: TestApi,
}

impl Fixture {
    fn new() -> Self {
        let board = Arc::new(RecordingBoard::default());
        let mut settings = ApiSettings::default();
        settings.trusted_proxies = vec!["10.0.0.0/8".parse().unwrap()];
        let stores = Stores::in_memory();
        let api = TestApi::with(
            board.clone(),
            stores,
            |environment| environment,
            |api| api.settings(settings),
        );
        Self { board, api }
    }

    /// Sends a request, and returns the descriptions that the authorizer and the board received.
    async fn send(&self, request: TestRequest<'_>) -> (TestResponse, [RequestInfo; 2]) {
        let response = request.await;
        assert_eq!(response.status, 200);
        let seen = std::mem::take(&mut *self.board.0.lock().unwrap());
        (response, seen.try_into().unwrap())
    }
}

#[tokio::test]
async fn authorizer_and_board_receive_id_address_user_agent_and_time() {
    let fixture = Fixture::new();
    let request = fixture
        .api
        .as_guest()
        .get("/forums")
        .extension(PROXY)
        .header("x-forwarded-for", "192.0.2.9, 203.0.113.7, 10.9.9.9")
        .header("user-agent", "Reader/1.0");
    let (response, seen) = fixture.send(request).await;
    for request in seen {
        assert_eq!(request.id(), response.header("x-request-id"));
        assert_eq!(request.client_ip(), Some([203, 0, 113, 7].into()));
        assert_eq!(request.user_agent(), Some("Reader/1.0"));
        assert_eq!(request.received_at(), fixture.api.clock.now());
        assert_eq!(request.token_lookup(), None);
        assert!(!request.is_background());
    }
}

#[tokio::test]
async fn the_lookup_of_the_token_identifies_it_without_its_secret() {
    let fixture = Fixture::new();
    let scopes = [Scope::FORUMS_READ];
    let token = fixture.api.issue_token("7", &scopes, Expiry::NEVER);
    let client = fixture.api.client(Some(token.expose_secret().into()));
    let (_, seen) = fixture.send(client.get("/forums")).await;
    for request in seen {
        assert_eq!(request.token_lookup(), Some(*token.lookup()));
        assert!(!format!("{request:?}").contains(token.expose_secret()));
    }
}

#[tokio::test]
async fn a_missing_client_address_or_user_agent_is_none() {
    let fixture = Fixture::new();
    let (_, seen) = fixture.send(fixture.api.as_guest().get("/forums")).await;
    for request in seen {
        assert_eq!((request.client_ip(), request.user_agent()), (None, None));
    }
}
