//! Forms that succeed once, also on several nodes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forum_api::async_trait;
use forum_api::host::{Fault, Stored};
use forum_api::model::Timestamp;
use forum_api::store::Tokens;
use forum_api::store::memory::MemoryTokens;
use forum_api::token::{Lookup, TokenRecord};
use tokio::sync::Semaphore;

use crate::house::House;
use crate::issuing::issue;

/// Tokens that cannot be created while the store fails, and only one for each permit.
struct Slow {
    tokens: Arc<MemoryTokens>,
    fails: AtomicBool,
    creating: Semaphore,
    permits: Semaphore,
}

#[async_trait]
impl Tokens for Slow {
    async fn create(&self, token: &TokenRecord) -> Stored<bool> {
        if self.fails.load(Ordering::Relaxed) {
            return Err(Fault::new("the store failed"));
        }
        self.creating.add_permits(1);
        self.permits.acquire().await.unwrap().forget();
        self.tokens.create(token).await
    }

    async fn find(&self, lookup: &Lookup) -> Stored<Option<TokenRecord>> {
        self.tokens.find(lookup).await
    }

    async fn revoke(&self, lookup: &Lookup, at: Timestamp) -> Stored<bool> {
        self.tokens.revoke(lookup, at).await
    }

    async fn used(&self, lookup: &Lookup, at: Timestamp) -> Stored<()> {
        self.tokens.used(lookup, at).await
    }

    async fn list(
        &self,
        after: Option<(Timestamp, Lookup)>,
        limit: u32,
    ) -> Stored<Vec<TokenRecord>> {
        self.tokens.list(after, limit).await
    }
}

/// A fixture whose panel creates tokens in such a store.
async fn slow(fails: bool, permits: usize) -> (House, Arc<Slow>) {
    let mut house = House::new().await;
    let slow = Arc::new(Slow {
        tokens: house.tokens.clone(),
        fails: fails.into(),
        creating: Semaphore::new(0),
        permits: Semaphore::new(permits),
    });
    house.panel = house.node(slow.clone());
    (house, slow)
}

/// The nonce of a new form.
async fn nonce(house: &House) -> String {
    let page = house.get("/panel/tokens/new").await;
    page.after("name=\"once\" value=\"").to_owned()
}

#[tokio::test]
async fn a_form_that_failed_can_be_sent_again() {
    let (house, store) = slow(true, 9).await;
    let form = [("once", &*nonce(&house).await)];
    assert_eq!(issue(&house, &form).await.status, 500);
    store.fails.store(false, Ordering::Relaxed);
    let again = issue(&house, &form).await;
    assert!(again.status == 200 && again.body.contains("forum_pat_"));
    assert_eq!(issue(&house, &form).await.status, 409);
    assert_eq!(house.all_tokens().await.len(), 1);
}

#[tokio::test]
async fn a_refused_endpoint_can_be_corrected_in_the_same_form() {
    let house = House::new().await;
    let once = nonce(&house).await;
    let add = async |url| {
        let form = [("once", once.as_str()), ("url", url), ("topics", "*")];
        house.post("/panel/webhooks", &form).await.status
    };
    assert_eq!(add("http://127.0.0.1/").await, 422);
    assert_eq!(add("https://93.184.215.14/").await, 200);
    assert_eq!(add("https://93.184.215.14/").await, 409);
    assert_eq!(house.webhooks.endpoints.all().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_form_that_is_sent_twice_at_once_succeeds_once() {
    let (house, store) = slow(false, 0).await;
    let form = [("once", &*nonce(&house).await)];
    let second = async {
        store.creating.acquire().await.unwrap().forget();
        let second = issue(&house, &form).await;
        store.permits.add_permits(9);
        second
    };
    let (first, second) = tokio::join!(issue(&house, &form), second);
    assert_eq!((first.status, second.status), (200, 409));
    assert_eq!(house.all_tokens().await.len(), 1);
}

#[tokio::test]
async fn nodes_share_nonces_and_password_attempts() {
    let mut house = House::new().await;
    let nodes = [(); 2].map(|()| house.node(house.tokens.clone()));
    house.panel = nodes[0].clone();
    let form = [("once", &*nonce(&house).await)];
    assert_eq!(issue(&house, &form).await.status, 200);
    house.panel = nodes[1].clone();
    assert_eq!(issue(&house, &form).await.status, 409);
    for number in 0..5 {
        house.panel = nodes[number % 2].clone();
        assert_eq!(issue(&house, &[("password", "wrong")]).await.status, 422);
    }
    for node in nodes {
        house.panel = node;
        assert_eq!(issue(&house, &[]).await.status, 429);
    }
    assert_eq!(house.all_tokens().await.len(), 1);
}
