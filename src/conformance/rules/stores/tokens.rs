//! Tokens.

use super::Shelf;
use super::store_fixture::{at, lookup};
use super::{Stop, Verdict, equal};
use crate::model::UserId;
use crate::token::{Digest, Lookup, TokenRecord};

store_rules!(
    mod tokens;

    /// Every field comes back as it was created.
    async fn what_is_created_is_found_whole(shelf: &Shelf) -> Verdict {
        let every_field = TokenRecord {
            digest: Digest::new(std::array::from_fn(|place| place as u8)),
            owner: UserId::new("a_Member-01").unwrap_or(UserId::from(4)),
            label: "Bob's \"laptop\", ☎\n".into(),
            scopes: ["a:b", "", "c d,e"].map(str::to_owned).into(),
            created_at: at(1),
            expires_at: Some(at(2)),
            revoked_at: Some(at(3)),
            last_used_at: Some(at(-4)),
            ..token(2)?
        };
        let no_scope = TokenRecord {
            scopes: [].into(),
            ..token(3)?
        };
        for token in [token(1)?, every_field, no_scope] {
            create(shelf, &token).await?;
            equal("the token", found(shelf, &token.lookup).await?, token)?;
        }
        Ok(())
    }

    /// The second token with a lookup is refused, and changes nothing.
    async fn a_lookup_is_taken_once(shelf: &Shelf) -> Verdict {
        create(shelf, &token(1)?).await?;
        let second = TokenRecord {
            label: "second".into(),
            ..token(1)?
        };
        let created = shelf.stores.tokens.create(&second).await?;
        equal("whether the second was created", created, false)?;
        equal("the token", found(shelf, &lookup(1)?).await?, token(1)?)
    }

    /// Of any number that come at once with one lookup, one alone is created.
    async fn a_lookup_is_taken_once_however_many_race(shelf: &Shelf) -> Verdict {
        let token = token(1)?;
        let works = (0..20).map(|_| {
            let (tokens, token) = (shelf.stores.tokens.clone(), token.clone());
            async move { tokens.create(&token).await }
        });
        let mut created = 0;
        for one in shelf.race(works).await {
            created += u32::from(one?);
        }
        equal("how many were created", created, 1)
    }

    /// What was never created is absent, which is no error.
    async fn what_was_never_created_is_absent(shelf: &Shelf) -> Verdict {
        create(shelf, &token(1)?).await?;
        let found = shelf.stores.tokens.find(&lookup(2)?).await?;
        equal("the token", found, None)
    }

    /// Revoking twice keeps the first time, whatever the order of the times.
    async fn the_first_revocation_stands(shelf: &Shelf) -> Verdict {
        create(shelf, &token(1)?).await?;
        create(shelf, &token(2)?).await?;
        for time in [10, 5, 20] {
            let revoked = shelf.stores.tokens.revoke(&lookup(1)?, at(time)).await?;
            equal("whether there is one to revoke", revoked, true)?;
        }
        let revoked = found(shelf, &lookup(1)?).await?.revoked_at;
        equal("when it was revoked", revoked, Some(at(10)))?;
        equal(
            "the other token",
            found(shelf, &lookup(2)?).await?,
            token(2)?,
        )
    }

    /// Revoking what is absent says so, and creates nothing.
    async fn what_is_absent_is_not_revoked(shelf: &Shelf) -> Verdict {
        let revoked = shelf.stores.tokens.revoke(&lookup(1)?, at(10)).await?;
        equal("whether there was one", revoked, false)?;
        let found = shelf.stores.tokens.find(&lookup(1)?).await?;
        equal("the token", found, None)
    }

    /// A use is noted unless one within the minute before it is, and never for what is absent.
    async fn a_use_is_noted_once_a_minute(shelf: &Shelf) -> Verdict {
        create(shelf, &token(1)?).await?;
        for (used, noted) in [
            (0, 0),
            (59_999, 0),
            (60_000, 60_000),
            (30_000, 60_000),
            (-90_000, 60_000),
            (119_999, 60_000),
            (500_000, 500_000),
        ] {
            shelf.stores.tokens.used(&lookup(1)?, at(used)).await?;
            after_what_is_queued(shelf).await?;
            let last = found(shelf, &lookup(1)?).await?.last_used_at;
            equal(
                format_args!("the last use, after one at {used}"),
                last,
                Some(at(noted)),
            )?;
        }
        shelf.stores.tokens.used(&lookup(2)?, at(0)).await?;
        after_what_is_queued(shelf).await?;
        equal(
            "the token",
            shelf.stores.tokens.find(&lookup(2)?).await?,
            None,
        )
    }

    /// A list is paged from the newest to the oldest token, and by descending lookups among tokens of one creation time. It
    /// begins behind any position, whether a token has it or not.
    async fn a_list_is_paged_from_the_newest_to_the_oldest(shelf: &Shelf) -> Verdict {
        let mut in_order = Vec::new();
        for (created_at, text) in [
            (9, "00000000000000Z0"),
            (5, "a000000000000000"),
            (5, "Zzzzzzzzzzzzzzzz"),
            (5, "0000000000000001"),
            (-7, "zzzzzzzzzzzzzzzz"),
        ] {
            in_order.extend(Lookup::parse(text).map(|lookup| (at(created_at), lookup)));
        }
        for place in [3, 0, 4, 2, 1] {
            if let Some((created_at, lookup)) = in_order.get(place) {
                let token = TokenRecord {
                    lookup: *lookup,
                    created_at: *created_at,
                    ..token(1)?
                };
                create(shelf, &token).await?;
            }
        }
        let from = |place: usize, limit: usize| {
            let places = in_order.iter().skip(place).take(limit);
            places.copied().collect::<Vec<_>>()
        };
        let after = |place: usize| in_order.get(place).copied();
        for (after, limit, expected) in [
            (None, 2, from(0, 2)),
            (after(0), 2, from(1, 2)),
            (after(1), 2, from(2, 2)),
            (after(3), 2, from(4, 2)),
            (after(4), 2, Vec::new()),
            (Some((at(5), lookup(2)?)), u32::MAX, from(3, 9)),
            (Some((at(6), lookup(2)?)), u32::MAX, from(1, 9)),
            (None, 0, Vec::new()),
        ] {
            let page = shelf.stores.tokens.list(after, limit).await?;
            let page: Vec<_> = page
                .into_iter()
                .map(|token| (token.created_at, token.lookup))
                .collect();
            equal(
                format_args!("up to {limit} after {after:?}"),
                page,
                expected,
            )?;
        }
        Ok(())
    }
);

fn token(number: u64) -> Verdict<TokenRecord> {
    Ok(TokenRecord {
        lookup: lookup(number)?,
        digest: Digest::new([7; 32]),
        owner: UserId::from(3),
        label: String::new(),
        scopes: ["forums:read".to_owned()].into(),
        created_at: at(0),
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
    })
}

async fn create(shelf: &Shelf, token: &TokenRecord) -> Verdict {
    let created = shelf.stores.tokens.create(token).await?;
    equal("whether it was created", created, true)
}

async fn found(shelf: &Shelf, lookup: &Lookup) -> Verdict<TokenRecord> {
    let found = shelf.stores.tokens.find(lookup).await?;
    found.ok_or_else(|| Stop::broken(format_args!("find({lookup:?})"), "nothing", "the token"))
}

/// A use may be noted later; a write that is answered comes after it.
async fn after_what_is_queued(shelf: &Shelf) -> Verdict {
    let revoked = shelf.stores.tokens.revoke(&lookup(99)?, at(0)).await?;
    equal("whether there was one", revoked, false)
}
