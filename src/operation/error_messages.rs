//! Messages of the library's own errors, in English and German.

use std::borrow::Cow;

use super::extract::error::{InputError, InputErrorKind};
use crate::model::{Expected, SearchQuery};

type Text = Cow<'static, str>;

/// Messages of the library's own errors ([protocol](crate::guide::protocol), section 5.6). A board supplies the
/// messages of its own errors.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ErrorMessages {
    /// 401 `unauthenticated`: the same message for every reason.
    pub unauthenticated: Text,
    /// 403 `missing_scope`.
    pub missing_scope: Text,
    /// 403 `owner_unavailable`.
    pub owner_unavailable: Text,
    /// 404 `no_such_route`.
    pub no_such_route: Text,
    /// 404 `not_found`, and 404 `NOT_FOUND` without a message of the board.
    pub not_found: Text,
    /// 429 `rate_limited`.
    pub rate_limited: Text,
    /// 500 and 503 `internal_error`.
    pub internal_error: Text,
    /// 501 `not_implemented`.
    pub not_implemented: Text,
    /// 503 `board_offline`.
    pub board_offline: Text,
    /// 409 `CONFLICT`: the first request with this `Idempotency-Key` is still in progress.
    pub idempotency_in_progress: Text,
    /// 409 `CONFLICT`: the outcome of the first request with this `Idempotency-Key` is unknown.
    pub idempotency_outcome_unknown: Text,
    /// 409 `CONFLICT`: the `Idempotency-Key` was used for a different request.
    pub idempotency_key_reused: Text,
    /// 400 `bad_request`: the text between `name: ` and the expected value.
    pub expected_prefix: Text,
    /// 400 `bad_request`: the text between `name: ` and the allowed values. Commas separate the values.
    pub expected_one_of: Text,
    /// 400 `bad_request`: the text after `name: ` if the field is missing.
    pub field_missing: Text,
    /// 400 `bad_request`: the text after `name: ` if the field or parameter is repeated.
    pub field_repeated: Text,
    /// 400 `bad_request`: the text after `name: ` if the field or parameter is unknown.
    pub field_unknown: Text,
    /// Language of the library's own phrases for expected values.
    pub language: Language,
    /// Phrases for expected values and their replacements. Use them for phrases of the host and of its HTTP server, and
    /// for languages that the library does not have. Phrases that are not listed stay unchanged.
    ///
    /// The list of the German messages already contains the library's phrases that a board can return, such as
    /// [`SearchQuery::EXPECTED_FORMAT`]. Append to this list instead of replacing it.
    pub translations: Cow<'static, [(&'static str, &'static str)]>,
}

/// Language of the library's own messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Language {
    /// English.
    #[default]
    English,
    /// German.
    German,
}

impl ErrorMessages {
    /// Returns the library's messages in a language.
    pub fn for_language(language: Language) -> Self {
        match language {
            Language::English => english(),
            Language::German => german(),
        }
    }

    /// Returns the message of a `bad_request`.
    pub(crate) fn render(&self, error: &InputError) -> String {
        let name = error.safe_name();
        let expected = |phrase: &str| format!("{name}: {} {phrase}", self.expected_prefix);
        match &error.kind {
            InputErrorKind::Expected(phrase) => expected(self.replace(self.translate(*phrase))),
            InputErrorKind::OneOf(words) => {
                format!("{name}: {} {}", self.expected_one_of, words.join(", "))
            }
            InputErrorKind::CustomExpected(phrase) => expected(self.replace(phrase)),
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

    fn replace<'a>(&'a self, phrase: &'a str) -> &'a str {
        let mut translations = self.translations.iter();
        let translation = translations.find(|(known, _)| *known == phrase);
        translation.map_or(phrase, |(_, replacement)| replacement)
    }
}

fn english() -> ErrorMessages {
    ErrorMessages {
        unauthenticated: "A valid bearer token is required.".into(),
        missing_scope: "The token lacks the scope required by this endpoint.".into(),
        owner_unavailable: "The token owner's account can no longer be used.".into(),
        no_such_route: "Unknown endpoint.".into(),
        not_found: "Not found.".into(),
        rate_limited: "Rate limit exceeded.".into(),
        internal_error: "Internal error.".into(),
        not_implemented: "This board does not implement this endpoint.".into(),
        board_offline: "The board is offline.".into(),
        idempotency_in_progress: "A request with this Idempotency-Key is still in progress.".into(),
        idempotency_outcome_unknown: "The outcome of the first request with this Idempotency-Key is unknown. Check whether it took effect before you retry with a new key.".into(),
        idempotency_key_reused: "This Idempotency-Key was already used for a different request.".into(),
        expected_prefix: "expected".into(),
        expected_one_of: "expected one of".into(),
        field_missing: "required".into(),
        field_repeated: "given more than once".into(),
        field_unknown: "unknown field or parameter".into(),
        language: Language::English,
        translations: Cow::Borrowed(&[]),
    }
}

fn german() -> ErrorMessages {
    ErrorMessages {
        unauthenticated: "Ein gültiges Bearer-Token ist erforderlich.".into(),
        missing_scope: "Dem Token fehlt der Scope, den dieser Endpunkt verlangt.".into(),
        owner_unavailable: "Das Konto des Token-Besitzers kann nicht mehr verwendet werden.".into(),
        no_such_route: "Unbekannter Endpunkt.".into(),
        not_found: "Nicht gefunden.".into(),
        rate_limited: "Das Anfragelimit ist überschritten.".into(),
        internal_error: "Interner Fehler.".into(),
        not_implemented: "Dieses Forum unterstützt diesen Endpunkt nicht.".into(),
        board_offline: "Das Forum ist offline.".into(),
        idempotency_in_progress: "Eine Anfrage mit diesem Idempotency-Key wird noch bearbeitet.".into(),
        idempotency_outcome_unknown: "Das Ergebnis der ersten Anfrage mit diesem Idempotency-Key ist unbekannt. Prüfen Sie, ob diese Anfrage wirksam wurde, bevor Sie sie mit einem neuen Schlüssel wiederholen.".into(),
        idempotency_key_reused: "Dieser Idempotency-Key wurde bereits für eine andere Anfrage verwendet.".into(),
        expected_prefix: "erwartet wird".into(),
        expected_one_of: "erwartet wird einer der Werte".into(),
        field_missing: "fehlt".into(),
        field_repeated: "mehrfach angegeben".into(),
        field_unknown: "unbekanntes Feld oder unbekannter Parameter".into(),
        language: Language::German,
        translations: Cow::Borrowed(GERMAN_PHRASES),
    }
}

/// Translations of phrases that boards and HTTP servers use.
const GERMAN_PHRASES: &[(&str, &str)] = &[
    (SearchQuery::EXPECTED_FORMAT, Expected::SearchQuery.german()),
    (Expected::Cursor.english(), Expected::Cursor.german()),
    ("a post of this thread", "ein Beitrag dieses Themas"),
    ("exactly one", "genau einer"),
];
