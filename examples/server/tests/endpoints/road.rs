//! What every endpoint answers alike: its price, its headers, and who is refused before the board is asked.

use serde_json::Value;

use crate::client::{Answer, send};
use crate::program::Server;

/// A request that `owner` makes with success.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub body: &'a str,
    pub owner: &'a str,
    pub scope: &'a str,
    pub cost: i64,
    pub success: u16,
}

/// What is no token.
const MALFORMED: &str = "forum_pat_x_y";

impl Request<'_> {
    /// That it costs and carries what it should, and that each refusal on the road comes as it should.
    pub fn keeps_to_the_road(&self) {
        self.keeps_to_the_road_after(|_| {});
    }

    /// The same on a board that was prepared for it, for a request that may succeed but once.
    pub fn keeps_to_the_road_after(&self, prepare: impl FnOnce(&Server)) {
        self.keeps_to_the_road_but_for(&[None, Some(MALFORMED)], prepare);
    }

    /// The same of an endpoint that answers guests as well, who are not served on an offline board.
    pub fn keeps_to_the_open_road(&self) {
        self.keeps_to_the_road_but_for(&[Some(MALFORMED)], |server| {
            let answer = self.send(server, None);
            assert_eq!(answer.status, self.success, "{answer:?}");
            assert_eq!(number(&answer, "x-ratelimit-limit"), 120);
            assert_eq!(number(&answer, "x-ratelimit-remaining"), 120 - self.cost);
            self.refuses_an_offline_board(server, None);
        });
    }

    fn keeps_to_the_road_but_for(&self, strangers: &[Option<&str>], prepare: impl FnOnce(&Server)) {
        let server = Server::new(&["--token-budget", &(3 * self.cost).to_string()]);
        prepare(&server);
        let token = server.token_with(self.owner, self.scope);
        let answer = self.send(&server, Some(&token));
        assert_eq!(answer.status, self.success, "{answer:?}");
        self.carries_the_headers(&answer);
        self.refuses_strangers(&server, strangers);
        self.refuses_an_offline_board(&server, Some(&token));
        let reaches_the_board = self.send(&server, Some(&token)).status;
        assert!(![401, 403, 429, 503].contains(&reaches_the_board));
        let spent = self.send(&server, Some(&token));
        assert_eq!((spent.status, &*spent.code()), (429, "rate_limited"));
        assert!((1..=300).contains(&number(&spent, "retry-after")));
        self.refuses_who_can_no_longer_act(&server);
    }

    fn carries_the_headers(&self, answer: &Answer) {
        assert_eq!(number(answer, "x-ratelimit-limit"), 3 * self.cost);
        assert_eq!(number(answer, "x-ratelimit-remaining"), 2 * self.cost);
        assert!(number(answer, "x-ratelimit-reset") > 1_700_000_000);
        let content_type = (self.success != 204).then_some("application/json");
        assert_eq!(answer.header("content-type"), content_type);
        for (name, value) in [
            ("cache-control", self.cache_control()),
            ("vary", "authorization"),
            ("x-content-type-options", "nosniff"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{name}");
        }
        assert!(answer.header("x-request-id").is_some());
    }

    fn cache_control(&self) -> &'static str {
        let is_private = self.path == "/me" || self.path.starts_with("/messages");
        if is_private {
            "no-store"
        } else {
            "private, no-cache"
        }
    }

    fn refuses_strangers(&self, server: &Server, strangers: &[Option<&str>]) {
        for token in strangers {
            let refused = self.send(server, *token);
            assert_eq!((refused.status, &*refused.code()), (401, "unauthenticated"));
            assert_eq!(refused.header("www-authenticate"), Some("bearer"));
        }
        let scopes = server.get(&server.token(self.owner), "/me").json()["scopes"].clone();
        let others = scopes
            .as_array()
            .unwrap()
            .iter()
            .map(|scope| scope.as_str().unwrap());
        let others: Vec<_> = others.filter(|scope| *scope != self.scope).collect();
        assert_eq!(others.len(), 12);
        let refused = self.send(
            server,
            Some(&server.token_with(self.owner, &others.join(","))),
        );
        assert_eq!((refused.status, &*refused.code()), (403, "missing_scope"));
    }

    fn refuses_an_offline_board(&self, server: &Server, token: Option<&str>) {
        assert_eq!(server.command(&["board", "offline"]).status, 0);
        let refused = self.send(server, token);
        assert_eq!((refused.status, &*refused.code()), (503, "board_offline"));
        assert_eq!(server.command(&["board", "online"]).status, 0);
    }

    fn refuses_who_can_no_longer_act(&self, server: &Server) {
        let token = server.token_with(self.owner, self.scope);
        assert_eq!(server.command(&["member", "ban", self.owner]).status, 0);
        let refused = self.send(server, Some(&token));
        assert_eq!(
            (refused.status, &*refused.code()),
            (403, "owner_unavailable")
        );
    }

    fn send(&self, server: &Server, token: Option<&str>) -> Answer {
        let bearer = token.map(|token| format!("Bearer {token}"));
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(
            bearer
                .iter()
                .map(|bearer| ("authorization", bearer.as_str())),
        );
        send(self.method, &server.api(self.path), &headers, self.body)
    }
}

/// What a refusal is.
pub fn refusal(answer: &Answer) -> (u16, String) {
    (answer.status, answer.code())
}

/// A header that holds a number.
pub fn number(answer: &Answer, name: &str) -> i64 {
    answer.header(name).unwrap().parse().unwrap()
}

/// One field of every item of a list.
pub fn all(answer: &Answer, field: &str) -> Vec<Value> {
    let list = answer.json();
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item[field].clone()).collect()
}
