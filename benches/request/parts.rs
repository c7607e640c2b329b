//! The parts that any API needs: the token's digest and lookup, the owner's access, the charge, the board's page, its
//! JSON, and a response with as many headers.

use std::hint::black_box;

use bytes::Bytes;
use forum_api::host::{Authorizer as _, RequestInfo};
use forum_api::rate_limit::{Budget, RateLimitKey};
use forum_api::runtime::{Clock as _, SystemClock};
use forum_api::store::Stores;
use forum_api::token::{Lookup, PlainToken};
use http::{HeaderMap, Response};
use http_body_util::Full;

use crate::static_board::{BenchFixture, SMALL, StaticBoard, at_once, body, token};

/// The parts and their data.
pub struct Parts<'a> {
    board: &'a StaticBoard,
    stores: Stores,
    token: String,
    headers: HeaderMap,
    window: Budget,
}

impl<'a> Parts<'a> {
    pub fn new(board: &'a StaticBoard, fixture: &BenchFixture) -> Self {
        let stores = Stores::in_memory();
        Self {
            board,
            token: token(&stores),
            stores,
            headers: fixture.answer(fixture.request(SMALL)).headers().clone(),
            window: fixture.window,
        }
    }

    pub fn answer(&self) -> Response<Full<Bytes>> {
        let token = PlainToken::parse(&self.token).unwrap();
        at_once(self.admit(*token.lookup(), &token));
        let page = black_box(&self.board.small).clone();
        let body = body(&page);
        let mut response = Response::new(Full::new(body.into()));
        // Each header is hashed and inserted for each response.
        let headers = self.headers.iter();
        let headers = headers.map(|(name, value)| (name.clone(), value.clone()));
        response.headers_mut().extend(headers);
        response
    }

    async fn admit(&self, lookup: Lookup, token: &PlainToken) {
        let found = self.stores.tokens.find(&lookup).await.unwrap().unwrap();
        assert!(found.digest == token.digest());
        let now = SystemClock.now();
        let key = RateLimitKey::Token(lookup);
        let charge = self.stores.rate_limits.charge(&key, 1, self.window, now);
        assert!(charge.await.unwrap().allowed);
        let request = RequestInfo::new(now);
        let access = self.board.member_access(&found.owner, &request);
        black_box(access.await.unwrap().unwrap());
    }
}
