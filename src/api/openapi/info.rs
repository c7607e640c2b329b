//! What a client's author reads first: the description of the whole document.

use crate::api::Settings;
use crate::api::error::Code;
use crate::rate_limit::Window;
use crate::scope::Surface;

pub(super) fn guide(settings: &Settings, surface: Surface) -> String {
    let Settings {
        token_window,
        guest_window,
        ..
    } = settings;
    let errors = table(["status", "code", "meaning"], errors(surface));
    let budgets = format!(
        "A token has {}. All who send none from one range of addresses share {}.",
        budget(*token_window),
        budget(*guest_window),
    );
    [BEGIN, ERRORS, &errors, BUDGETS, &budgets, CONVENTIONS].join("\n\n")
}

/// Who may call, and what each scope allows.
pub(super) fn authentication(surface: Surface) -> String {
    let scopes = surface
        .scopes()
        .map(|scope| [format!("`{scope}`"), scope.allows().into()]);
    let scopes = table(["scope", "allows"], scopes);
    [AUTHENTICATION, &scopes].join("\n\n")
}

fn errors(surface: Surface) -> impl Iterator<Item = [String; 3]> {
    Code::of(surface).map(|code| {
        let (status, name) = (code.status().to_string(), format!("`{}`", code.as_str()));
        [status, name, code.meaning().into()]
    })
}

fn budget(window: Window) -> String {
    let seconds = window.length.as_secs();
    format!("{} units in {seconds} seconds", window.units)
}

/// A table in Markdown.
fn table<const N: usize>(heads: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let heads = format!("| {} |\n|{}", heads.join(" | "), "---|".repeat(N));
    let rows = rows.map(|cells| format!("| {} |", cells.join(" | ")));
    std::iter::once(heads)
        .chain(rows)
        .collect::<Vec<_>>()
        .join("\n")
}

const AUTHENTICATION: &str = "\
A token, as `authorization: Bearer forum_pat_<lookup>_<secret>`. The board's administrators issue it in the control \
panel, under API tokens. It restricts its owner, and never grants what the owner may not do: each request asks anew what \
that is. `x-scope` names the scope that each operation needs.";

const BEGIN: &str = "\
Read and write a discussion forum. All paths stand below the address under `servers`, and take and answer JSON.

## First requests

`GET /forums` needs no token. Whoever sends none is the board's guest, and sees what the board shows to everybody. \
Whatever writes, or is about the caller, needs a token: `GET /me` tells whose it is and what it may be used for. A token \
that is sent must be valid, and carry the operation's scope, even where none is needed.

What the caller may not see is answered as if it were not there: lists leave it out, and its address is a 404.";

const ERRORS: &str = "\
## Errors

Each refusal has the same body: `{\"error\":{\"code\":\"…\",\"message\":\"…\",\"requestId\":\"…\"}}`. Decide by `code`, and by \
the status where you do not know the code. Show `message`: it is in the board's language, and names the field or \
parameter at fault. Quote `requestId` to the board's operators; their log knows it. Codes in upper case are the answers \
of the board's own rules, the same that its web pages give.

A 503 with `internal_error` and `retry-after` means that the board is overloaded and has not carried out the request: \
send it again after that many seconds, a POST with the same `Idempotency-Key`.

The HTTP server refuses some requests before the board sees them: 400 for a malformed request line or header, 414 for a \
target that is too long, 431 for headers that are too large or too many. Those answers have neither a body nor the \
headers listed here, are not charged, and close the connection. A request of HTTP/1.1 needs exactly one `Host` header; \
otherwise it is a 400 `bad_request`, which is not charged.";

const BUDGETS: &str = "\
## Budgets

Work is metered in units. Each operation has its cost (`x-ratelimit-cost`), and each answer says what is left until \
when. When it is not enough the answer is 429, and costs nothing: send the request again after `retry-after` seconds.

`GET /openapi.json`, this document, costs nothing and is never refused for want of units. It needs no token, and an \
`authorization` header is ignored. It is answered while the board is offline.";

const CONVENTIONS: &str = "\
## Lists

A list answers `{\"items\":[…],\"next\":…}`. Send `next` as `after`, with all other parameters as they were, for the next \
page; it is null exactly when nothing follows. What was in the list all along comes exactly once, whatever is written \
meanwhile. A cursor is opaque, and good for the list that gave it.

## Repeating a request

Whatever is no POST may be sent again at any time: done twice it leaves the same behind, though the second answer may \
be a refusal. A POST may be sent again with an `Idempotency-Key` of your own making, such as a UUID. For 24 hours after a \
success the same request with the same key receives the stored response with `idempotency-replayed: true`, and is not \
carried out twice. A 404 replaces it if you can no longer see what it is about. A refusal (4xx) changed nothing and \
releases the key: the same request runs again.

A repeat is a 409 while the first request is running, with `retry-after`; and for 24 hours if the outcome of the first is \
unknown, as after a 500: check the result first, then use a new key. The same key with a different request is a 409, too.

## Reading again

GET answers with an `etag`. Send it as `if-none-match`: as long as nothing changed the answer is a 304 without a body, \
at the same cost.

## Names and values

Names are camelCase. Times are RFC 3339 in UTC. Ids are opaque strings. A field without a value is null, and never left \
out of an answer. Answers may gain fields: pass over those that you do not know. Requests are read strictly: a parameter \
or field that is not listed is a 400. Members are named by their id or by `@username` wherever a `userId` is taken.";
