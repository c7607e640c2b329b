//! Tokens, on every backend.

use forum_api::model::UserId;
use forum_api::store::Stores;
use forum_api::token::{Digest, Lookup, TokenRecord};

use crate::backend::{at, lookup, on_every_backend};

on_every_backend! {
    what_is_created_is_found_whole
    a_lookup_is_taken_once
    what_was_never_created_is_absent
    the_first_revocation_stands
    what_is_absent_is_not_revoked
    a_use_is_noted_once_a_minute
    a_list_is_paged_in_the_order_of_lookups
}

fn token(number: u64) -> TokenRecord {
    TokenRecord {
        lookup: lookup(number),
        digest: Digest::new([7; 32]),
        owner: UserId::from(3),
        label: String::new(),
        scopes: vec!["forums:read".into()],
        created_at: at(0),
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
    }
}

async fn what_is_created_is_found_whole(stores: &Stores) {
    let every_field = TokenRecord {
        digest: Digest::new(std::array::from_fn(|place| place as u8)),
        owner: UserId::new("a_Member-01").unwrap(),
        label: "Bob's \"laptop\", ☎\n".into(),
        scopes: vec!["a:b".into(), String::new(), "c d,e".into()],
        created_at: at(1),
        expires_at: Some(at(2)),
        revoked_at: Some(at(3)),
        last_used_at: Some(at(-4)),
        ..token(2)
    };
    let no_scope = TokenRecord {
        scopes: Vec::new(),
        ..token(3)
    };
    for token in [token(1), every_field, no_scope] {
        assert!(stores.tokens.create(&token).await.unwrap());
        assert_eq!(found(stores, &token.lookup).await, token);
    }
}

async fn a_lookup_is_taken_once(stores: &Stores) {
    assert!(stores.tokens.create(&token(1)).await.unwrap());
    let second = TokenRecord {
        label: "second".into(),
        ..token(1)
    };
    assert!(!stores.tokens.create(&second).await.unwrap());
    assert_eq!(found(stores, &lookup(1)).await, token(1));
}

async fn what_was_never_created_is_absent(stores: &Stores) {
    stores.tokens.create(&token(1)).await.unwrap();
    assert_eq!(stores.tokens.find(&lookup(2)).await.unwrap(), None);
}

async fn the_first_revocation_stands(stores: &Stores) {
    stores.tokens.create(&token(1)).await.unwrap();
    stores.tokens.create(&token(2)).await.unwrap();
    assert!(stores.tokens.revoke(&lookup(1), at(10)).await.unwrap());
    assert!(stores.tokens.revoke(&lookup(1), at(5)).await.unwrap());
    assert!(stores.tokens.revoke(&lookup(1), at(20)).await.unwrap());
    assert_eq!(found(stores, &lookup(1)).await.revoked_at, Some(at(10)));
    assert_eq!(found(stores, &lookup(2)).await, token(2));
}

async fn what_is_absent_is_not_revoked(stores: &Stores) {
    assert!(!stores.tokens.revoke(&lookup(1), at(10)).await.unwrap());
    assert_eq!(stores.tokens.find(&lookup(1)).await.unwrap(), None);
}

async fn a_use_is_noted_once_a_minute(stores: &Stores) {
    stores.tokens.create(&token(1)).await.unwrap();
    for (used, noted) in [
        (0, 0),
        (59_999, 0),
        (60_000, 60_000),
        (30_000, 60_000),
        (-90_000, 60_000),
        (119_999, 60_000),
        (500_000, 500_000),
    ] {
        stores.tokens.used(&lookup(1), at(used)).await.unwrap();
        after_what_is_queued(stores).await;
        let last = found(stores, &lookup(1)).await.last_used_at;
        assert_eq!(last, Some(at(noted)), "used at {used}");
    }
    stores.tokens.used(&lookup(2), at(0)).await.unwrap();
    after_what_is_queued(stores).await;
    assert_eq!(stores.tokens.find(&lookup(2)).await.unwrap(), None);
}

async fn a_list_is_paged_in_the_order_of_lookups(stores: &Stores) {
    let in_order = [
        "0000000000000001",
        "00000000000000Z0",
        "00000000000000a0",
        "Zzzzzzzzzzzzzzzz",
        "a000000000000000",
    ]
    .map(|text| Lookup::parse(text).unwrap());
    for place in [3, 0, 4, 2, 1] {
        let token = TokenRecord {
            lookup: in_order[place],
            ..token(1)
        };
        stores.tokens.create(&token).await.unwrap();
    }
    let page = async |after: Option<&Lookup>, limit| {
        let page = stores.tokens.list(after, limit).await.unwrap();
        page.iter().map(|token| token.lookup).collect::<Vec<_>>()
    };
    assert_eq!(page(None, 2).await, in_order[..2]);
    assert_eq!(page(Some(&in_order[1]), 2).await, in_order[2..4]);
    assert_eq!(page(Some(&in_order[3]), 2).await, in_order[4..]);
    assert!(page(Some(&in_order[4]), 2).await.is_empty());
    assert_eq!(page(Some(&lookup(2)), u32::MAX).await, in_order[1..]);
    assert!(page(None, 0).await.is_empty());
}

async fn found(stores: &Stores, lookup: &Lookup) -> TokenRecord {
    stores.tokens.find(lookup).await.unwrap().unwrap()
}

/// A use may be noted later; a write that is answered comes after it.
async fn after_what_is_queued(stores: &Stores) {
    assert!(!stores.tokens.revoke(&lookup(99), at(0)).await.unwrap());
}
