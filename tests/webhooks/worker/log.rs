//! What the log says of attempts, and what it never says (contract, section 13).

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use tracing::Level;

use super::receivers::Reply;
use super::scene::{HOUR, SECRET, Scene, url};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What is logged while `work` is done, at every level.
fn logged(work: impl FnOnce()) -> String {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, work);
    let lines = lines.0.lock().unwrap();
    String::from_utf8_lossy(&lines).into_owned()
}

#[test]
fn each_attempt_is_a_span_that_says_how_it_ended() {
    let scene = Scene::new();
    scene.add("a");
    let replies = [Reply::Status(503), Reply::Refuses, Reply::Status(204)];
    scene.receivers.does(&url("a"), replies);
    scene.happen();
    let log = logged(|| {
        scene.start();
        scene.pass(HOUR);
    });
    let ends: Vec<_> = log
        .lines()
        .filter(|line| line.contains("attempted"))
        .collect();
    assert_eq!(ends.len(), 3, "{log}");
    let (delivery, _) = scene.only();
    for (end, said) in ends.iter().zip([
        ["attempt=1", "state=\"retrying\"", "status=503"],
        ["attempt=2", "state=\"retrying\"", "elapsed_ms=0"],
        ["attempt=3", "state=\"delivered\"", "status=204"],
    ]) {
        let ids = format!("delivery={} endpoint={}", delivery.id, delivery.endpoint);
        assert!(
            end.contains(&ids) && end.contains("topic=post.created"),
            "{end}"
        );
        assert!(said.iter().all(|said| end.contains(said)), "{end}");
    }
}

#[test]
fn no_secret_no_body_and_no_address_is_logged() {
    let scene = Scene::new();
    scene.add("a");
    let replies = [
        Reply::Panics,
        Reply::Status(500),
        Reply::Hangs,
        Reply::Status(204),
    ];
    scene.receivers.does(&url("a"), replies);
    let event = scene.happen();
    scene.counted.fail(|_, calls| calls % 5 == 0);
    let log = logged(|| {
        scene.start();
        scene.pass(HOUR);
    });
    assert!(log.lines().count() > 4);
    for kept in [SECRET, &*url("a"), &*event.body, "sha256=", "xxxx"] {
        assert!(!log.contains(kept), "{kept}");
    }
}
