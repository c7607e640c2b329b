//! Query for a token and its owner's access.

use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::Row;
use super::query::Query;
use crate::board::actor::LOAD_TOKEN;
use crate::board::db::Bound;

/// A token and its owner, by the token's lookup.
pub struct Token {
    lookup: String,
    sql: &'static str,
}

impl Token {
    pub fn of(headers: &HeaderMap, is_postgres: bool) -> Self {
        let text = headers[AUTHORIZATION].to_str().unwrap();
        let [sqlite, postgres] = LOAD_TOKEN;
        Self {
            lookup: text["Bearer forum_pat_".len()..][..16].to_owned(),
            sql: if is_postgres { postgres } else { sqlite },
        }
    }
}

impl Query for Token {
    /// The names of the scopes and the id of the owner.
    type Item = (String, Option<i64>);
    type Wire = ();

    fn sql(&self) -> &'static str {
        self.sql
    }

    fn bound(&self) -> Vec<Bound<'_>> {
        vec![(":lookup", &self.lookup)]
    }

    fn read<R: Row>(row: &R) -> Self::Item {
        (row.value(4), row.value(9))
    }

    fn wire(&self, items: Vec<Self::Item>) {
        let (scopes, owner) = &items[0];
        assert!(owner.is_some() && scopes.contains("posts:read"));
    }
}
