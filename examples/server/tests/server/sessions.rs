//! A session is the board's, not a process's: it is good at every node, and ends at every node.

use crate::client::send;
use crate::program::Server;
use crate::sign_in::{FORM, cookie, panel, password, sign_in};

/// Two servers of one board, and the cookie of the administrator who signed in at the first.
struct Nodes {
    both: [Server; 2],
    session: String,
}

impl Nodes {
    fn new() -> Self {
        let one = Server::new(&[]);
        let other = Server::with_input(one.home.clone(), &[], "");
        let session = cookie(&sign_in(&one, "admin", password(&one)));
        let both = [one, other];
        Self { both, session }
    }

    /// How each answers whoever has the cookie.
    fn answers(&self) -> [u16; 2] {
        let answer = |server| panel(server, &self.session, "/panel/usage").status;
        self.both.each_ref().map(answer)
    }

    fn command(&self, arguments: &[&str], input: &str) {
        let ended = self.both[0].command_with(arguments, input);
        assert_eq!(ended.status, 0, "{ended:?}");
    }
}

#[test]
fn signed_in_at_one_is_signed_in_at_all_until_one_signs_out() {
    let nodes = Nodes::new();
    assert_eq!(nodes.answers(), [200, 200]);
    let forms = nodes.both.each_ref().map(|server| {
        let page = panel(server, &nodes.session, "/panel/usage").body;
        let (_, carried) = page.split_once("name=\"csrf\"").unwrap();
        carried.split('>').next().unwrap().to_owned()
    });
    assert_eq!(forms[0], forms[1], "a form of one is good at the other");
    let headers = [("cookie", nodes.session.as_str()), FORM];
    let left = send("POST", &nodes.both[1].beside("/sign-out"), &headers, "");
    assert_eq!(left.header("location"), Some("/sign-in"));
    assert_eq!(nodes.answers(), [303, 303]);
}

#[test]
fn to_sign_in_elsewhere_ends_the_session_before() {
    let nodes = Nodes::new();
    let form = format!("name=admin&password={}", password(&nodes.both[0]));
    let headers = [("cookie", nodes.session.as_str()), FORM];
    let entered = send("POST", &nodes.both[1].beside("/sign-in"), &headers, &form);
    let after = panel(&nodes.both[0], &cookie(&entered), "/panel/usage");
    assert_eq!((entered.status, after.status), (303, 200));
    assert_eq!(nodes.answers(), [303, 303]);
}

#[test]
fn a_new_password_ends_it_at_every_node() {
    let nodes = Nodes::new();
    let arguments = ["member", "password", "admin", "--password-stdin"];
    nodes.command(&arguments, "another1\n");
    assert_eq!(nodes.answers(), [303, 303]);
    let [one, other] = &nodes.both;
    assert_eq!(sign_in(one, "admin", password(one)).status, 401);
    let session = cookie(&sign_in(one, "admin", "another1"));
    assert_eq!(panel(other, &session, "/panel/usage").status, 200);
}

#[test]
fn a_ban_ends_it_at_every_node() {
    let nodes = Nodes::new();
    // The last administrator who can sign in cannot be banned.
    nodes.command(&["member", "groups", "mod", "members,administrators"], "");
    let password = ["member", "password", "mod", "--password-stdin"];
    nodes.command(&password, "long enough\n");
    for doing in ["ban", "unban"] {
        nodes.command(&["member", doing, "admin"], "");
        assert_eq!(nodes.answers(), [303, 303], "{doing}");
    }
}

#[test]
fn it_outlives_a_restart() {
    let server = Server::new(&[]);
    let session = cookie(&sign_in(&server, "admin", password(&server)));
    let server = Server::with_input(server.stop(), &[], "");
    assert_eq!(panel(&server, &session, "/panel/usage").status, 200);
}
