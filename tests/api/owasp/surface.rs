//! What the service shows of itself.

use std::collections::BTreeSet;

use forum_api::host::Refusal;
use forum_api::scope::Surface;

use crate::support::rows::rows;
use crate::support::{Ask, Mood, ROWS, Server};

#[tokio::test]
async fn api8_security_misconfiguration() {
    let server = Server::new();
    let alice = server.token("alice").await;
    for row in &ROWS {
        for mood in [
            Mood::Well,
            Mood::Panics,
            Mood::Refuses(|| Refusal::failed("SELECT secret FROM vault")),
        ] {
            server.board.be(mood);
            let ask = Ask::of(row)
                .bearer(&alice)
                .header("origin", "https://evil.example");
            let answer = server.send(&ask).await;
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
            assert_eq!(answer.header("vary"), Some("authorization"));
            assert!(
                answer.header("cache-control").unwrap().contains("no-"),
                "{row:?}"
            );
            for name in [
                "server",
                "x-powered-by",
                "set-cookie",
                "access-control-allow-origin",
            ] {
                assert_eq!(answer.header(name), None, "{row:?} {name}");
            }
            let text = String::from_utf8(answer.body.to_vec()).unwrap();
            for inside in [
                "SELECT",
                "panic",
                "src/",
                ".rs",
                "backtrace",
                alice.as_str(),
            ] {
                assert!(!text.contains(inside), "{row:?} tells {inside}: {text}");
            }
        }
    }
}

#[tokio::test]
async fn api9_improper_inventory_management() {
    for surface in [Surface::Full, Surface::Compact] {
        let server = Server::on(surface);
        let document = server.send(&Ask::get("/openapi.json")).await.json();
        let mut documented = BTreeSet::new();
        for (path, operations) in document["paths"].as_object().unwrap() {
            let methods = operations.as_object().unwrap().keys();
            let methods = methods
                .filter(|key| ["get", "post", "put", "patch", "delete"].contains(&key.as_str()));
            documented.extend(methods.map(|method| (method.to_uppercase(), path.clone())));
        }
        let table = rows(surface).map(|row| (row.method.to_owned(), row.template.to_owned()));
        let openapi = ("GET".to_owned(), "/openapi.json".to_owned());
        let own: BTreeSet<_> = table.chain(documented.get(&openapi).cloned()).collect();
        assert_eq!(documented, own);
        let alice = server.token("alice").await;
        for row in &ROWS {
            let answer = server.send(&Ask::of(row).bearer(&alice)).await;
            let served = answer.code() != Some("no_such_route");
            assert_eq!(served, surface == Surface::Full || row.compact, "{row:?}");
            for version in [
                "/api",
                "/api/v0",
                "/api/v2",
                "/api/v1beta",
                "/api/v1.1",
                "/v1",
                "/internal",
                "/api/v1/v1",
            ] {
                let ask =
                    Ask::exactly(row.method, &format!("{version}{}", row.path)).bearer(&alice);
                assert_eq!(
                    server.send(&ask).await.code(),
                    Some("no_such_route"),
                    "{version} {row:?}"
                );
            }
        }
        for path in [
            "/",
            "/swagger.json",
            "/openapi.yaml",
            "/docs",
            "/health",
            "/metrics",
            "/debug",
            "/graphql",
            "/.env",
            "/admin",
        ] {
            assert_eq!(
                server.send(&Ask::get(path)).await.code(),
                Some("no_such_route"),
                "{path}"
            );
        }
    }
}
