//! Rejected tokens: compares known with unknown lookups, and nearly right with wrong secrets.

use std::cell::Cell;
use std::iter;
use std::sync::Arc;

use forum_api::audit::{AuditAction, AuditActor};
use forum_api::model::UserId;
use forum_api::runtime::{Clock, OsRandom, SystemClock};
use forum_api::store::Stores;
use forum_api::token::{PlainToken, SecretDigest, TokenRecord};
use http::HeaderValue;
use http::header::AUTHORIZATION;

use crate::constant_store::ConstantStore;
use crate::dudect::compare;
use crate::static_board::{BenchFixture, SMALL, StaticBoard, at_once};

/// Number of known lookups in memory, and of unknown ones: few enough for the processor's caches.
const NAMES: usize = 16;

/// Compares a known lookup with a wrong secret and an unknown lookup, through the service: over a store and a
/// loader with constant time and a unique lookup for each request, and over the store in memory with a few lookups.
///
/// In memory they differ by 1 to 3 of 2,000 ns, about one copy of a record. A store on disk differs more, since it
/// reads a row or none. The difference reveals no secret: a lookup is 95 random bits, is shown in lists, and grants no
/// access.
pub fn lookups() {
    let even = ConstantStore(record(&random_token(), random_token().digest()));
    let even = Arc::new(even);
    let stores = Stores {
        tokens: even.clone(),
        ..Stores::in_memory()
    };
    let loaded = Stores {
        token_loader: Some(even),
        ..stores.clone()
    };
    for (backend, stores) in [
        ("whatever the store", stores),
        ("whatever the loader", loaded),
    ] {
        refused(backend, stores, |class| {
            let mut tokens = iter::repeat_with(random_token);
            tokens
                .find(|token| ConstantStore::contains(token.lookup()) != class)
                .unwrap()
        });
    }

    let stores = Stores::in_memory();
    let [known, unknown] = [(); 2].map(|()| random_tokens());
    let audit_entry = AuditActor::SYSTEM
        .entry(&OsRandom, SystemClock.now(), AuditAction::TOKEN_ISSUED, "")
        .unwrap();
    for token in &known {
        let record = record(token, random_token().digest());
        assert!(at_once(stores.tokens.create(&record, &audit_entry)).unwrap());
    }
    let classes = [known, unknown];
    let next = Cell::new(0);
    refused("in the store in memory", stores, |class| {
        next.set((next.get() + 1) % NAMES);
        let token = &classes[usize::from(class)][next.get()];
        PlainToken::parse(token.expose_secret()).unwrap()
    });
}

/// Compares rejected tokens of two classes.
fn refused(backend: &str, stores: Stores, token: impl Fn(bool) -> PlainToken) {
    let fixture = BenchFixture::with(Arc::new(StaticBoard::default()), stores);
    let request = |class: bool| {
        let bearer = format!("Bearer {}", token(class).expose_secret());
        let mut request = fixture.request(SMALL);
        let bearer = HeaderValue::from_str(&bearer).unwrap();
        request.headers_mut().insert(AUTHORIZATION, bearer);
        request
    };
    for class in [false, true] {
        assert_eq!(fixture.answer(request(class)).status(), 401);
    }
    let what = format!("a token of a known name and one of an unknown name, {backend}");
    compare(&what, request, |request| fixture.answer(request));
}

/// Compares a right secret with a wrong one, and wrong secrets whose digests differ in the first or the last byte.
pub fn secrets() {
    compare(
        "a wrong secret and the right one",
        |class| {
            let (wrong, token) = (random_token(), random_token());
            let stored = if class { &token } else { &wrong }.digest();
            (token.expose_secret().to_owned(), stored)
        },
        |(text, stored)| {
            let token = PlainToken::parse(&text).unwrap();
            (token.digest() == stored, token, text)
        },
    );
    compare(
        "digests that differ in the first byte and in the last",
        |class| {
            let stored = random_token().digest();
            let mut bytes = *stored.as_bytes();
            bytes[if class { 31 } else { 0 }] ^= 1;
            Box::new((SecretDigest::new(bytes), stored))
        },
        |digests| (digests.0 == digests.1, digests),
    );
}

fn random_token() -> PlainToken {
    PlainToken::generate(&OsRandom).unwrap()
}

fn random_tokens() -> Vec<PlainToken> {
    (0..NAMES).map(|_| random_token()).collect()
}

fn record(token: &PlainToken, digest: SecretDigest) -> TokenRecord {
    TokenRecord {
        lookup: *token.lookup(),
        digest,
        owner: UserId::from(3),
        label: "bench".into(),
        scopes: Arc::new(["posts:read".into()]),
        created_at: SystemClock.now(),
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
    }
}
