//! Reads all pages of a list.

use super::*;

/// Reads the pages of a list by following `next`.
pub(crate) async fn pages(server: &Server, path: &str, token: &str) -> Vec<TestResponse> {
    let mut pages = Vec::new();
    let mut query = String::new();
    loop {
        let request = Request::get(&format!("{path}{query}")).bearer(token);
        let page = server.send(&request).await;
        assert_eq!(page.status, 200, "{page:?}");
        let next = page.json()["next"].clone();
        pages.push(page);
        match next {
            Value::String(next) => {
                query = format!("{}after={next}", if path.contains('?') { "&" } else { "?" })
            }
            _ => return pages,
        }
    }
}

/// Returns the items of these pages, in order.
pub(crate) fn items(pages: &[TestResponse]) -> Vec<Value> {
    let items = pages.iter().map(|page| page.json()["items"].take());
    items.flat_map(|items| items.as_array().cloned().unwrap()).collect()
}

/// Returns the ids in these pages, in order.
pub(crate) fn ids(pages: &[TestResponse], id: &str) -> Vec<String> {
    let items = items(pages).into_iter();
    let ids = items.map(|item| item[id].as_str().unwrap().to_owned());
    ids.collect()
}
