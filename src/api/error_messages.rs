//! The library's own sentences, in English and German; a host may give others.

use std::borrow::Cow;

use super::Language;
use crate::api::extract::error::{Complaint, Wrong};
use crate::model::Query;

type Text = Cow<'static, str>;

/// What the library itself says to clients (contract, section 4). A board's commands bring their own texts.
#[derive(Clone, Debug)]
pub struct Messages {
    /// 401 `unauthenticated`: one sentence, the same for every reason.
    pub unauthenticated: Text,
    /// 403 `missing_scope`.
    pub missing_scope: Text,
    /// 403 `owner_unavailable`.
    pub owner_unavailable: Text,
    /// 404 `no_such_route`.
    pub no_such_route: Text,
    /// 404 `not_found`.
    pub not_found: Text,
    /// 429 `rate_limited`.
    pub rate_limited: Text,
    /// 500 `internal_error`.
    pub internal_error: Text,
    /// 501 `not_implemented`.
    pub not_implemented: Text,
    /// 503 `board_offline`.
    pub board_offline: Text,
    /// 409 `CONFLICT`: the first request with this `Idempotency-Key` still runs.
    pub key_running: Text,
    /// 409 `CONFLICT`: the first request with this `Idempotency-Key` was cut off.
    pub key_unknown: Text,
    /// 409 `CONFLICT`: the `Idempotency-Key` belongs to another request.
    pub key_reused: Text,
    /// 400 `bad_request`, after a name and a colon: what was expected; the phrase follows.
    pub expected: Text,
    /// 400 `bad_request`, after a name and a colon: it is missing.
    pub missing: Text,
    /// 400 `bad_request`, after a name and a colon: it is there more than once.
    pub repeated: Text,
    /// 400 `bad_request`, after a name and a colon: it is not known here.
    pub unknown: Text,
    /// What can be expected: English phrases and their translations. One that is not listed stays English.
    pub phrases: Cow<'static, [(&'static str, &'static str)]>,
}

impl Messages {
    /// The sentences that the library ships.
    pub fn of(language: Language) -> Self {
        match language {
            Language::English => english(),
            Language::German => german(),
        }
    }

    pub(crate) fn complain(&self, complaint: &Complaint) -> String {
        let name = complaint.speakable();
        match &complaint.wrong {
            Wrong::Expected(phrase) => {
                format!("{name}: {} {}", self.expected, self.translate(phrase))
            }
            Wrong::Missing => format!("{name}: {}", self.missing),
            Wrong::Repeated => format!("{name}: {}", self.repeated),
            Wrong::Unknown => format!("{name}: {}", self.unknown),
        }
    }

    fn translate<'a>(&'a self, phrase: &'a str) -> &'a str {
        let found = self.phrases.iter().find(|(english, _)| *english == phrase);
        found.map_or(phrase, |(_, translation)| translation)
    }
}

fn english() -> Messages {
    Messages {
        unauthenticated: "A valid bearer token is needed.".into(),
        missing_scope: "The token lacks the scope of this endpoint.".into(),
        owner_unavailable: "The token's owner can no longer act.".into(),
        no_such_route: "There is no such endpoint.".into(),
        not_found: "There is no such thing here.".into(),
        rate_limited: "The budget of this window is spent.".into(),
        internal_error: "Something went wrong on the board's side.".into(),
        not_implemented: "This board does not offer this endpoint yet.".into(),
        board_offline: "The board is offline.".into(),
        key_running: "The first request with this Idempotency-Key is still running.".into(),
        key_unknown: "The first request with this Idempotency-Key was cut off, and its outcome is unknown: look whether it was carried out.".into(),
        key_reused: "This Idempotency-Key belongs to another request.".into(),
        expected: "expected".into(),
        missing: "required".into(),
        repeated: "given more than once".into(),
        unknown: "not known here".into(),
        phrases: Cow::Borrowed(&[]),
    }
}

fn german() -> Messages {
    Messages {
        unauthenticated: "Ein gültiges Bearer-Token ist nötig.".into(),
        missing_scope: "Dem Token fehlt das Recht (scope) für diesen Endpunkt.".into(),
        owner_unavailable: "Das Konto, dem das Token gehört, kann nicht mehr handeln.".into(),
        no_such_route: "Diesen Endpunkt gibt es nicht.".into(),
        not_found: "Das gibt es hier nicht.".into(),
        rate_limited: "Das Budget dieses Zeitfensters ist verbraucht.".into(),
        internal_error: "Auf der Seite des Forums ist etwas schiefgegangen.".into(),
        not_implemented: "Dieses Forum bietet diesen Endpunkt noch nicht an.".into(),
        board_offline: "Das Forum ist offline.".into(),
        key_running: "Die erste Anfrage mit diesem Idempotency-Key läuft noch.".into(),
        key_unknown: "Die erste Anfrage mit diesem Idempotency-Key wurde unterbrochen, ihr Ausgang ist unbekannt: Bitte nachsehen, ob sie ausgeführt wurde.".into(),
        key_reused: "Dieser Idempotency-Key gehört zu einer anderen Anfrage.".into(),
        expected: "erwartet wird".into(),
        missing: "fehlt".into(),
        repeated: "mehrfach angegeben".into(),
        unknown: "hier nicht bekannt".into(),
        phrases: Cow::Borrowed(GERMAN_PHRASES),
    }
}

const GERMAN_PHRASES: &[(&str, &str)] = &[
    ("1 to 100", "1 bis 100"),
    (
        Query::EXPECTED,
        "1 bis 200 Zeichen, mit einem Wort, nach dem zu suchen ist, und höchstens 32 im Ganzen",
    ),
    (
        "1 to 64 visible ASCII characters",
        "1 bis 64 sichtbare ASCII-Zeichen",
    ),
    (
        "24h, 7d, 30d, 1y, or dates as 2026-01-01..2026-02-01",
        "24h, 7d, 30d, 1y oder Daten wie 2026-01-01..2026-02-01",
    ),
    ("JSON", "JSON"),
    (
        "a cursor that this list gave",
        "ein Cursor, den diese Liste gab",
    ),
    ("a list", "eine Liste"),
    ("a post of this thread", "ein Beitrag dieses Themas"),
    ("a smaller body", "ein kleinerer Inhalt"),
    (
        "a time, as 2026-01-31T12:00:00Z",
        "eine Zeit wie 2026-01-31T12:00:00Z",
    ),
    ("a whole body", "ein vollständiger Inhalt"),
    (
        "a whole body in time",
        "ein vollständiger Inhalt in der gegebenen Zeit",
    ),
    ("a whole number", "eine ganze Zahl"),
    ("a userId or @username", "eine userId oder @username"),
    ("an object", "ein Objekt"),
    ("application/json", "application/json"),
    ("exactly one", "genau einer"),
    ("at least one change", "wenigstens eine Änderung"),
    (
        "forum ids, with commas between them",
        "forumIds, mit Kommas dazwischen",
    ),
    ("percent-encoded UTF-8", "prozentkodiertes UTF-8"),
    ("text", "Text"),
    (
        "text without U+0000 and byte-order marks",
        "Text ohne U+0000 und Byte Order Mark",
    ),
    ("to stand without after", "ein Aufruf ohne after"),
    ("true or false", "true oder false"),
];
