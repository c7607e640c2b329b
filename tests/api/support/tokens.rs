//! Tokens for the tests, as the panel issues them and as they may once have been stored.

use forum_api::model::UserId;
use forum_api::runtime::{Clock, OsRandom};
use forum_api::scope::Surface;
use forum_api::token::{IssueError, Lookup, PlainToken, TokenRecord, TokenRequest, issue_token};

use super::{Server, every_scope};

/// The public part of a token.
pub(crate) fn lookup(token: &str) -> Lookup {
    *PlainToken::parse(token).unwrap().lookup()
}

pub(crate) fn mint() -> PlainToken {
    PlainToken::generate(&OsRandom).unwrap()
}

impl Server {
    /// Issues a token of alice's as the panel does.
    pub(crate) async fn issue(
        &self,
        surface: Surface,
        scopes: &[&str],
        days: &str,
    ) -> Result<String, IssueError> {
        let owner = UserId::parse("alice").unwrap();
        let scopes: Vec<_> = scopes.iter().map(ToString::to_string).collect();
        let wanted = TokenRequest {
            owner: &owner,
            label: "laptop",
            scopes: &scopes,
            expires_in_days: days,
        };
        let tokens = &*self.stores.tokens;
        let issued = issue_token(tokens, &OsRandom, surface, wanted, self.clock.now());
        Ok(issued.await?.0.expose_secret().to_owned())
    }

    /// A token with every scope there ever was.
    pub(crate) async fn token(&self, owner: &str) -> String {
        self.token_with(owner, &every_scope().collect::<Vec<_>>())
            .await
    }

    /// A token with these scopes, as it was stored once, whatever the surface knows of them now.
    pub(crate) async fn token_with(&self, owner: &str, scopes: &[&str]) -> String {
        let token = mint();
        self.store(&token, &token, owner, scopes).await;
        token.expose_secret().to_owned()
    }

    /// A token whose lookup is known, but with another secret.
    pub(crate) async fn guessed_token(&self) -> String {
        let token = mint();
        self.store(&token, &mint(), "alice", &every_scope().collect::<Vec<_>>())
            .await;
        token.expose_secret().to_owned()
    }

    async fn store(&self, token: &PlainToken, secret: &PlainToken, owner: &str, scopes: &[&str]) {
        let record = TokenRecord {
            lookup: *token.lookup(),
            digest: secret.digest(),
            owner: UserId::parse(owner).unwrap(),
            label: "test".into(),
            scopes: scopes.iter().map(ToString::to_string).collect(),
            created_at: self.clock.now(),
            expires_at: None,
            revoked_at: None,
            last_used_at: None,
        };
        assert!(self.stores.tokens.create(&record).await.unwrap());
    }
}
