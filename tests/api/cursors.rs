//! Lists and conditional reads (`docs/protocol.md`, section 7).

use crate::openapi::{document, parameters};
use crate::support::paging::{items, pages};
use crate::support::*;

/// Returns the paths of the lists that have pages, each with a `?` or a `&` for the next parameter.
fn lists() -> Vec<String> {
    let document = document(Surface::Full);
    let is_list =
        |row: &&Row| parameters(&document, row).any(|parameter| parameter["name"] == "limit");
    let separator = |path: &str| if path.contains('?') { '&' } else { '?' };
    let lists = ROWS.iter().filter(is_list).map(|row| row.path);
    lists.map(|path| format!("{path}{}", separator(path))).collect()
}

#[tokio::test]
async fn the_pages_of_a_list_hold_each_item_once_and_the_last_has_no_cursor() {
    let (server, alice) = Server::with_alice().await;
    for path in lists() {
        let all = items(&pages(&server, &format!("{path}limit=100"), &alice).await);
        let total = all.len();
        assert!((3..100).contains(&total), "{path} {total}");
        for limit in [1, 3, total - 1, total, total + 1] {
            let query = format!("{path}limit={limit}");
            let pages = pages(&server, &query, &alice).await;
            assert_eq!(items(&pages), all, "{query}");
            let count = total.div_ceil(limit);
            assert_eq!(pages.len(), count, "no page is empty: {query}");
            for page in &pages {
                let next = page.json()["next"].as_str().map(str::to_owned);
                let link = page.header("link").map(str::to_owned);
                assert_eq!(link.is_some(), next.is_some());
                let end = format!("after={}>; rel=\"next\"", next.unwrap_or_default());
                assert!(link.is_none_or(|link| link.ends_with(&end)), "{query}");
            }
        }
        let distinct: BTreeSet<_> = all.iter().map(Value::to_string).collect();
        assert_eq!(distinct.len(), total, "{path}");
    }
}

#[tokio::test]
async fn a_list_rejects_the_cursors_of_all_other_lists() {
    let (server, alice) = Server::with_alice().await;
    for path in lists() {
        let request = Request::get(&format!("{path}limit=1")).bearer(&alice);
        let first = server.send(&request).await.json();
        let next = first["next"].as_str().unwrap();
        assert!(next.len() <= 200 && next.bytes().all(|byte| byte.is_ascii_graphic()));
        for other in lists() {
            let is_own = other == path;
            let expected = if is_own { (200, None) } else { BAD_REQUEST };
            let request = Request::get(&format!("{other}after={next}"));
            server.expect(request.bearer(&alice), expected).await;
        }
    }
}

#[tokio::test]
async fn a_cursor_is_bound_to_the_order_of_posts() {
    let server = Server::new();
    let orders = [(0, ""), (0, "&sort=oldest"), (1, "&sort=newest")];
    for (order, query) in orders {
        let path = format!("/threads/open-1/posts?limit=1&from=open-1-1{query}");
        let first = server.send(&Request::get(&path)).await;
        let next = first.json()["next"].as_str().unwrap().to_owned();
        let link =
            format!("</api/v1/threads/open-1/posts?limit=1{query}&after={next}>; rel=\"next\"");
        assert_eq!(first.header("link"), Some(link.as_str()));
        for (other, query) in orders {
            let expected = if order == other { (200, None) } else { BAD_REQUEST };
            let path = format!("/threads/open-1/posts?limit=1{query}&after={next}");
            server.expect(Request::get(&path), expected).await;
        }
    }
}

#[tokio::test]
async fn a_page_has_20_items_by_default() {
    let server = Server::new();
    let page = server.send(&Request::get("/threads/open-1/posts")).await;
    assert_eq!(page.json()["items"].as_array().unwrap().len(), 20);
}

#[tokio::test]
async fn links_work_for_any_encoding_of_the_query() {
    let server = Server::new();
    for query in [
        "q=te%61&limit=1",
        "q=tee%20gr%C3%BCn&limit=1",
        "q=grün&limit=1",
        "&&limit=1&q=tea&",
        "q=tea,;tea&forum=open,members&limit=1",
    ] {
        let first = server.send(&Request::get(&format!("/search?{query}"))).await;
        let mut link = first.header("link").unwrap_or_else(|| panic!("{query}")).to_owned();
        assert_eq!(link.matches([',', ';']).collect::<String>(), ";", "{link}");
        link = link[1..link.find('>').unwrap()].replace("after=", "%61fter=");
        let second = server.send(&Request::exact("GET", &link)).await;
        assert_eq!(second.status, 200, "{query}");
        assert_eq!(second.json()["next"].as_str(), None, "{query}");
    }
    let posts = "/threads/open-1/posts?limit=20";
    let first = server.send(&Request::get(posts)).await.json();
    let next = first["next"].as_str().unwrap();
    let encoded = Request::get(&format!("{posts}&%61fter={next}"));
    let second = server.send(&encoded).await;
    let link = second.header("link").unwrap();
    assert_eq!(link.matches("fter=").count(), 1, "{link}");
}

#[tokio::test]
async fn a_cursor_is_valid_only_for_its_own_list() {
    let (server, alice) = Server::with_alice().await;
    let bob = server.token("bob").await;
    let next = |path: &'static str| {
        let server = &server;
        let alice = &alice;
        async move {
            let page = server.send(&Request::get(path).bearer(alice)).await;
            page.json()["next"].as_str().unwrap().to_owned()
        }
    };
    let posts = next("/threads/open-1/posts?limit=2").await;
    let inbox = next("/messages?limit=2").await;
    let followed = next("/subscriptions?limit=1").await;
    let hits = next("/search?q=tea&limit=1").await;
    let threads = next("/forums/open/threads?limit=1").await;
    let edited = format!("{posts}A");
    let cut = &posts[..posts.len() - 1];
    let long = "A".repeat(10_000);
    #[rustfmt::skip]
    let rows: &[(&str, &str, &String, bool)] = &[
        ("/threads/open-1/posts?", &posts, &alice, true),
        ("/threads/open-1/posts?limit=7&", &posts, &bob, true),
        ("/threads/open-1/posts?body=html&", &posts, &bob, true),
        ("/threads/open-2/posts?", &posts, &alice, false),
        ("/threads/open-1/posts?since=2026-01-01T00:00:00Z&", &posts, &alice, false),
        ("/forums/open/threads?", &threads, &bob, true),
        ("/forums/%6Fpen/threads?", &threads, &bob, true),
        ("/forums/members/threads?", &threads, &alice, false),
        ("/messages?", &inbox, &alice, true),
        ("/messages?folder=inbox&", &inbox, &alice, true),
        ("/messages?", &inbox, &bob, false),
        ("/messages?folder=sent&", &inbox, &alice, false),
        ("/messages?unread=true&", &inbox, &alice, false),
        ("/subscriptions?", &followed, &alice, true),
        ("/subscriptions?", &followed, &bob, false),
        ("/subscriptions?target=forum&", &followed, &alice, false),
        ("/search?q=tea&", &hits, &alice, true),
        ("/search?q=coffee&", &hits, &alice, false),
        ("/search?q=tea&by=bob&", &hits, &alice, false),
        ("/search?q=tea&forum=open&", &hits, &alice, false),
        ("/search?q=tea&sort=newest&", &hits, &alice, false),
        ("/search?q=tea&show=threads&", &hits, &alice, false),
        ("/search?q=tea&in=titles&", &hits, &alice, false),
        ("/search?q=tea&when=7d&", &hits, &alice, false),
        ("/threads/open-1/posts?", &edited, &alice, false),
        ("/threads/open-1/posts?", cut, &alice, false),
        ("/threads/open-1/posts?", "", &alice, false),
        ("/threads/open-1/posts?", "20", &alice, false),
        ("/threads/open-1/posts?", "' or 1=1 --", &alice, false),
        ("/threads/open-1/posts?", &long, &alice, false),
    ];
    for (path, cursor, token, is_valid) in rows {
        let request = Request::get(&format!("{path}after={}", cursor.replace(' ', "+")));
        let response = server.send(&request.bearer(token)).await;
        let error = "after: expected a cursor returned by this list";
        let expected = if *is_valid { (200, "") } else { (400, error) };
        assert_eq!((response.status, &*message(&response)), expected, "{path}");
    }
}

#[tokio::test]
async fn an_overlap_for_threads_is_not_subtracted_for_posts() {
    let environment = Environment::default().thread_since_overlap(Duration::from_secs(30));
    let server = Server::within(environment, settings());
    for (path, since) in [("/threads/open-1/posts", 60_000), ("/forums/open/threads", 30_000)] {
        let request = Request::get(&format!("{path}?since=1970-01-01T00:01:00Z"));
        assert_eq!(server.send(&request).await.status, 200);
        let call = server.board.last_call();
        assert!(call.contains(&format!("since: Some(Timestamp({since}))")), "{call}");
    }
}

/// The board receives a `since` that is earlier by the overlap. A cursor stays bound to the `since` of the client.
#[tokio::test]
async fn an_overlap_is_subtracted_from_since() {
    let overlap = Duration::from_secs(30);
    let environment = Environment::default().since_overlap(overlap);
    let server = Server::within(environment, settings());
    for path in ["/threads/open-1/posts", "/forums/open/threads"] {
        let get = async |query: &str| {
            let request = Request::get(&format!("{path}?limit=1{query}"));
            let page = server.send(&request).await;
            (page, server.board.last_call())
        };
        let minute = "&since=1970-01-01T00:01:00Z";
        let (page, call) = get(minute).await;
        assert!(call.contains("since: Some(Timestamp(30000))"), "{call}");
        let after = format!("&after={}", page.json()["next"].as_str().unwrap());
        let (page, call) = get(&format!("{minute}{after}")).await;
        assert!(call.contains("since: Some(Timestamp(30000))"), "{call}");
        assert_eq!(page.status, 200);
        let (page, _) = get(&format!("&since=1970-01-01T00:00:30Z{after}")).await;
        assert_eq!(page.status, 400);
        let (_, call) = get("").await;
        assert!(call.contains("since: None"), "{call}");
    }
}

#[tokio::test]
async fn a_get_has_a_stable_etag_and_is_304_if_the_client_has_it() {
    let (server, alice) = Server::with_alice().await;
    for row in ROWS.iter().filter(|row| row.method == "GET") {
        let request = Request::of(row).bearer(&alice);
        let first = server.send(&request).await;
        let Some(tag) = first.header("etag") else {
            assert_eq!(row.template, "/messages/{messageId}");
            let response = server.send(&request.header("if-none-match", "*")).await;
            assert_eq!(response.status, 200, "a response without an etag is not conditional");
            continue;
        };
        assert_eq!(server.send(&request).await.header("etag"), Some(tag), "stable: {row:?}");
        let other = "\"0123\"";
        for (listed, status) in
            [(format!("{other}, W/{tag}"), 304), ("*".into(), 304), (other.into(), 200)]
        {
            let conditional = request.clone().header("if-none-match", &listed);
            let response = server.send(&conditional).await;
            let sent = (response.status, response.header("etag"));
            assert_eq!(sent, (status, Some(tag)), "{listed} {row:?}");
            assert_eq!(response.body.is_empty(), status == 304);
        }
    }
}

#[tokio::test]
async fn responses_that_differ_have_different_etags() {
    let server = Server::new();
    let admin = server.token("admin").await;
    let forums = Request::get("/forums");
    let guest = server.send(&forums).await;
    let known = guest.header("etag").unwrap();
    let conditional = forums.bearer(&admin).header("if-none-match", known);
    let response = server.send(&conditional).await;
    assert_eq!(response.status, 200);
    assert_ne!(response.header("etag"), Some(known));
}
