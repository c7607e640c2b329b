//! Connections that are kept for the next attempt.

use std::time::Duration;

use forum_api::webhook::{HttpSettings, HttpTransport, Transport as _, Unsent};

use crate::wire::Act::{Hold, Quit, Say, Serve};
use crate::wire::{LONG, Names, Receiver, SHORT, outgoing, settings, transport};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// Keeps connections for longer than a test takes.
fn keeping() -> HttpSettings {
    HttpSettings {
        keep: LONG,
        ..settings(LONG)
    }
}

fn sender(settings: HttpSettings) -> HttpTransport {
    transport(settings, &Names::leading_to(&["127.0.0.1"]))
}

async fn status(transport: &HttpTransport, url: &str) -> Result<u16, Unsent> {
    let answer = transport.post(outgoing(url)).await;
    answer.map(|answer| answer.status)
}

#[tokio::test]
async fn one_connection_serves_one_attempt_after_the_other() {
    let tls = Some(crate::tls::acceptor("receiver"));
    for (origin, tls) in [
        ("http://receiver.test", None),
        ("https://receiver.test", tls),
    ] {
        let receiver = Receiver::acting(vec![Serve(OK)], tls).await;
        let (sender, url) = (sender(keeping()), receiver.url(origin));
        for _ in 0..5 {
            assert_eq!(status(&sender, &url).await, Ok(200));
        }
        assert_eq!(receiver.connections(), 1, "{origin}");
    }
}

#[tokio::test]
async fn attempts_at_once_have_a_connection_each() {
    let receiver = Receiver::new(Serve(OK)).await;
    let (sender, url) = (sender(keeping()), receiver.url("http://receiver.test"));
    for _ in 0..2 {
        let (one, other) = tokio::join!(status(&sender, &url), status(&sender, &url));
        assert_eq!((one, other), (Ok(200), Ok(200)));
        assert_eq!(receiver.connections(), 2);
    }
}

#[tokio::test]
async fn where_none_is_kept_each_attempt_says_so() {
    let mut receiver = Receiver::new(Serve(OK)).await;
    let url = receiver.url("http://receiver.test");
    let sender = sender(HttpSettings {
        keep: Duration::ZERO,
        ..settings(LONG)
    });
    for _ in 0..2 {
        assert_eq!(status(&sender, &url).await, Ok(200));
    }
    let seen = receiver.ended().await;
    let said: Vec<_> = seen.iter().map(|it| it.header("connection")).collect();
    assert_eq!(said, ["close", "close"]);
}

#[tokio::test]
async fn a_connection_is_for_its_host_alone() {
    let receiver = Receiver::new(Serve(OK)).await;
    let sender = sender(keeping());
    for origin in ["http://receiver.test", "http://other.test"] {
        let url = receiver.url(origin);
        assert_eq!(status(&sender, &url).await, Ok(200));
    }
    assert_eq!(receiver.connections(), 2);
}

#[tokio::test]
async fn a_name_that_leads_elsewhere_is_followed_there() {
    let receiver = Receiver::new(Serve(OK)).await;
    let url = receiver.url("http://receiver.test");
    let turns: &[&[&str]] = &[
        &["127.0.0.1"],
        &["127.0.0.9"],
        &["169.254.169.254"],
        &["127.0.0.1"],
    ];
    let names = Names::turning(turns);
    let sender = transport(keeping(), &names);
    assert_eq!(status(&sender, &url).await, Ok(200));
    for _ in 0..2 {
        status(&sender, &url).await.unwrap_err();
    }
    assert_eq!((receiver.connections(), names.asked()), (1, 3));
    assert_eq!(status(&sender, &url).await, Ok(200));
    assert_eq!(receiver.connections(), 1, "it was kept all the while");
}

#[tokio::test]
async fn one_that_the_receiver_closed_fails_no_attempt() {
    for act in [Say(OK), Quit(OK)] {
        let receiver = Receiver::new(act).await;
        let names = Names::leading_to(&["127.0.0.1"]);
        let sender = transport(keeping(), &names);
        let url = receiver.url("http://receiver.test");
        for _ in 0..3 {
            assert_eq!(status(&sender, &url).await, Ok(200), "{act:?}");
        }
        assert_eq!((receiver.connections(), names.asked()), (3, 3), "{act:?}");
    }
}

#[tokio::test]
async fn one_that_hangs_fails_the_attempt_and_is_closed() {
    let mut receiver = Receiver::new(Hold(OK)).await;
    let url = receiver.url("http://receiver.test");
    let sender = sender(HttpSettings {
        keep: LONG,
        ..settings(SHORT * 10)
    });
    assert_eq!(status(&sender, &url).await, Ok(200));
    status(&sender, &url).await.unwrap_err();
    assert_eq!(receiver.ended().await.len(), 1);
}

#[tokio::test]
async fn what_nobody_asks_for_is_closed_soon() {
    let mut receiver = Receiver::new(Serve(OK)).await;
    let url = receiver.url("http://receiver.test");
    let sender = sender(HttpSettings {
        keep: SHORT,
        ..settings(LONG)
    });
    for round in 1..=2 {
        assert_eq!(status(&sender, &url).await, Ok(200));
        assert_eq!(receiver.ended().await.len(), round);
    }
}
