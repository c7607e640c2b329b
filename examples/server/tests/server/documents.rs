//! `openapi`: the document that is served.

use serde_json::Value;
use tempfile::TempDir;

use crate::client::get;
use crate::program::{Server, run};

#[test]
fn the_printed_document_is_the_served_one() {
    for surface in ["full", "compact"] {
        let server = Server::new(&["--empty", "--surface", surface]);
        let mut served = get(&server.api("/openapi.json")).json();
        // Only the running server knows its address.
        assert_eq!(served["servers"].take()[0]["url"], server.api(""));
        for more in [&[][..], &["--json"]] {
            let arguments = [&["openapi", "--surface", surface], more].concat();
            let printed = run(TempDir::new().unwrap().path(), &arguments, "");
            let mut printed: Value = serde_json::from_str(&printed.out).unwrap();
            printed["servers"].take();
            assert_eq!(printed, served);
        }
    }
}
