//! The library's own messages, in English and German; a host can replace them.

use std::borrow::Cow;

use super::extract::error::{InputError, InputErrorKind};
use crate::model::{Expected, SearchQuery};

type Text = Cow<'static, str>;

/// What the library itself says to clients (contract, section 4). A board's commands bring their own texts.
#[derive(Clone, Debug)]
pub struct ErrorMessages {
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
    pub idempotency_in_progress: Text,
    /// 409 `CONFLICT`: the first request with this `Idempotency-Key` was cut off.
    pub idempotency_outcome_unknown: Text,
    /// 409 `CONFLICT`: the `Idempotency-Key` belongs to another request.
    pub idempotency_key_reused: Text,
    /// 400 `bad_request`, after a name and a colon: what was expected; the phrase follows.
    pub expected_prefix: Text,
    /// 400 `bad_request`, after a name and a colon: it is missing.
    pub field_missing: Text,
    /// 400 `bad_request`, after a name and a colon: it is there more than once.
    pub field_repeated: Text,
    /// 400 `bad_request`, after a name and a colon: it is not known here.
    pub field_unknown: Text,
    /// The language of the library's own phrases: what is expected of a field.
    pub language: Language,
    /// Phrases and what replaces them, for those of the host and of its HTTP server, and for a language that the library
    /// does not know. A phrase that is not listed stays.
    pub translations: Cow<'static, [(&'static str, &'static str)]>,
}

/// A language of the library's own messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// German.
    German,
}

impl ErrorMessages {
    /// The sentences that the library ships.
    pub fn for_language(language: Language) -> Self {
        match language {
            Language::English => english(),
            Language::German => german(),
        }
    }

    pub(super) fn render(&self, error: &InputError) -> String {
        let name = error.safe_name();
        let expected = |phrase: &str| format!("{name}: {} {phrase}", self.expected_prefix);
        match &error.kind {
            InputErrorKind::Expected(phrase) => expected(self.replaced(self.translate(*phrase))),
            InputErrorKind::OneOf(words) => expected(&words.join(", ")),
            InputErrorKind::Phrase(phrase) => expected(self.replaced(phrase)),
            InputErrorKind::Missing => format!("{name}: {}", self.field_missing),
            InputErrorKind::Repeated => format!("{name}: {}", self.field_repeated),
            InputErrorKind::Unknown => format!("{name}: {}", self.field_unknown),
        }
    }

    fn translate(&self, phrase: Expected) -> &'static str {
        match self.language {
            Language::English => phrase.english(),
            Language::German => phrase.german(),
        }
    }

    fn replaced<'a>(&'a self, phrase: &'a str) -> &'a str {
        let found = self.translations.iter().find(|(known, _)| *known == phrase);
        found.map_or(phrase, |(_, replacement)| replacement)
    }
}

fn english() -> ErrorMessages {
    ErrorMessages {
        unauthenticated: "A valid bearer token is needed.".into(),
        missing_scope: "The token lacks the scope of this endpoint.".into(),
        owner_unavailable: "The token's owner can no longer act.".into(),
        no_such_route: "There is no such endpoint.".into(),
        not_found: "There is no such thing here.".into(),
        rate_limited: "The budget of this window is spent.".into(),
        internal_error: "Something went wrong on the board's side.".into(),
        not_implemented: "This board does not offer this endpoint yet.".into(),
        board_offline: "The board is offline.".into(),
        idempotency_in_progress: "The first request with this Idempotency-Key is still running.".into(),
        idempotency_outcome_unknown: "The first request with this Idempotency-Key was cut off, and its outcome is unknown: look whether it was carried out.".into(),
        idempotency_key_reused: "This Idempotency-Key belongs to another request.".into(),
        expected_prefix: "expected".into(),
        field_missing: "required".into(),
        field_repeated: "given more than once".into(),
        field_unknown: "not known here".into(),
        language: Language::English,
        translations: Cow::Borrowed(&[]),
    }
}

fn german() -> ErrorMessages {
    ErrorMessages {
        unauthenticated: "Ein gültiges Bearer-Token ist nötig.".into(),
        missing_scope: "Dem Token fehlt das Recht (scope) für diesen Endpunkt.".into(),
        owner_unavailable: "Das Konto, dem das Token gehört, kann nicht mehr handeln.".into(),
        no_such_route: "Diesen Endpunkt gibt es nicht.".into(),
        not_found: "Das gibt es hier nicht.".into(),
        rate_limited: "Das Budget dieses Zeitfensters ist verbraucht.".into(),
        internal_error: "Auf der Seite des Forums ist etwas schiefgegangen.".into(),
        not_implemented: "Dieses Forum bietet diesen Endpunkt noch nicht an.".into(),
        board_offline: "Das Forum ist offline.".into(),
        idempotency_in_progress: "Die erste Anfrage mit diesem Idempotency-Key läuft noch.".into(),
        idempotency_outcome_unknown: "Die erste Anfrage mit diesem Idempotency-Key wurde unterbrochen, ihr Ausgang ist unbekannt: Bitte nachsehen, ob sie ausgeführt wurde.".into(),
        idempotency_key_reused: "Dieser Idempotency-Key gehört zu einer anderen Anfrage.".into(),
        expected_prefix: "erwartet wird".into(),
        field_missing: "fehlt".into(),
        field_repeated: "mehrfach angegeben".into(),
        field_unknown: "hier nicht bekannt".into(),
        language: Language::German,
        translations: Cow::Borrowed(GERMAN_PHRASES),
    }
}

/// Phrases that boards and HTTP servers use.
const GERMAN_PHRASES: &[(&str, &str)] = &[
    (SearchQuery::EXPECTED_FORMAT, Expected::SearchQuery.german()),
    (Expected::Cursor.english(), Expected::Cursor.german()),
    ("a post of this thread", "ein Beitrag dieses Themas"),
    ("exactly one", "genau einer"),
];
