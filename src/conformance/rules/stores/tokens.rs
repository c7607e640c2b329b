//! Tokens.

use super::*;
use crate::model::UserId;
use crate::store::{TokenFilter, TokenSearch, TokenStateFilter};
use crate::token::{Lookup, SecretDigest, TokenRecord, TokenState};

store_rules! {
    mod tokens, __rules_tokens;

    /// A created token is found with all fields unchanged.
    async fn a_created_token_is_found_unchanged(fixture: &StoreFixture) -> TestResult {
        let every_field = TokenRecord {
            digest: SecretDigest::new(std::array::from_fn(|index| index as u8)),
            owner: UserId::parse("a_Member-01")?,
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

    /// Creating a second token with the same lookup is rejected and changes nothing.
    async fn a_lookup_is_unique(fixture: &StoreFixture) -> TestResult {
        create(fixture, &token(1)?).await?;
        let second = TokenRecord { label: "second".into(), ..token(1)? };
        check!(!fixture.stores.tokens.create(&second, &audit_entry()).await?)?;
        check_eq!(find(fixture, &lookup(1)?).await?, Some(token(1)?))
    }

    /// Exactly one of several concurrent creations with one lookup succeeds.
    async fn one_of_concurrent_creations_succeeds(fixture: &StoreFixture) -> TestResult {
        let token = token(1)?;
        let calls = repeat_n((fixture.stores.tokens.clone(), token.clone()), 20)
            .map(|(tokens, token)| async move { tokens.create(&token, &audit_entry()).await });
        let created = succeed_concurrently(calls).await?;
        check_eq!(created.iter().filter(|created| **created).count(), 1)
    }

    /// An unknown token is not found, without an error.
    async fn an_unknown_token_is_not_found(fixture: &StoreFixture) -> TestResult {
        create(fixture, &token(1)?).await?;
        check_eq!(find(fixture, &lookup(2)?).await?, None)
    }

    /// A second revocation keeps the first time, in any order of times.
    async fn the_first_revocation_time_is_kept(fixture: &StoreFixture) -> TestResult {
        create(fixture, &token(1)?).await?;
        create(fixture, &token(2)?).await?;
        for time in [10, 5, 20] {
            check!(fixture.stores.tokens.revoke(&lookup(1)?, instant(time), &audit_entry()).await?)?;
        }
        let revoked = TokenRecord { revoked_at: Some(instant(10)), ..token(1)? };
        check_eq!(find(fixture, &lookup(1)?).await?, Some(revoked))?;
        check_eq!(find(fixture, &lookup(2)?).await?, Some(token(2)?))
    }

    /// Revoking an unknown token returns `false` and creates nothing.
    async fn an_unknown_token_cannot_be_revoked(fixture: &StoreFixture) -> TestResult {
        check!(!fixture.stores.tokens.revoke(&lookup(1)?, instant(10), &audit_entry()).await?)?;
        check_eq!(find(fixture, &lookup(1)?).await?, None)
    }

    /// A change of a label changes nothing else. The label of an unknown token cannot be changed.
    async fn a_label_is_changed(fixture: &StoreFixture) -> TestResult {
        create(fixture, &token(1)?).await?;
        create(fixture, &token(2)?).await?;
        let tokens = &fixture.stores.tokens;
        check!(tokens.set_label(&lookup(1)?, "Zoë's \"phone\"", &audit_entry()).await?)?;
        check!(!tokens.set_label(&lookup(3)?, "x", &audit_entry()).await?)?;
        let changed = TokenRecord { label: "Zoë's \"phone\"".into(), ..token(1)? };
        check_eq!(find(fixture, &lookup(1)?).await?, Some(changed))?;
        check_eq!(find(fixture, &lookup(2)?).await?, Some(token(2)?))?;
        check_eq!(find(fixture, &lookup(3)?).await?, None)
    }

    /// A use is recorded unless another use was recorded less than a minute before or after it. A use of an unknown token is not
    /// recorded.
    async fn a_use_is_recorded_once_a_minute(fixture: &StoreFixture) -> TestResult {
        create(fixture, &token(1)?).await?;
        for (used, recorded) in [
            (0, 0),
            (59_999, 0),
            (60_000, 60_000),
            (30_000, 60_000),
            (1, 60_000),
            (119_999, 60_000),
            (500_000, 500_000),
            // A clock that was ahead recorded the last use.
            (440_001, 500_000),
            (440_000, 440_000),
        ] {
            use_token(fixture, &lookup(1)?, used).await?;
            let token = TokenRecord { last_used_at: Some(instant(recorded)), ..token(1)? };
            check_eq!(find(fixture, &lookup(1)?).await?, Some(token), "the token after a use at {used}")?;
        }
        use_token(fixture, &lookup(2)?, 0).await?;
        check_eq!(find(fixture, &lookup(2)?).await?, None)
    }

    /// A purge removes up to the given number of tokens that expired or were revoked before the given time, and no other
    /// token.
    async fn old_expired_and_revoked_tokens_are_purged(fixture: &StoreFixture) -> TestResult {
        let ended = |number, expires_at: Option<i64>, revoked_at: Option<i64>| -> TestResult<TokenRecord> {
            let (expires_at, revoked_at) = (expires_at.map(instant), revoked_at.map(instant));
            Ok(TokenRecord { expires_at, revoked_at, ..token(number)? })
        };
        let kept = [ended(1, None, None)?, ended(2, Some(10), None)?, ended(3, Some(11), Some(10))?];
        let old = [ended(4, Some(9), None)?, ended(5, None, Some(9))?, ended(6, Some(99), Some(-9))?];
        for token in kept.iter().chain(&old) {
            create(fixture, token).await?;
        }
        let tokens = &fixture.stores.tokens;
        for (limit, expected) in [(0, 0), (2, 2), (2, 1), (2, 0)] {
            check_eq!(tokens.purge(instant(10), limit, &audit_entry()).await?, expected)?;
        }
        let all = TokenFilter { limit: u32::MAX, ..TokenFilter::default() };
        let mut left: Vec<_> = tokens.list(&all, instant(0)).await?.into_iter().map(|token| token.lookup).collect();
        left.sort_unstable();
        let mut expected = kept.map(|token| token.lookup);
        expected.sort_unstable();
        check_eq!(left, expected)?;
        for token in old {
            check_eq!(find(fixture, &token.lookup).await?, None)?;
            create(fixture, &token).await?;
        }
        Ok(())
    }

    /// Tokens are listed newest first, and by descending lookup for equal times. A page starts after any position, even
    /// one without a token.
    async fn tokens_are_listed_newest_first(fixture: &StoreFixture) -> TestResult {
        let newest: Vec<_> = [
            (9, "00000000000000Z0"),
            (5, "a000000000000000"),
            (5, "Zzzzzzzzzzzzzzzz"),
            (5, "0000000000000001"),
            (-7, "zzzzzzzzzzzzzzzz"),
        ]
        .into_iter()
        .filter_map(|(created_at, text)| Some((instant(created_at), Lookup::parse(text).ok()?)))
        .collect();
        let shuffled = [3, 0, 4, 2, 1].into_iter().filter_map(|index| newest.get(index).copied());
        for (created_at, lookup) in shuffled {
            create(fixture, &TokenRecord { created_at, lookup, ..token(1)? }).await?;
        }
        let after = |index: usize| newest.get(index).copied();
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
            let filter = TokenFilter { after, limit, ..TokenFilter::default() };
            let page = fixture.stores.tokens.list(&filter, instant(0)).await?.into_iter();
            let actual: Vec<_> = page.map(|token| (token.created_at, token.lookup)).collect();
            let expected: Vec<_> = newest.iter().skip(skipped).take(count).copied().collect();
            check_eq!(actual, expected, "tokens of a page of {limit} after {after:?}")?;
        }
        Ok(())
    }

    /// A list contains the tokens of the filter's owner in its states at the given time, also in pages. A token is expired
    /// from the instant of its expiry time on.
    async fn tokens_are_filtered_by_owner_and_state(fixture: &StoreFixture) -> TestResult {
        let mut all = Vec::new();
        for number in 0..36 {
            let time = |set: bool, millis| set.then(|| instant(millis));
            let token = TokenRecord {
                owner: UserId::from(number as i64 % 2),
                created_at: instant(number as i64 / 2),
                expires_at: time(number % 3 > 0, 99 + number as i64 % 3),
                revoked_at: time(number % 4 == 3, 50),
                ..token(number)?
            };
            create(fixture, &token).await?;
            all.push(token);
        }
        all.sort_unstable_by_key(|token| std::cmp::Reverse((token.created_at, token.lookup)));
        for owner in [None, Some(UserId::from(1)), Some(UserId::from(7))] {
            for (states, included) in [
                (TokenStateFilter::Any, &[TokenState::Valid, TokenState::Expired, TokenState::Revoked][..]),
                (TokenStateFilter::NotRevoked, &[TokenState::Valid, TokenState::Expired]),
                (TokenStateFilter::ExpiringSoon, &[TokenState::Valid]),
                (TokenStateFilter::Only(TokenState::Valid), &[TokenState::Valid]),
                (TokenStateFilter::Only(TokenState::Expired), &[TokenState::Expired]),
                (TokenStateFilter::Only(TokenState::Revoked), &[TokenState::Revoked]),
            ] {
                let soon = TokenStateFilter::SOON.as_millis() as i64;
                for now in [99 - soon, 100 - soon, 99, 100, 101] {
                    let soon_ends = instant(now).saturating_add(TokenStateFilter::SOON);
                    let has_expiry = |token: &TokenRecord| {
                        states != TokenStateFilter::ExpiringSoon || token.expires_at.is_some_and(|at| at <= soon_ends)
                    };
                    let filter = TokenFilter { owner: owner.clone(), states, limit: 4, ..TokenFilter::default() };
                    let expected: Vec<_> = all.iter().filter(|token| {
                        owner.as_ref().is_none_or(|owner| *owner == token.owner)
                            && included.contains(&token.state(instant(now)))
                            && has_expiry(token)
                    }).map(|token| token.lookup).collect();
                    check_eq!(list_all(fixture, filter.clone(), now).await?, expected, "{filter:?} at {now}")?;
                }
            }
        }
        Ok(())
    }

    /// A search finds a token if its label contains the text in any case of ASCII letters, if its lookup begins with
    /// the text, or if it belongs to the given owner. Characters that are wildcards in SQL have no special meaning.
    async fn tokens_are_found_by_label_lookup_and_owner(fixture: &StoreFixture) -> TestResult {
        let number = UserId::from(3);
        let bob = UserId::from(4);
        for (lookup, label, owner) in [
            ("AAAAAAAAAAAAAAA1", "Deploy bot", &number),
            ("aaaaaaaaaaaaaaa2", "deploy_bot É", &number),
            ("BAAAAAAAAAAAAAA3", "100% 'quoted'", &bob),
            ("C000000000000004", "", &bob),
        ] {
            let lookup = Lookup::parse(lookup)?;
            let label = label.to_owned();
            create(fixture, &TokenRecord { lookup, label, owner: owner.clone(), ..token(1)? }).await?;
        }
        for (text, owner, expected) in [
            ("", None, &["aa", "C0", "BA", "AA"][..]),
            ("DEPLOY", None, &["aa", "AA"]),
            ("y_b", None, &["aa"]),
            ("t é", None, &[]),
            ("t É", None, &["aa"]),
            ("%", None, &["BA"]),
            ("'QUOTED'", None, &["BA"]),
            ("AAAA", None, &["AA"]),
            ("aaaaaaaaaaaaaaa2", None, &["aa"]),
            ("AAAAAAAAAAAAAAA12", None, &[]),
            ("000", None, &[]),
            ("nothing", Some(&bob), &["C0", "BA"]),
            ("deploy bot", Some(&bob), &["C0", "BA", "AA"]),
        ] {
            for only in [None, Some(&bob)] {
                let search = Some(TokenSearch { text: text.into(), owner: owner.cloned() });
                let states = TokenStateFilter::NotRevoked;
                let filter = TokenFilter { owner: only.cloned(), states, search, after: None, limit: 2 };
                let tokens = list_all(fixture, filter, 0).await?;
                let found: Vec<_> = tokens.iter().filter_map(|lookup| lookup.as_str().get(..2)).collect();
                let of_owner = |begin: &&&str| only.is_none() || ["BA", "C0"].contains(*begin);
                let expected: Vec<_> = expected.iter().filter(of_owner).copied().collect();
                check_eq!(found, expected, "{text:?} of {owner:?}, only {only:?}")?;
            }
        }
        Ok(())
    }
}

async fn create(fixture: &StoreFixture, token: &TokenRecord) -> TestResult {
    check!(fixture.stores.tokens.create(token, &audit_entry()).await?)
}

/// Lists the lookups of all pages.
async fn list_all(
    fixture: &StoreFixture,
    mut filter: TokenFilter,
    now: i64,
) -> TestResult<Vec<Lookup>> {
    let mut listed = Vec::new();
    loop {
        let page = fixture.stores.tokens.list(&filter, instant(now)).await?;
        let Some(last) = page.last() else {
            return Ok(listed);
        };
        filter.after = Some((last.created_at, last.lookup));
        listed.extend(page.iter().map(|token| token.lookup));
    }
}

async fn find(fixture: &StoreFixture, lookup: &Lookup) -> TestResult<Option<TokenRecord>> {
    Ok(fixture.stores.tokens.find(lookup).await?)
}

/// Records a use. The store may write it later, so a revocation follows, which the store writes afterwards.
async fn use_token(fixture: &StoreFixture, token: &Lookup, now: i64) -> TestResult {
    let tokens = &fixture.stores.tokens;
    tokens.record_use(token, instant(now)).await?;
    let unknown = lookup(99)?;
    check!(!tokens.revoke(&unknown, instant(0), &audit_entry()).await?)
}
