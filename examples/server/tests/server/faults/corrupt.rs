//! A page of the file that holds rubbish.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use crate::client::get;
use crate::program::{Home, Server};

/// In which page of the file a table begins, and how long a page is.
fn page(home: &Home, table: &str) -> (u64, usize) {
    let root = format!("SELECT CAST(rootpage AS TEXT) FROM sqlite_schema WHERE name = '{table}'");
    let size = "SELECT CAST(page_size AS TEXT) FROM pragma_page_size";
    let number = |sql: &str| home.ask(sql)[0].parse::<usize>().unwrap();
    let size = number(size);
    ((number(&root) as u64 - 1) * size as u64, size)
}

fn write(home: &Home, bytes: &[u8], at: u64) {
    let file = File::options()
        .write(true)
        .open(home.path().join("forum.db"));
    file.unwrap().write_all_at(bytes, at).unwrap();
}

#[test]
fn a_corrupt_page_costs_what_is_on_it_and_no_more() {
    let server = Server::with_input(Home::in_sqlite(), &[], "");
    let token = server.greeting["token"].as_str().unwrap().to_owned();
    let home = server.stop();
    let (at, size) = page(&home, "message");
    let sound = fs::read(home.path().join("forum.db")).unwrap();
    write(&home, &vec![0xA5; size], at);

    let server = Server::with_input(home, &[], "");
    for _ in 0..3 {
        let spoilt = server.get(&token, "/messages?folder=sent");
        assert_eq!(
            (spoilt.status, spoilt.code().as_str()),
            (500, "internal_error")
        );
        assert_eq!(server.get(&token, "/threads/1/posts").status, 200);
        assert_eq!(get(&server.api("/forums")).status, 200);
    }
    let reply = serde_json::json!({ "body": "On another page." });
    assert_eq!(server.post(&token, "/threads/1/posts", &reply).status, 201);
    server.signal("TERM");
    let (home, status, log) = server.wait();
    assert!(
        status.success() && log.contains("malformed") && !log.contains("panicked"),
        "{log}"
    );

    write(&home, &sound[at as usize..][..size], at);
    let server = Server::with_input(home, &[], "");
    assert_eq!(server.get(&token, "/messages?folder=sent").status, 200);
    let posts = server.get(&token, "/threads/1/posts");
    assert!(posts.body.contains("On another page."), "{posts:?}");
}
