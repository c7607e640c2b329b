//! Tokens that open nothing: whether time tells that there is one of that name, or that its secret is nearly right.

use std::cell::Cell;
use std::sync::Arc;

use forum_api::clock::{Clock, SystemClock, SystemEntropy};
use forum_api::model::UserId;
use forum_api::store::Stores;
use forum_api::token::{Digest, PlainToken, TokenRecord};
use http::HeaderValue;
use http::header::AUTHORIZATION;

use crate::dudect::compare;
use crate::prebuilt::{Prebuilt, Rig, SMALL, at_once};

/// So many names are known, and as many others are asked for.
const NAMES: usize = 16;

/// A known name with a wrong secret, and an unknown one, through the service.
pub fn lookups() {
    let stores = Stores::in_memory();
    let [known, unknown] = [(); 2].map(|()| bearers());
    for (token, _) in &known {
        let record = record(token, mint().digest());
        assert!(at_once(stores.tokens.create(&record)).unwrap());
    }
    let rig = Rig::with(Arc::new(Prebuilt::default()), stores);
    let classes = [known, unknown];
    let next = Cell::new(0);
    let request = |class: bool| {
        let of_class = &classes[usize::from(class)];
        next.set((next.get() + 1) % NAMES);
        let mut request = rig.request(SMALL);
        let bearer = HeaderValue::from_str(&of_class[next.get()].1).unwrap();
        request.headers_mut().insert(AUTHORIZATION, bearer);
        request
    };
    for class in [false, true] {
        assert_eq!(rig.answer(request(class)).status(), 401);
    }
    compare(
        "a token of a known name and one of an unknown name, both refused",
        request,
        |request| rig.answer(request),
    );
}

/// The right secret and a wrong one; and two wrong ones, of digests that differ in the first byte or in the last.
pub fn secrets() {
    let texts: Vec<_> = bearers();
    let next = Cell::new(0);
    let one = || {
        next.set((next.get() + 1) % NAMES);
        &texts[next.get()].0
    };
    compare(
        "a wrong secret and the right one",
        |class| {
            let (wrong, token) = (one(), one());
            let stored = if class { token } else { wrong }.digest();
            (token.reveal().to_owned(), stored)
        },
        |(text, stored)| {
            let token = PlainToken::parse(&text).unwrap();
            (token.digest() == stored, token, text)
        },
    );
    compare(
        "digests that differ in the first byte and in the last",
        |class| {
            let stored = one().digest();
            let mut bytes = *stored.as_bytes();
            bytes[if class { 31 } else { 0 }] ^= 1;
            Box::new((Digest::new(bytes), stored))
        },
        |digests| (digests.0 == digests.1, digests),
    );
}

fn mint() -> PlainToken {
    PlainToken::mint(&SystemEntropy).unwrap()
}

/// Tokens with what stands in the header.
fn bearers() -> Vec<(PlainToken, String)> {
    let tokens = (0..NAMES).map(|_| mint());
    tokens
        .map(|token| {
            let bearer = format!("Bearer {}", token.reveal());
            (token, bearer)
        })
        .collect()
}

fn record(token: &PlainToken, digest: Digest) -> TokenRecord {
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
