//! Tokens.

use super::*;
use crate::model::UserId;
use crate::token::{Lookup, SecretDigest, TokenRecord};

store_rules! {
    mod tokens;

    /// Every field is stored.
    async fn a_created_token_is_found_unchanged(fixture: &StoreFixture) -> TestResult {
        let every_field = TokenRecord {
            digest: SecretDigest::new(std::array::from_fn(|place| place as u8)),
            owner: UserId::parse("a_Member-01").unwrap_or(UserId::from(4)),
            label: "Bob's \"laptop\", ☎\n".into(),
            scopes: ["a:b", "", "c d,e"].map(str::to_owned).into(),
            created_at: instant(1),
            expires_at: Some(instant(2)),
            revoked_at: Some(instant(3)),
            last_used_at: Some(instant(-4)),
            ..token(2)?
        };
        let no_scope = TokenRecord { scopes: [].into(), ..token(3)? };
        for token in [token(1)?, every_field, no_scope] {
            create(fixture, &token).await?;
            check_eq!(find(fixture, &token.lookup).await?, Some(token))?;
        }
        Ok(())
    }

    /// A second token with the same lookup is refused, and changes nothing.
    async fn a_lookup_is_unique(fixture: &StoreFixture) -> TestResult {
        create(fixture, &token(1)?).await?;
        let second = TokenRecord { label: "second".into(), ..token(1)? };
        check!(!fixture.stores.tokens.create(&second).await?)?;
        check_eq!(find(fixture, &lookup(1)?).await?, Some(token(1)?))
    }

    /// Of any number of tokens with one lookup at once, one is created.
    async fn one_of_concurrent_creations_succeeds(fixture: &StoreFixture) -> TestResult {
        let token = token(1)?;
        let calls = repeat_n((fixture.stores.tokens.clone(), token.clone()), 20)
            .map(|(tokens, token)| async move { tokens.create(&token).await });
        let mut created = 0;
        for one in fixture.race(calls).await {
            created += u32::from(one?);
        }
        check_eq!(created, 1)
    }

    /// An unknown token is absent, which is not an error.
    async fn an_unknown_token_is_not_found(fixture: &StoreFixture) -> TestResult {
        create(fixture, &token(1)?).await?;
        check_eq!(find(fixture, &lookup(2)?).await?, None)
    }

    /// A second revocation keeps the first time, whatever the order of the times.
    async fn the_first_revocation_time_is_kept(fixture: &StoreFixture) -> TestResult {
        create(fixture, &token(1)?).await?;
        create(fixture, &token(2)?).await?;
        for time in [10, 5, 20] {
            check!(fixture.stores.tokens.revoke(&lookup(1)?, instant(time)).await?)?;
        }
        let revoked = TokenRecord { revoked_at: Some(instant(10)), ..token(1)? };
        check_eq!(find(fixture, &lookup(1)?).await?, Some(revoked))?;
        check_eq!(find(fixture, &lookup(2)?).await?, Some(token(2)?))
    }

    /// The revocation of an unknown token reports that it is absent, and creates nothing.
    async fn an_unknown_token_cannot_be_revoked(fixture: &StoreFixture) -> TestResult {
        check!(!fixture.stores.tokens.revoke(&lookup(1)?, instant(10)).await?)?;
        check_eq!(find(fixture, &lookup(1)?).await?, None)
    }

    /// A use is recorded unless another was recorded within the minute before, and never for an unknown token.
    async fn a_use_is_recorded_once_a_minute(fixture: &StoreFixture) -> TestResult {
        create(fixture, &token(1)?).await?;
        for (used, recorded) in [
            (0, 0),
            (59_999, 0),
            (60_000, 60_000),
            (30_000, 60_000),
            (-90_000, 60_000),
            (119_999, 60_000),
            (500_000, 500_000),
        ] {
            use_token(fixture, &lookup(1)?, used).await?;
            let token = TokenRecord { last_used_at: Some(instant(recorded)), ..token(1)? };
            check_eq!(find(fixture, &lookup(1)?).await?, Some(token), "after a use at {used}")?;
        }
        use_token(fixture, &lookup(2)?, 0).await?;
        check_eq!(find(fixture, &lookup(2)?).await?, None)
    }

    /// A list is paged from the newest to the oldest token, and by descending lookups among tokens of one creation time. It
    /// begins behind any position, whether a token has it or not.
    async fn tokens_are_listed_newest_first(fixture: &StoreFixture) -> TestResult {
        let newest: Vec<_> = [
            (9, "00000000000000Z0"),
            (5, "a000000000000000"),
            (5, "Zzzzzzzzzzzzzzzz"),
            (5, "0000000000000001"),
            (-7, "zzzzzzzzzzzzzzzz"),
        ]
        .into_iter()
        .filter_map(|(created_at, text)| Some((instant(created_at), Lookup::parse(text)?)))
        .collect();
        let shuffled = [3, 0, 4, 2, 1].into_iter().filter_map(|place| newest.get(place).copied());
        for (created_at, lookup) in shuffled {
            create(fixture, &TokenRecord { created_at, lookup, ..token(1)? }).await?;
        }
        let after = |place: usize| newest.get(place).copied();
        for (after, limit, skipped, count) in [
            (None, 2, 0, 2),
            (after(0), 2, 1, 2),
            (after(1), 2, 2, 2),
            (after(3), 2, 4, 1),
            (after(4), 2, 5, 0),
            (Some((instant(5), lookup(2)?)), u32::MAX, 3, 2),
            (Some((instant(6), lookup(2)?)), u32::MAX, 1, 4),
            (None, 0, 0, 0),
        ] {
            let page = fixture.stores.tokens.list(after, limit).await?.into_iter();
            let found: Vec<_> = page.map(|token| (token.created_at, token.lookup)).collect();
            let expected: Vec<_> = newest.iter().skip(skipped).take(count).copied().collect();
            check_eq!(found, expected, "up to {limit} after {after:?}")?;
        }
        Ok(())
    }
}

fn token(number: u64) -> TestResult<TokenRecord> {
    Ok(TokenRecord {
        lookup: lookup(number)?,
        digest: SecretDigest::new([7; 32]),
        owner: UserId::from(3),
        label: String::new(),
        scopes: ["forums:read".to_owned()].into(),
        created_at: instant(0),
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
    })
}

async fn create(fixture: &StoreFixture, token: &TokenRecord) -> TestResult {
    check!(fixture.stores.tokens.create(token).await?)
}

async fn find(fixture: &StoreFixture, lookup: &Lookup) -> TestResult<Option<TokenRecord>> {
    Ok(fixture.stores.tokens.find(lookup).await?)
}

/// Records a use, which the store may write later: a revocation with a result is written after it.
async fn use_token(fixture: &StoreFixture, token: &Lookup, now: i64) -> TestResult {
    fixture
        .stores
        .tokens
        .record_use(token, instant(now))
        .await?;
    check!(
        !fixture
            .stores
            .tokens
            .revoke(&lookup(99)?, instant(0))
            .await?
    )
}
