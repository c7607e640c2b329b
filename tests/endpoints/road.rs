//! What every endpoint that needs a token answers alike: its price, its headers, and who is refused before the board
//! is asked.

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

impl Request<'_> {
    /// That it costs and carries what it should, and that each refusal on the road comes as it should.
    pub fn keeps_to_the_road(&self) {
        let server = Server::new(&["--token-budget", &(3 * self.cost).to_string()]);
        let token = server.token_with(self.owner, self.scope);
        let answer = self.send(&server, Some(&token));
        assert_eq!(answer.status, self.success, "{answer:?}");
        self.carries_the_headers(&answer);
        self.refuses_strangers(&server);
        self.refuses_an_offline_board(&server, &token);
        assert_eq!(self.send(&server, Some(&token)).status, self.success);
        let spent = self.send(&server, Some(&token));
        assert_eq!((spent.status, &*spent.code()), (429, "rate_limited"));
        assert!((1..=300).contains(&number(&spent, "retry-after")));
        self.refuses_who_can_no_longer_act(&server);
    }

    fn carries_the_headers(&self, answer: &Answer) {
        assert_eq!(number(answer, "x-ratelimit-limit"), 3 * self.cost);
        assert_eq!(number(answer, "x-ratelimit-remaining"), 2 * self.cost);
        assert!(number(answer, "x-ratelimit-reset") > 1_700_000_000);
        for (name, value) in [
            ("content-type", "application/json"),
            ("cache-control", self.cache_control()),
            ("vary", "authorization"),
            ("x-content-type-options", "nosniff"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{name}");
        }
        assert!(answer.header("x-request-id").is_some());
    }

    fn cache_control(&self) -> &'static str {
        let is_private = ["/me", "/messages"]
            .iter()
            .any(|own| self.path.starts_with(own));
        if is_private {
            "no-store"
        } else {
            "private, no-cache"
        }
    }

    fn refuses_strangers(&self, server: &Server) {
        for token in [None, Some("forum_pat_x_y")] {
            let refused = self.send(server, token);
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

    fn refuses_an_offline_board(&self, server: &Server, token: &str) {
        assert_eq!(server.command(&["board", "offline"]).status, 0);
        let refused = self.send(server, Some(token));
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
