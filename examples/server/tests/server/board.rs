//! `board offline`, `board online`.

use serde_json::json;

use crate::client::get;
use crate::program::Server;

#[test]
fn an_offline_board_is_for_administrators() {
    let server = Server::new(&[]);
    let (alice, admin) = (server.token("alice"), server.token("admin"));
    for _ in 0..2 {
        assert_eq!(
            server.command(&["board", "offline", "--json"]).json(),
            json!({ "ok": true })
        );
    }
    assert_eq!(get(&server.api("/forums")).code(), "board_offline");
    assert_eq!(server.get(&alice, "/forums").status, 503);
    assert_eq!(server.get(&admin, "/forums").status, 200);
    assert_eq!(get(&server.api("/openapi.json")).status, 200);
    assert_eq!(get(&server.beside("/health")).status, 200);
    assert_eq!(server.command(&["board", "online"]).status, 0);
    assert_eq!(get(&server.api("/forums")).status, 200);
}
