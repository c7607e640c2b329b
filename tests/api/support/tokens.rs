//! Tokens for the tests.

use forum_api::host::BoxError;
use forum_api::runtime::OsRandom;
use forum_api::test_util::audit_entry;
use forum_api::token::{Expiry, Lookup, PlainToken, TokenRecord, TokenRequest, issue_token};

use super::*;

/// Returns the public part of a token.
pub(crate) fn lookup(token: &str) -> Lookup {
    *PlainToken::parse(token).unwrap().lookup()
}

pub(crate) fn generate() -> PlainToken {
    PlainToken::generate(&OsRandom).unwrap()
}

impl Server {
    /// Issues a token for alice as the control panel does.
    pub(crate) async fn issue(
        &self,
        surface: Surface,
        scopes: &[&str],
        days: &str,
    ) -> Result<String, BoxError> {
        let owner = UserId::parse("alice").unwrap();
        let parsed: Result<Vec<_>, _> = scopes.iter().copied().map(Scope::parse).collect();
        let scopes = parsed?;
        let request =
            TokenRequest::new(&owner, &scopes).label("laptop").expiry(Expiry::parse(days)?);
        let tokens = &*self.stores.tokens;
        Ok(issue_token(tokens, &OsRandom, surface, request, self.clock.now())
            .await?
            .0
            .expose_secret()
            .to_owned())
    }

    /// Stores a token with every scope.
    pub(crate) async fn token(&self, owner: &str) -> String {
        self.token_with(owner, &every_scope().collect::<Vec<_>>()).await
    }

    /// Stores a token with these scopes, which the surface need not have.
    pub(crate) async fn token_with(&self, owner: &str, scopes: &[&str]) -> String {
        let token = generate();
        self.store(&token, &token, owner, scopes).await;
        token.expose_secret().to_owned()
    }

    /// Returns a revoked, an expired, an unknown and a wrong token. Advances the clock by a day.
    pub(crate) async fn invalid_tokens(&self) -> [String; 4] {
        let revoked = self.token("alice").await;
        let tokens = &self.stores.tokens;
        let now = self.clock.now();
        let is_revoked = tokens.revoke(&lookup(&revoked), now, &audit_entry()).await.unwrap();
        assert!(is_revoked);
        let expired = self.issue(Surface::Full, &FULL_SCOPES, "1").await.unwrap();
        self.clock.advance(Duration::from_secs(86_400));
        let unknown = generate().expose_secret().to_owned();
        [revoked, expired, unknown, self.guessed_token().await]
    }

    /// Returns a token whose lookup is stored with another secret.
    pub(crate) async fn guessed_token(&self) -> String {
        let token = generate();
        let scopes: Vec<_> = every_scope().collect();
        self.store(&token, &generate(), "alice", &scopes).await;
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
        let tokens = &self.stores.tokens;
        assert!(tokens.create(&record, &audit_entry()).await.unwrap());
    }
}
