//! Tokens in the board's own tables.

use std::time::Duration;

use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::Tokens;
use forum_api::token::TokenState;

use crate::database::try_in_postgres;
use crate::site::Site;

#[test]
fn a_token_works_until_it_is_revoked() {
    try_in_postgres(async {
        let site = Site::new(Duration::ZERO).await;
        let (tokens, lookup) = (site.tokens(), site.token.lookup());
        let issued = tokens.find(lookup).await.unwrap().unwrap();
        assert_eq!(issued.owner, site.alice.into());
        assert_eq!(
            (issued.digest, issued.last_used_at),
            (site.token.digest(), None)
        );

        assert_eq!(site.list(1).await.status, 200);
        let used = tokens.find(lookup).await.unwrap().unwrap();
        assert!(used.last_used_at.is_some());

        let now = SystemClock.now();
        assert!(tokens.revoke(lookup, now).await.unwrap());
        assert_eq!(site.list(1).await.status, 401);
        let revoked = tokens.list(None, 9).await.unwrap();
        let states: Vec<_> = revoked.iter().map(|token| token.state(now)).collect();
        assert_eq!(states, [TokenState::Revoked]);
    });
}
