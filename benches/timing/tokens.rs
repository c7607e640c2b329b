//! Tokens that open nothing: whether time tells that there is one of that name, or that its secret is nearly right.

use std::cell::Cell;
use std::iter;
use std::sync::Arc;

use forum_api::model::UserId;
use forum_api::runtime::{Clock, OsRandom, SystemClock};
use forum_api::store::Stores;
use forum_api::token::{PlainToken, SecretDigest, TokenRecord};
use http::HeaderValue;
use http::header::AUTHORIZATION;

use crate::constant_store::ConstantStore;
use crate::dudect::compare;
use crate::static_board::{BenchFixture, SMALL, StaticBoard, at_once};

/// So many names are known in memory, and as many others are asked for: few enough for a processor's own memory.
const NAMES: usize = 16;

/// A known name with a wrong secret, and an unknown one, through the service: over a store to which it is all the same,
/// with a name that no other request has, and over the one in memory, with the same few.
///
/// These are 1 to 3 ns of 2,000 apart, which is one copy of a record more or less. A store on disk tells more, as it reads
/// a row or none. It gives nothing away: a name is 95 random bits that are shown in lists, and opens nothing.
pub fn lookups() {
    let even = ConstantStore(record(&mint(), mint().digest()));
    let stores = Stores {
        tokens: Arc::new(even),
        ..Stores::in_memory()
    };
    refused("whatever the store", stores, |class| {
        let mut tokens = iter::repeat_with(mint);
        tokens
            .find(|token| ConstantStore::knows(token.lookup()) != class)
            .unwrap()
    });

    let stores = Stores::in_memory();
    let [known, unknown] = [(); 2].map(|()| minted());
    for token in &known {
        let record = record(token, mint().digest());
        assert!(at_once(stores.tokens.create(&record)).unwrap());
    }
    let classes = [known, unknown];
    let next = Cell::new(0);
    refused("in the store in memory", stores, |class| {
        next.set((next.get() + 1) % NAMES);
        let token = &classes[usize::from(class)][next.get()];
        PlainToken::parse(token.expose_secret()).unwrap()
    });
}

/// Compares tokens of both classes, all of which are refused.
fn refused(place: &str, stores: Stores, token: impl Fn(bool) -> PlainToken) {
    let rig = BenchFixture::with(Arc::new(StaticBoard::default()), stores);
    let request = |class: bool| {
        let bearer = format!("Bearer {}", token(class).expose_secret());
        let mut request = rig.request(SMALL);
        let bearer = HeaderValue::from_str(&bearer).unwrap();
        request.headers_mut().insert(AUTHORIZATION, bearer);
        request
    };
    for class in [false, true] {
        assert_eq!(rig.answer(request(class)).status(), 401);
    }
    let what = format!("a token of a known name and one of an unknown name, {place}");
    compare(&what, request, |request| rig.answer(request));
}

/// The right secret and a wrong one; and two wrong ones, of digests that differ in the first byte or in the last.
pub fn secrets() {
    compare(
        "a wrong secret and the right one",
        |class| {
            let (wrong, token) = (mint(), mint());
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
            let stored = mint().digest();
            let mut bytes = *stored.as_bytes();
            bytes[if class { 31 } else { 0 }] ^= 1;
            Box::new((SecretDigest::new(bytes), stored))
        },
        |digests| (digests.0 == digests.1, digests),
    );
}

fn mint() -> PlainToken {
    PlainToken::generate(&OsRandom).unwrap()
}

fn minted() -> Vec<PlainToken> {
    (0..NAMES).map(|_| mint()).collect()
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
