//! Queries for the token's owner and the owner's access.

use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::Row;
use super::query::Query;
use crate::board::db::Bound;

/// A token, by its lookup.
pub struct Token(String);

/// A member, by id.
pub struct Member(pub i64);

impl Token {
    pub fn of(headers: &HeaderMap) -> Self {
        let text = headers[AUTHORIZATION].to_str().unwrap();
        Self(text["Bearer forum_pat_".len()..][..16].to_owned())
    }
}

impl Query for Token {
    type Item = [String; 2];
    type Wire = i64;

    fn sql(&self) -> &'static str {
        "SELECT owner, scopes FROM forum_api_tokens WHERE lookup = :lookup"
    }

    fn bound(&self) -> Vec<Bound<'_>> {
        vec![(":lookup", &self.0)]
    }

    fn read<R: Row>(row: &R) -> [String; 2] {
        [row.value(0), row.value(1)]
    }

    fn wire(&self, items: Vec<[String; 2]>) -> i64 {
        items[0][0].parse().unwrap()
    }
}

impl Query for Member {
    type Item = (i64, bool);
    type Wire = ();

    fn sql(&self) -> &'static str {
        include_str!("../../../examples/server/src/board/actor.sql")
    }

    fn bound(&self) -> Vec<Bound<'_>> {
        vec![(":member", &self.0)]
    }

    fn read<R: Row>(row: &R) -> (i64, bool) {
        (row.value(3), row.value(8))
    }

    fn wire(&self, _: Vec<(i64, bool)>) {}
}
