//! Nonces of forms: each form succeeds once, also on several nodes.

use std::sync::Arc;

use forum_api::test_util::Intervention;
use forum_test_support::thread_log;
use tokio::sync::Semaphore;

use crate::fixture::PanelFixture;

async fn nonce(fixture: &PanelFixture) -> String {
    fixture.get("/panel/tokens/new").await.nonce().to_owned()
}

#[tokio::test]
async fn a_form_can_be_sent_again_after_a_rejection_but_not_after_a_success() {
    let fixture = PanelFixture::new().await;
    let nonce = nonce(&fixture).await;
    let form = [("once", nonce.as_str())];
    let wrong = [form[0], ("password", "wrong")];
    assert_eq!(fixture.issue(&wrong).await.status, 422);
    assert_eq!(fixture.issue(&form).await.status, 200);
    let again = fixture.issue(&form).await;
    assert!(again.status == 409 && !again.contains("forum_pat_"));
    assert_eq!(fixture.tokens().await.len(), 1);
    let next = fixture.get("/panel/tokens/new").await;
    assert_ne!(next.nonce(), nonce);
}

#[tokio::test]
async fn a_form_cannot_be_sent_again_after_an_internal_error() {
    let fixture = PanelFixture::new().await;
    let nonce = nonce(&fixture).await;
    fixture.interceptor.on_call(|method, _| match method {
        "tokens.create" => Intervention::LoseResult,
        _ => Intervention::Proceed,
    });
    let form = [("once", nonce.as_str())];
    assert_eq!(fixture.issue(&form).await.status, 500);
    fixture.interceptor.on_call(|_, _| Intervention::Proceed);
    let again = fixture.issue(&form).await;
    assert_eq!(again.status, 409);
    again.expect(&["<p>This form was already submitted, and its outcome is unknown. Check whether it took effect before you submit a new form.</p>"]);
    assert_eq!(fixture.tokens().await.len(), 1);
    let next = fixture.get("/panel/tokens/new").await;
    assert_eq!(fixture.issue(&[("once", next.nonce())]).await.status, 200);
}

#[tokio::test]
async fn a_rejected_endpoint_can_be_corrected_in_the_same_form() {
    let fixture = PanelFixture::new().await;
    let nonce = nonce(&fixture).await;
    for (url, status) in [
        ("http://127.0.0.1/", 422),
        ("https://93.184.215.14/", 200),
        ("https://93.184.215.14/", 409),
    ] {
        let form = [("once", nonce.as_str()), ("url", url), ("topics", "*")];
        let added = fixture.post_confirmed("/panel/webhooks", &form).await;
        assert_eq!(added.status, status);
    }
    assert_eq!(fixture.webhooks.list_endpoints().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_form_that_is_sent_twice_concurrently_succeeds_once() {
    let fixture = PanelFixture::new().await;
    let nonce = nonce(&fixture).await;
    let form = [("once", nonce.as_str())];
    let creating = Arc::new(Semaphore::new(0));
    let permits = Arc::new(Semaphore::new(0));
    let started = creating.clone();
    let may_end = permits.clone();
    fixture.interceptor.on_call(move |method, _| {
        if method != "tokens.create" {
            return Intervention::Proceed;
        }
        started.add_permits(1);
        let may_end = may_end.clone();
        Intervention::Delay(Box::pin(async move { may_end.acquire().await.unwrap().forget() }))
    });
    let second = async {
        creating.acquire().await.unwrap().forget();
        let second = fixture.issue(&form).await;
        permits.add_permits(9);
        second
    };
    let (first, second) = tokio::join!(fixture.issue(&form), second);
    assert_eq!((first.status, second.status), (200, 409));
    second
        .expect(&["<p>This form was submitted twice. The first request is still in progress.</p>"]);
    assert_eq!(fixture.tokens().await.len(), 1);
}

/// The page is the only one that shows the secret.
#[tokio::test]
async fn a_secret_is_shown_even_if_the_board_fails_after_the_change() {
    let fixture = PanelFixture::new().await;
    fixture.fail_names_after("tokens.create");
    let issued = fixture.issue(&[]).await;
    assert!(issued.status == 200 && issued.contains("forum_pat_"), "{issued:?}");
    let fixture = PanelFixture::new().await;
    fixture.fail_names_after("endpoints.add");
    let form = [("url", "https://93.184.215.14/hook"), ("topics", "*")];
    let added = fixture.post_confirmed("/panel/webhooks", &form).await;
    assert!(added.status == 200 && added.contains("whsec_"), "{added:?}");
}

#[tokio::test]
async fn a_change_succeeds_although_its_form_or_its_password_cannot_be_recorded() {
    for (failing, message) in [
        ("idempotency.complete", "failed to record form submission"),
        ("rate_limits.refund", "failed to refund password attempt"),
    ] {
        let fixture = PanelFixture::new().await;
        fixture.interceptor.on_call(move |method, _| {
            if method == failing { Intervention::Fail } else { Intervention::Proceed }
        });
        thread_log::record();
        let issued = fixture.issue(&[("once", "1")]).await;
        assert_eq!(issued.status, 200, "{failing}");
        let log = thread_log::take();
        assert!(log.contains(message), "{failing}: {log}");
    }
}

#[tokio::test]
async fn nodes_share_nonces_and_password_attempts() {
    let mut fixture = PanelFixture::new().await;
    let nodes = [(); 2].map(|()| fixture.other_node());
    fixture.panel = nodes[0].clone();
    let form = [("once", &*nonce(&fixture).await)];
    assert_eq!(fixture.issue(&form).await.status, 200);
    fixture.panel = nodes[1].clone();
    assert_eq!(fixture.issue(&form).await.status, 409);
    for number in 0..5 {
        fixture.panel = nodes[number % 2].clone();
        assert_eq!(fixture.issue(&[("password", "wrong")]).await.status, 422);
    }
    for node in nodes {
        fixture.panel = node;
        assert_eq!(fixture.issue(&[]).await.status, 429);
    }
}
