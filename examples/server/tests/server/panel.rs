//! Signing in and out over HTTP, and sessions.

use crate::log::parse_lines;
use crate::prelude::*;

/// The media type of a form.
pub const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

/// Sends the sign-in form.
pub fn sign_in(server: &Server, name: &str, password: &str) -> Response {
    sign_in_with(server, &[], name, password)
}

pub fn sign_in_with(
    server: &Server,
    headers: &[(&str, &str)],
    name: &str,
    password: &str,
) -> Response {
    let form = format!("name={name}&password={password}&back=%2Fpanel%2Fusage");
    let headers = [&[FORM], headers].concat();
    send("POST", &server.url("/sign-in"), &headers, &form)
}

/// The cookie of a response, as a browser sends it back.
pub fn cookie(answer: &Response) -> String {
    answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
}

/// A page of the panel with this cookie.
pub fn page(server: &Server, cookie: &str, path: &str) -> Response {
    send("GET", &server.url(path), &[("cookie", cookie)], "")
}

/// The value of a hidden field of a page.
pub fn hidden_field(page: &str, name: &str) -> String {
    let field = format!("name=\"{name}\" value=\"");
    let (_, rest) = page.split_once(&field).unwrap();
    rest.split('"').next().unwrap().to_owned()
}

fn sign_out(server: &Server, cookie: &str, headers: &[(&str, &str)]) -> Response {
    let headers = [&[("cookie", cookie), FORM], headers].concat();
    send("POST", &server.url("/sign-out"), &headers, "")
}

const FOREIGN: (&str, &str) = ("origin", "https://evil.example");

#[test]
fn a_form_of_another_site_neither_begins_nor_ends_a_session() {
    let server = Server::new(&[]);
    let foreign = sign_in_with(&server, &[FOREIGN], "ADMIN", server.password());
    assert_eq!(foreign.status_and("set-cookie"), (403, None));
    assert_eq!(sign_in(&server, "%ff", "x").status, 400);
    let session = cookie(&sign_in(&server, "ADMIN", server.password()));
    assert_eq!(sign_out(&server, &session, &[FOREIGN]).status, 403);
    // Another host of the same domain can add a cookie of this name.
    let cookies = format!("forum_session={}; {session}", "x".repeat(43));
    assert_eq!(page(&server, &cookies, "/panel/tokens").status, 200);
    let signed_out = sign_out(&server, &cookies, &[]);
    assert_eq!(signed_out.header("location"), Some("/sign-in"));
    assert_eq!(cookie(&signed_out), "forum_session=");
    for (cookies, has_ended) in [(&*session, true), ("", false)] {
        let form = page(&server, cookies, "/sign-in").body;
        assert_eq!(form.contains("Your session has ended."), has_ended);
        // The page is shown again after a wrong password.
        assert_eq!(form.contains("name=\"ended\" value=\"1\""), has_ended);
    }
}

#[test]
fn failures_lock_a_name_for_the_address_prefix_that_a_proxy_names() {
    let server = Server::new(&["--trusted-proxies", "127.0.0.0/8", "--log", "json"]);
    let sign_in_from = |address, password: &str| {
        sign_in_with(&server, &[("x-forwarded-for", address)], "admin", password)
    };
    for _ in 0..10 {
        let failed = sign_in_from("192.0.2.1", "wrong");
        assert_eq!(failed.status_and("set-cookie"), (401, None));
    }
    let refused = sign_in_from("192.0.2.99", server.password());
    let wait: u32 = refused.header("retry-after").unwrap().parse().unwrap();
    let is_limited = refused.status == 429 && (1..=300).contains(&wait);
    assert!(is_limited, "{refused:?}");
    assert_eq!(sign_in_from("192.0.3.1", server.password()).status, 303);
    server.run_ok_with_input("member password mod --password-stdin", "secret-1\n");
    let headers = [("x-forwarded-for", "192.0.4.1")];
    assert_eq!(sign_in_with(&server, &headers, "mod", "secret-1").status, 403);
    let (_, log) = server.stop_with_log();
    let lines = parse_lines(&log);
    let events: Vec<_> = lines
        .iter()
        .map(|line| json!([line["level"], line["fields"]["message"], line["span"]["client"]]))
        .filter(|event| event[1].as_str().is_some_and(|message| message.starts_with("sign-in")))
        .collect();
    let failed = json!(["WARN", "sign-in failed: invalid credentials", "192.0.2.1"]);
    let mut expected = vec![failed; 10];
    expected.push(json!(["WARN", "sign-in refused: too many failures", "192.0.2.99"]));
    expected.push(json!(["WARN", "sign-in refused: not an administrator", "192.0.4.1"]));
    assert_eq!(events, expected);
}

#[test]
fn the_panel_is_hidden_from_members_who_are_not_administrators() {
    let server = Server::new(&[]);
    server.run_ok_with_input("member password mod --password-stdin", "secret-1\n");
    let refused = sign_in(&server, "mod", "secret-1");
    assert_eq!((refused.status, refused.header("set-cookie")), (403, None));
    assert!(refused.body.contains("This account is not an administrator."), "{refused:?}");
    server.run_ok("member groups mod members,administrators");
    let session = cookie(&sign_in(&server, "mod", "secret-1"));
    assert_eq!(page(&server, &session, "/panel/tokens").status, 200);
    server.run_ok("member groups mod members");
    let hidden = page(&server, &session, "/panel/tokens");
    assert_eq!(hidden.status, 404);
    assert!(hidden.body.contains(r#"<a href="/">Back to the board</a>"#), "{hidden:?}");
    assert!(hidden.body.contains("Sign out"), "{hidden:?}");
    sign_out(&server, &session, &[]);
    assert_eq!(page(&server, &session, "/panel/tokens").status, 303);
}

#[test]
fn a_session_begins_and_ends_at_every_node_at_once() {
    let one = Server::new(&[]);
    let password = one.password().to_owned();
    let other = Server::start(one.directory.clone(), &[]);
    let statuses =
        |session: &str| [&one, &other].map(|server| page(server, session, "/panel/usage").status);
    let signed_in = |server, password: &str| {
        let session = cookie(&sign_in(server, "admin", password));
        assert_eq!(statuses(&session), [200, 200]);
        session
    };

    let session = signed_in(&one, &password);
    let csrf = [&one, &other]
        .map(|server| hidden_field(&page(server, &session, "/panel/usage").body, "csrf"));
    assert_eq!(csrf[0], csrf[1], "each node accepts forms of the other");
    sign_out(&other, &session, &[]);
    assert_eq!(statuses(&session), [303, 303]);

    let first = signed_in(&one, &password);
    let again = sign_in_with(&other, &[("cookie", &first)], "admin", &password);
    assert_eq!(statuses(&first), [303, 303], "a new session ends the previous one");
    assert_eq!(statuses(&cookie(&again)), [200, 200]);

    one.run_ok_with_input("member password admin --password-stdin", "another1\n");
    assert_eq!(statuses(&cookie(&again)), [303, 303]);
    assert_eq!(sign_in(&one, "admin", &password).status, 401);

    // The last administrator who can sign in cannot be banned.
    one.run_ok("member groups mod members,administrators");
    one.run_ok_with_input("member password mod --password-stdin", "long enough\n");
    let banned = signed_in(&other, "another1");
    for command in ["ban", "unban"] {
        one.run_ok(&format!("member {command} admin"));
        assert_eq!(statuses(&banned), [303, 303], "{command}");
    }

    let kept = signed_in(&one, "another1");
    drop(other);
    let restarted = Server::start(one.stop(), &[]);
    assert_eq!(page(&restarted, &kept, "/panel/usage").status, 200);
}
