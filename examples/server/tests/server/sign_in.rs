//! Signing in and out, and the control panel behind it, over HTTP.

use crate::client::{Answer, get, send};
use crate::program::Server;

/// The type of what a form sends.
pub const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

/// Sends the form to sign in.
pub fn sign_in(server: &Server, name: &str, password: &str) -> Answer {
    let form = format!("name={name}&password={password}&back=%2Fpanel%2Fusage");
    send("POST", &server.beside("/sign-in"), &[FORM], &form)
}

/// The cookie of an answer, as a browser sends it back.
pub fn cookie(answer: &Answer) -> String {
    let line = answer
        .raw
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: "));
    line.unwrap().split(';').next().unwrap().to_owned()
}

/// A page of the panel, as the browser with this cookie gets it.
pub fn panel(server: &Server, cookie: &str, path: &str) -> Answer {
    send("GET", &server.beside(path), &[("cookie", cookie)], "")
}

/// What a form of this page carries under this name.
pub fn carried(page: &str, name: &str) -> String {
    let (_, rest) = page
        .split_once(&format!("name=\"{name}\" value=\""))
        .unwrap();
    rest.split('"').next().unwrap().to_owned()
}

/// The password of a new board's administrator.
pub fn password(server: &Server) -> &str {
    server.greeting["password"].as_str().unwrap()
}

#[test]
fn an_administrator_signs_in_and_out() {
    let server = Server::new(&[]);
    assert_eq!(server.greeting["panel"], server.beside("/panel"));
    let sent = get(&server.beside("/panel/webhooks"));
    let to = sent.header("location").unwrap();
    assert_eq!(
        (sent.status, to),
        (303, "/sign-in?back=%2fpanel%2fwebhooks")
    );
    let page = get(&server.beside(to));
    assert!(page.status == 200 && page.body.contains("name=\"password\""));
    assert!(page.body.contains("value=\"/panel/webhooks\""));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"));

    let entered = sign_in(&server, "ADMIN", password(&server));
    assert_eq!(
        (entered.status, entered.header("location")),
        (303, Some("/panel/usage"))
    );
    let attributes = entered.header("set-cookie").unwrap();
    assert!(
        attributes.ends_with("; httponly; samesite=lax; path=/"),
        "{attributes}"
    );
    let session = cookie(&entered);
    let tokens = panel(&server, &session, "/panel/tokens");
    assert!(tokens.status == 200 && tokens.body.contains("first steps"));
    let style = get(&server.beside("/panel/style.css"));
    assert_eq!(
        style.header("content-type"),
        Some("text/css; charset=utf-8")
    );

    let out = |headers: &[(&str, &str)]| {
        let headers = [&[("cookie", session.as_str()), FORM], headers].concat();
        send("POST", &server.beside("/sign-out"), &headers, "")
    };
    assert_eq!(out(&[("origin", "https://evil.example")]).status, 403);
    assert_eq!(panel(&server, &session, "/panel/tokens").status, 200);
    assert_eq!(out(&[]).header("location"), Some("/sign-in"));
    assert_eq!(panel(&server, &session, "/panel/tokens").status, 303);
}

#[test]
fn a_wrong_log_in_is_401_and_the_form_again() {
    let server = Server::new(&[]);
    for (name, password) in [("admin", "wrong"), ("nobody", "x"), ("alice", ""), ("", "")] {
        let refused = sign_in(&server, name, password);
        assert_eq!(
            (refused.status, refused.header("set-cookie")),
            (401, None),
            "{name}"
        );
        assert!(refused.body.contains(&format!("value=\"{name}\"")));
        assert!(
            refused.body.contains("name=\"password\"") && !refused.body.contains("value=\"wrong\"")
        );
    }
    let foreign = [FORM, ("origin", "https://evil.example")];
    let form = format!("name=admin&password={}", password(&server));
    let refused = send("POST", &server.beside("/sign-in"), &foreign, &form);
    assert_eq!((refused.status, refused.header("set-cookie")), (403, None));
    let garbage = send("POST", &server.beside("/sign-in"), &[FORM], "name=%ff");
    assert_eq!(garbage.status, 400);
}

/// Sends the form to sign in by way of a trusted proxy, from this address.
fn sign_in_from(server: &Server, address: &str, name: &str, password: &str) -> Answer {
    let form = format!("name={name}&password={password}");
    let headers = [FORM, ("x-forwarded-for", address)];
    send("POST", &server.beside("/sign-in"), &headers, &form)
}

#[test]
fn failures_lock_a_name_for_their_address_prefix_only() {
    let server = Server::new(&["--empty", "--trusted-proxies", "127.0.0.0/8"]);
    for (prefix, other) in [
        (["192.0.2.1", "::ffff:192.0.2.99"], "192.0.3.1"),
        (["2001:db8::1", "2001:db8::ffff:2"], "2001:db8:0:1::1"),
    ] {
        for number in 0..10 {
            let failed = sign_in_from(&server, prefix[number % 2], "Admin", "wrong");
            assert_eq!(failed.status, 401);
        }
        for address in prefix {
            let refused = sign_in_from(&server, address, "ADMIN", password(&server));
            assert_eq!(refused.status, 429, "{address}");
            let wait: u32 = refused.header("retry-after").unwrap().parse().unwrap();
            assert!((1..=300).contains(&wait), "{wait}");
            assert_eq!(sign_in_from(&server, address, "alice", "x").status, 401);
        }
        let entered = sign_in_from(&server, other, "admin", password(&server));
        assert_eq!(entered.status, 303, "{other}");
    }
}

#[test]
fn failures_of_many_names_lock_their_address_prefix() {
    let server = Server::new(&["--empty", "--trusted-proxies", "127.0.0.0/8"]);
    for number in 0..50 {
        let (address, name) = (format!("2001:db8::{number}"), format!("name{number}"));
        let failed = sign_in_from(&server, &address, &name, "x");
        assert_eq!(failed.status, 401);
    }
    let refused = sign_in_from(&server, "2001:db8::ffff", "admin", password(&server));
    assert_eq!(refused.status, 429);
    let entered = sign_in_from(&server, "2001:db8:1::", "admin", password(&server));
    assert_eq!(entered.status, 303);
}

#[test]
fn a_member_who_is_no_administrator_sees_no_panel() {
    let server = Server::new(&[]);
    let arguments = ["member", "password", "mod", "--password-stdin"];
    assert_eq!(server.command_with(&arguments, "secret-1\n").status, 0);
    let session = cookie(&sign_in(&server, "mod", "secret-1"));
    assert_eq!(panel(&server, &session, "/panel/tokens").status, 404);
    let groups = ["member", "groups", "mod", "members,administrators"];
    assert_eq!(server.command(&groups).status, 0);
    assert_eq!(panel(&server, &session, "/panel/tokens").status, 200);
}

#[test]
fn a_token_is_issued_in_the_panel_and_opens_the_api() {
    let server = Server::new(&[]);
    let session = cookie(&sign_in(&server, "admin", password(&server)));
    let page = panel(&server, &session, "/panel/tokens/new").body;
    let form = format!(
        "csrf={}&once={}&owner=bob&label=x&scopes=members%3Aread&expires_in_days=1&password={}",
        carried(&page, "csrf"),
        carried(&page, "once"),
        password(&server)
    );
    let headers = [("cookie", session.as_str()), FORM];
    let issued = send("POST", &server.beside("/panel/tokens/new"), &headers, &form);
    let at = issued.body.find("forum_pat_").unwrap();
    let token = &issued.body[at..at + 76];
    assert_eq!(server.get(token, "/me").json()["owner"]["username"], "bob");
}
