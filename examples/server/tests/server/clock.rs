//! A server whose wall clock was ahead, and is right again.

use std::sync::atomic::AtomicBool;

use tempfile::TempDir;

use crate::panel::{cookie, page};
use crate::prelude::*;

/// Compiles a source of `tests/support` for LD_PRELOAD. Returns the path of the library.
pub fn compile_shim(directory: &Path, name: &str) -> String {
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/support/src");
    let source = format!("{sources}/{name}.c");
    let library = directory.join(name).with_extension("so").display().to_string();
    let compiled =
        Command::new("cc").args(["-shared", "-fPIC", "-o", &library, &source]).status().unwrap();
    assert!(compiled.success());
    library
}

/// Starts a server whose clock is `ahead` seconds ahead until the file `offset` is changed.
fn start_ahead(shim: &str, offset: &Path, ahead: u64) -> Server {
    fs::write(offset, ahead.to_string()).unwrap();
    let options = [ALLOW_PRIVATE, "--webhook-initial-backoff", "1", "--webhook-max-backoff", "60"];
    let offset = offset.to_str().unwrap();
    let environment = [("LD_PRELOAD", shim), ("SHIFTED_CLOCK_FILE", offset)];
    Server::start_with(ServerDirectory::in_sqlite(), &options, &environment, "")
}

fn queue(server: &Server) -> Value {
    server.run_ok("status --json").json()["queue"]["due"].clone()
}

/// A receiver with this status, until the returned value becomes `true`; then with 200.
fn receiver(status: Option<u16>) -> (Receiver, Arc<AtomicBool>) {
    let is_well = Arc::new(AtomicBool::new(false));
    let current = is_well.clone();
    let receiver =
        Receiver::with_statuses(
            move |_| {
                if current.load(Ordering::SeqCst) { Some(200) } else { status }
            },
        );
    (receiver, is_well)
}

#[test]
fn deliveries_are_sent_and_sessions_end_when_a_clock_that_was_ahead_is_right_again() {
    let directory = TempDir::new().unwrap();
    let shim = compile_shim(directory.path(), "shifted_clock");
    let offset = directory.path().join("offset");
    for ahead in [30 * 60, 2 * 3600, 24 * 3600] {
        let server = start_ahead(&shim, &offset, ahead);
        // One attempt fails, and the other one has no end before the server is killed.
        let receivers = [receiver(Some(500)), receiver(None)];
        for (receiver, _) in &receivers {
            add_endpoint(&server, receiver, "");
        }
        let token = server.issue_token("alice", "all");
        let session = cookie(&sign_in(&server, "admin", server.password()));
        assert_eq!(page(&server, &session, "/panel/tokens").status, 200);
        let key = [("idempotency-key", "one")];
        let body = json!({ "body": "Early." }).to_string();
        let path = "/threads/1/posts";
        let first = server.send_with(&key, "POST", &token, path, &body);
        assert_eq!(first.status, 201, "{first:?}");
        for (receiver, is_well) in &receivers {
            receiver.next();
            is_well.store(true, Ordering::SeqCst);
        }
        let directory = server.kill();
        fs::write(&offset, "0").unwrap();

        let server = Server::start(directory, &[ALLOW_PRIVATE, "--no-worker"]);
        assert_eq!(queue(&server), 2, "{ahead}");
        assert_eq!(page(&server, &session, "/panel/tokens").status, 303);
        let again = server.send_with(&key, "POST", &token, path, &body);
        assert_eq!((again.status, &again.body), (201, &first.body), "{ahead}");
        let directory = server.stop();
        let server = Server::start(directory, &[ALLOW_PRIVATE, "--webhook-max-backoff", "60"]);
        for (receiver, _) in &receivers {
            while receiver.next().status != Some(200) {}
        }
        server.stop();
    }
}
