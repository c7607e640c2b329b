//! What becomes of an attempt, whatever a receiver does; and each byte that leaves.

use std::time::Duration;

use forum_api::webhook::{Answer, HttpSettings, Transport as _, Unsent};
use tokio::task::JoinSet;

use crate::wire::Act::{self, Blurt, Drip, Flood, Hold, Reset, Say, Trickle};
use crate::wire::{LONG, Names, Receiver, SHORT, loopback, outgoing, settings, transport};

/// A kibibyte of a letter.
const KIB: &[u8] = &[b'y'; 1024];

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// Each act with what becomes of an attempt `within` this time. When it has ended, so has its connection.
async fn check<T: Copy + Send + Sync + 'static>(
    within: Duration,
    rows: &[(Act, T)],
    expect: fn(T, Result<Answer, Unsent>),
) {
    let transport = loopback(within);
    let mut attempts = JoinSet::new();
    for (act, outcome) in rows.iter().copied() {
        let transport = transport.clone();
        attempts.spawn(async move {
            let mut receiver = Receiver::new(act).await;
            let url = receiver.url("http://receiver.test");
            let answer = transport.post(outgoing(&url)).await;
            println!("{act:?} ends as {answer:?}");
            expect(outcome, answer);
            assert_eq!(receiver.ended().await.len(), 1);
        });
    }
    while let Some(attempt) = attempts.join_next().await {
        attempt.unwrap();
    }
}

fn is_heard((status, excerpt): (u16, &str), outcome: Result<Answer, Unsent>) {
    let answer = outcome.unwrap();
    assert_eq!((answer.status, answer.excerpt.as_str()), (status, excerpt));
}

fn is_unsent(why: &str, outcome: Result<Answer, Unsent>) {
    assert_eq!(outcome, Err(Unsent(why.into())));
}

#[tokio::test]
#[rustfmt::skip]
async fn an_answer_is_its_status_and_the_beginning_of_its_body() {
    let rows = [
        (Say(OK), (200, "ok")),
        (Drip(OK), (200, "ok")),
        (Say(b"HTTP/1.1 204 No Content\r\n\r\n"), (204, "")),
        (Say(b"HTTP/1.0 200 OK\r\n\r\nuntil the end"), (200, "until the end")),
        (Say(b"HTTP/1.1 202 Accepted\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n"), (202, "abcd")),
        (Say(b"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n"), (410, "")),
        (Say(b"HTTP/1.1 500 Oh\r\ncontent-length: 4\r\n\r\nwhy?"), (500, "why?")),
        (Say(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"), (101, "")),
        (Say(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"), (200, "ok")),
        // What breaks off does so too late to matter.
        (Say(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 9\r\n\r\nhalf"), (200, "half")),
        (Say(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\nnonsense"), (200, "a")),
        // Nothing is unpacked, and nothing kept that a terminal would obey.
        (Say(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\n\x1f\x8b\x08"), (200, "\u{fffd}\u{fffd}\u{fffd}")),
        (Say(b"HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n\x1b[2J\0\xc3\xbc\xff\r\n\t."), (200, "\u{fffd}[2J\u{fffd}\u{fc}\u{fffd}\r\n\t.")),
    ];
    check(LONG, &rows, is_heard).await;
}

#[tokio::test]
#[rustfmt::skip]
async fn no_more_than_4_kib_of_a_body_are_kept() {
    let rows = [
        (Flood(b"HTTP/1.1 200 OK\r\n\r\n", KIB), 4096),
        (Flood(b"HTTP/1.1 200 OK\r\ncontent-length: 10737418240\r\n\r\n", KIB), 4096),
        (Flood(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"4\r\nbyte\r\n"), 4096),
        (Flood(b"HTTP/1.1 200 OK\r\n\r\n\x20", "ü".as_bytes()), 4096 - 3 + 2),
        (Flood(b"HTTP/1.1 200 OK\r\n\r\n", b"\0\0"), 4096 - 1),
    ];
    check(LONG, &rows, |length, outcome| {
        let answer = outcome.unwrap();
        assert_eq!((answer.status, answer.excerpt.len()), (200, length));
    })
    .await;
}

#[tokio::test]
async fn a_body_ends_with_the_attempt() {
    let rows = [
        (
            Hold(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"),
            "half",
        ),
        (
            Hold(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n9"),
            "abc",
        ),
        (Trickle(b"HTTP/1.1 200 OK\r\n\r\nslow", b"ly"), "slow"),
    ];
    check(SHORT * 10, &rows, |beginning, outcome| {
        let answer = outcome.unwrap();
        assert_eq!(answer.status, 200);
        assert!(answer.excerpt.starts_with(beginning) && answer.excerpt.len() < 1000);
    })
    .await;
}

#[tokio::test]
async fn what_has_no_answer_in_time_has_none() {
    let rows = [
        Hold(b""),
        Hold(b"HTTP/1.1 200 OK\r\n"),
        Hold(b"HTTP/1.1 100 Continue\r\n\r\n"),
        Trickle(b"HTTP/1.1 200 OK\r\n", b"x: y\r\n"),
        Trickle(b"HTTP/1.1 200 OK\r\nx: ", b"y"),
        Trickle(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
        Flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ];
    let rows = rows.map(|act| (act, "no answer within 300ms"));
    check(SHORT, &rows, is_unsent).await;
}

#[tokio::test]
#[rustfmt::skip]
async fn what_is_no_answer_says_why() {
    let cut = "no answer: connection closed before message completed";
    let large = "no answer: message head is too large";
    let rows = [
        (Say(b""), cut),
        (Say(b"HTTP/1.1 200 OK\r\n"), cut),
        (Say(b"HTTP/1.1 100 Continue\r\n\r\n"), cut),
        (Reset, "no answer: connection reset"),
        (Flood(b"HTTP/1.1 200 OK\r\n", b"x: y\r\n"), large),
        (Flood(b"HTTP/1.1 200 OK\r\nx: ", KIB), large),
        (Say(b"220 mail.test ESMTP\r\n\r\n"), "no answer: invalid HTTP version parsed"),
        (Say(b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n"), "no answer: invalid content-length parsed"),
    ];
    check(LONG, &rows, is_unsent).await;
}

#[tokio::test]
async fn a_head_is_of_64_lines_and_16_kib_at_most() {
    let head = |lines: usize, letters: usize| {
        let line = format!("x: {}\r\n", "y".repeat(letters));
        let head = format!("HTTP/1.1 204 No Content\r\n{}\r\n", line.repeat(lines));
        Say(head.leak().as_bytes())
    };
    let rows = [
        (head(64, 1), Some(204)),
        (head(65, 1), None),
        (head(1, 16_000), Some(204)),
        (head(1, 17_000), None),
    ];
    check(LONG, &rows, |status, outcome| {
        assert_eq!(outcome.ok().map(|answer| answer.status), status);
    })
    .await;
}

#[tokio::test]
async fn no_redirect_is_followed() {
    let trap = Receiver::new(Say(OK)).await;
    let to = trap.url("http://receiver.test");
    let transport = loopback(LONG);
    for status in [301, 302, 303, 307, 308] {
        let answer = format!("HTTP/1.1 {status} Elsewhere\r\nlocation: {to}\r\n\r\n");
        let receiver = Receiver::new(Say(answer.leak().as_bytes())).await;
        let url = receiver.url("http://receiver.test");
        is_heard((status, ""), transport.post(outgoing(&url)).await);
        assert_eq!((receiver.connections(), trap.connections()), (1, 0));
    }
}

#[tokio::test]
async fn each_byte_of_a_request_is_known() {
    let mut receiver = Receiver::new(Say(OK)).await;
    let authority = format!("receiver.test:{}", receiver.address().port());
    let url = format!("http://{authority}//hook?of={{board}}|^`");
    is_heard((200, "ok"), loopback(LONG).post(outgoing(&url)).await);
    let expected = format!(
        "POST //hook?of={{board}}|^` HTTP/1.1\r\n\
         host: {authority}\r\n\
         content-type: application/json\r\n\
         x-forum-event: ping\r\n\
         content-length: 17\r\n\
         \r\n\
         {{\"event\":\"evt_1\"}}"
    );
    assert_eq!(receiver.ended().await[0].request, expected);
}

#[tokio::test]
async fn where_nobody_listens_there_is_no_connection() {
    let deaf = Receiver::deaf();
    let address = deaf.address();
    let url = format!("http://{address}/hook");
    let why = format!("no connection to {address}: connection refused");
    is_unsent(&why, loopback(LONG).post(outgoing(&url)).await);
}

#[tokio::test]
async fn a_name_must_lead_somewhere_in_time() {
    let unknown = "the name receiver.test does not resolve";
    let late = "no connection within 300ms";
    for (names, why) in [(Names::leading_to(&[]), unknown), (Names::silent(), late)] {
        let settings = HttpSettings {
            connect: SHORT,
            ..settings(LONG)
        };
        let transport = transport(settings, &names);
        let outgoing = outgoing("http://receiver.test/");
        is_unsent(why, transport.post(outgoing).await);
    }
}

#[tokio::test]
async fn a_connection_has_less_time_than_an_attempt() {
    let mut settings = settings(LONG);
    settings.connect = SHORT;
    let transport = transport(settings, &Names::leading_to(&["127.0.0.1"]));
    let silent = Receiver::new(Blurt(b"")).await;
    let url = silent.url("https://receiver.test");
    let Err(Unsent(why)) = transport.post(outgoing(&url)).await else {
        panic!("it speaks no TLS");
    };
    assert!(why.starts_with("no connection"), "{why}");
}

#[tokio::test]
async fn an_address_that_is_silent_does_not_stop_the_next_one() {
    let acts = vec![Blurt(b""), Blurt(b"?"), Say(OK)];
    let receiver = Receiver::acting(acts, Some(crate::tls::acceptor("receiver"))).await;
    let mut settings = settings(LONG);
    settings.connect = SHORT * 12;
    let names = Names::leading_to(&["127.0.0.1"; 4]);
    let url = receiver.url("https://receiver.test");
    let transport = transport(settings, &names);
    is_heard((200, "ok"), transport.post(outgoing(&url)).await);
    assert_eq!((receiver.connections(), names.asked()), (3, 1));
}
