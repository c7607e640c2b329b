//! What the log of the real server says and never holds, at its most talkative (contract, section 13).

use crate::client::{get, send};
use crate::program::{Ended, Home, Server};
use crate::receiver::Receiver;
use crate::sign_in::{FORM, carried, cookie, panel, sign_in};

/// Stands in every text, password, cookie and secret that is made up here.
const MARK: &str = "Samovarium";

/// One request of every endpoint, and some that are refused.
#[rustfmt::skip]
const REQUESTS: &[(&str, &str, &str, u16)] = &[
    ("GET", "/me", "", 200),
    ("GET", "/forums", "", 200),
    ("GET", "/forums/2/threads", "", 200),
    ("POST", "/forums/2/threads", r#"{"title":"Samovarium","body":"Samovarium"}"#, 201),
    ("POST", "/forums/2/threads", r#"{"title":"Samovarium","body":5}"#, 400),
    ("POST", "/forums/2/threads", r#"{"Samovarium":"#, 400),
    ("GET", "/threads/1", "", 200),
    ("GET", "/threads/1/posts", "", 200),
    ("POST", "/threads/2/posts", r#"{"body":"Samovarium"}"#, 201),
    ("PATCH", "/threads/1/posts/1", r#"{"body":"Samovarium"}"#, 403),
    ("DELETE", "/threads/1/posts/1", "", 403),
    ("GET", "/members/@bob", "", 200),
    ("POST", "/members/@bob/reputation", r#"{"points":1,"comment":"Samovarium"}"#, 201),
    ("GET", "/messages", "", 200),
    ("POST", "/messages", r#"{"to":["@bob"],"subject":"Samovarium","body":"Samovarium"}"#, 201),
    ("GET", "/messages/1", "", 404),
    ("GET", "/threads/1/poll", "", 404),
    ("PATCH", "/polls/1", r#"{"question":"Samovarium"}"#, 200),
    ("POST", "/polls/1/votes", r#"{"optionIds":["1"]}"#, 201),
    ("GET", "/subscriptions", "", 200),
    ("POST", "/subscriptions", r#"{"target":"thread","targetId":"1"}"#, 201),
    ("DELETE", "/subscriptions/thread/1", "", 204),
    ("GET", "/search?q=Samovarium", "", 200),
    ("GET", "/search?q=tea&Samovarium=1", "", 400),
    ("GET", "/Samovarium", "", 404),
];

/// What must not be found, beside [`MARK`].
#[derive(Default)]
struct Hidden(Vec<String>);

impl Hidden {
    /// A token, whose public part may be logged: all behind it may not.
    fn token(&mut self, token: &str) {
        self.0.push(token.rsplit_once('_').unwrap().1.into());
    }

    fn assert_absent(&self, text: &str) {
        for hidden in self.0.iter().map(String::as_str).chain([MARK]) {
            let line = text.lines().find(|line| line.contains(hidden));
            assert_eq!(line, None, "{hidden}");
        }
    }
}

#[test]
fn no_line_of_text_holds_a_secret() {
    everything("text");
}

#[test]
fn no_line_of_json_holds_a_secret() {
    everything("json");
}

fn everything(format: &str) {
    let arguments = [
        "--log",
        format,
        "--allow-private-webhooks",
        "--webhook-initial-backoff",
        "0.05",
        "--webhook-max-backoff",
        "0.1",
        "--admin-password-stdin",
        "--token-budget",
        "9999",
    ];
    let password = format!("{MARK} 1");
    let environment = [("RUST_LOG", "trace")];
    let server = Server::with_environment(
        Home::new(),
        &environment,
        &arguments,
        &format!("{password}\n"),
    );
    let mut hidden = Hidden::default();
    let mut said = String::new();

    let alice = server.greeting["token"].as_str().unwrap().to_owned();
    hidden.token(&alice);
    let receiver = endpoints(&server, &mut hidden, &mut said);
    command(&server, "setting post.interval_seconds 0", "", &mut said);
    for (method, path, body, status) in REQUESTS {
        let bearer = format!("Bearer {alice}");
        let cookie = format!("session={MARK}");
        let headers = [
            ("authorization", &*bearer),
            ("cookie", &*cookie),
            ("content-type", "application/json"),
        ];
        let answer = send(method, &server.api(path), &headers, body);
        assert_eq!(answer.status, *status, "{method} {path} {}", answer.body);
    }
    assert!(
        receiver.next().body.contains("event"),
        "webhooks are sent meanwhile"
    );
    afternoon(&server, &password, &mut hidden);
    let refused = refusals(&server, &password, &alice, &mut hidden, &mut said);
    said.push_str(&get(&server.beside("/metrics")).body);
    server.signal("TERM");
    let (_, status, log) = server.wait();
    assert!(status.success());

    for (reason, id) in refused {
        let line = log
            .lines()
            .find(|line| line.contains("unauthenticated") && line.contains(&id));
        let line = line.unwrap_or_else(|| panic!("no line of {reason}"));
        assert!(line.contains("WARN") && line.contains(reason), "{line}");
    }
    for talkative in ["TRACE", "answered", "attempted", "INSERT", "retrying"] {
        assert!(log.contains(talkative), "{talkative}");
    }
    hidden.assert_absent(&log);
    hidden.assert_absent(&said);
}

/// What a command printed, and what it said on standard error.
fn command(server: &Server, line: &str, input: &str, said: &mut String) -> Ended {
    let arguments: Vec<_> = line.split(' ').collect();
    let ended = server.command_with(&arguments, input);
    said.push_str(&ended.err);
    ended
}

/// Registers endpoints, one that hears everything and two that cannot, and does all that there is to do with one.
fn endpoints(server: &Server, hidden: &mut Hidden, said: &mut String) -> Receiver {
    let receiver = Receiver::answering(|received| {
        Some(if received.body.contains("poll") {
            500
        } else {
            204
        })
    });
    let mut add = |url: &str, input: &str, more: &str| {
        let line = format!("webhook add --json --allow-private-webhooks --url {url}{more}");
        let added = command(server, &line, input, said).json();
        hidden.0.push(added["secret"].as_str().unwrap().into());
        added["id"].as_str().unwrap().to_owned()
    };
    let id = add(&receiver.url, "", "");
    add(
        &format!("http://127.0.0.1:1/{MARK}"),
        &format!("{MARK}-secret-of-an-endpoint"),
        " --secret-stdin",
    );
    add(
        &format!("http://no-such-host.invalid/{MARK}?key={MARK}"),
        "",
        "",
    );
    let refused = command(
        server,
        &format!("webhook add --url http://10.0.0.1/{MARK}"),
        "",
        said,
    );
    assert_eq!(refused.status, 1);
    for action in ["ping", "rotate", "activate", "disable", "enable", "ping"] {
        let line = format!("webhook {action} {id} --json");
        let done = command(server, &line, "", said);
        assert_eq!(done.status, 0, "{done:?}");
        hidden
            .0
            .extend(done.json()["secret"].as_str().map(Into::into));
    }
    receiver
}

/// Signs in, wrongly and rightly, and does in the panel what shows a secret.
fn afternoon(server: &Server, password: &str, hidden: &mut Hidden) {
    assert_eq!(sign_in(server, "admin", MARK).status, 401);
    let typed = password.replace(' ', "+");
    let session = cookie(&sign_in(server, "admin", &typed));
    let (_, id) = session.split_once('=').unwrap();
    hidden.0.push(id.into());
    let issue =
        format!("owner=bob&label=x&scopes=members%3Aread&expires_in_days=1&password={typed}");
    let add = format!("owner=admin&topics=post.created&url=http%3A%2F%2F127.0.0.1%3A1%2F{MARK}");
    for (path, form, begins) in [
        ("/panel/tokens/new", issue, "forum_pat_"),
        ("/panel/webhooks", add, "whsec_"),
    ] {
        let page = panel(server, &session, path).body;
        let (csrf, once) = (carried(&page, "csrf"), carried(&page, "once"));
        hidden.0.push(csrf.clone());
        let form = format!("csrf={csrf}&once={once}&{form}");
        let headers = [("cookie", session.as_str()), FORM];
        let shown = send("POST", &server.beside(path), &headers, &form);
        let (_, secret) = shown.body.split_once(begins).unwrap();
        let secret = secret.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        hidden.0.extend(
            secret
                .take(1)
                .map(|text| text.rsplit('_').next().unwrap().into()),
        );
    }
}

/// A request for each reason of a 401; gives the reasons and the ids.
fn refusals(
    server: &Server,
    password: &str,
    alice: &str,
    hidden: &mut Hidden,
    said: &mut String,
) -> Vec<(&'static str, String)> {
    let issue = "token issue --owner bob --scopes all --expires-in-days 5 --password-stdin";
    let mut issued = || {
        command(server, issue, password, said)
            .out
            .trim_end()
            .to_owned()
    };
    let (revoked, expired) = (issued(), issued());
    let wrong = command(server, issue, &format!("{MARK} 2"), said);
    assert_eq!(wrong.status, 1, "{wrong:?}");
    let lookup = |token: &str| token["forum_pat_".len()..][..16].to_owned();
    let revoke = format!("token revoke {}", lookup(&revoked));
    assert_eq!(command(server, &revoke, "", said).status, 0);
    let expire = "UPDATE forum_api_tokens SET expires_at = 1 WHERE lookup =";
    let expire = format!("{expire} '{}' RETURNING lookup", lookup(&expired));
    assert_eq!(server.home.ask(&expire), [lookup(&expired)]);
    let unknown = Server::new(&["--no-worker"]).greeting["token"].clone();
    let unknown = unknown.as_str().unwrap();
    let malformed = format!("forum_pat_{MARK}{}", &alice[20..]);
    let bad = [
        ("Revoked", &*revoked),
        ("Expired", &expired),
        ("Unknown", unknown),
        ("Malformed", &malformed),
    ];
    let mut ids = vec![("Absent", get(&server.api("/me")))];
    for (reason, token) in bad {
        hidden.token(token);
        ids.push((reason, server.get(token, "/me")));
    }
    let id = |answer: crate::client::Answer| {
        assert_eq!(answer.status, 401);
        answer.header("x-request-id").unwrap().to_owned()
    };
    ids.into_iter()
        .map(|(reason, answer)| (reason, id(answer)))
        .collect()
}
