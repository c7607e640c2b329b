//! Messages of the library's own errors, in English and German.

use std::borrow::Cow;

use super::extract::error::{InputError, InputErrorKind};
use crate::model::Expected;

/// Messages of the library's own errors ([protocol](crate::guide::protocol), section 5.1), each with its translation from
/// English. A text without a translation stays English. A board supplies the messages of its own errors.
///
/// ```
/// use forum_api::{ErrorMessages, Language};
///
/// let messages = ErrorMessages::for_language(Language::German).with("1 or -1", "1 oder -1");
/// assert_eq!(messages.translate("Not found."), "Nicht gefunden.");
/// assert_eq!(messages.translate("1 or -1"), "1 oder -1");
/// ```
#[derive(Clone, Debug, Default)]
pub struct ErrorMessages(Cow<'static, [(&'static str, &'static str)]>);

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
            Language::English => Self::default(),
            Language::German => Self(Cow::Borrowed(GERMAN)),
        }
    }

    /// Adds or replaces the translation of an English text: of a message or a phrase of the library, such as those that
    /// [`texts`](Self::texts) returns, or of a phrase for an expected value of the host or its HTTP server.
    #[must_use]
    pub fn with(mut self, english: &'static str, translation: &'static str) -> Self {
        self.0.to_mut().insert(0, (english, translation));
        self
    }

    /// Returns the English texts of the library, for languages that it does not have.
    pub fn texts() -> impl Iterator<Item = &'static str> {
        GERMAN.iter().map(|(english, _)| *english)
    }

    /// Returns the translation of an English text; the text itself if it has none.
    pub fn translate<'a>(&'a self, english: &'a str) -> &'a str {
        let mut translations = self.0.iter();
        let found = translations.find(|(known, _)| *known == english);
        found.map_or(english, |(_, translation)| translation)
    }

    pub(crate) fn render(&self, error: &InputError) -> String {
        let name = error.safe_name().unwrap_or("?");
        let (reason, value) = match &error.kind {
            InputErrorKind::Expected(phrase) => (EXPECTED, self.translate(phrase).to_owned()),
            InputErrorKind::OneOf(words) => (EXPECTED_ONE_OF, words.join(", ")),
            InputErrorKind::Missing => (MISSING, String::new()),
            InputErrorKind::Repeated => (REPEATED, String::new()),
            InputErrorKind::Unknown => (UNKNOWN, String::new()),
        };
        let reason = self.translate(reason);
        format!("{name}: {reason} {value}").trim_end().to_owned()
    }
}

pub(super) const UNAUTHENTICATED: &str = "A valid bearer token is required.";
pub(super) const MISSING_SCOPE: &str = "The token lacks the scope required by this endpoint:";
pub(super) const OWNER_UNAVAILABLE: &str = "The token owner's account can no longer be used.";
pub(super) const NO_SUCH_ROUTE: &str = "Unknown endpoint.";
pub(super) const NOT_FOUND: &str = "Not found.";
pub(super) const RATE_LIMITED: &str = "Rate limit exceeded.";
pub(super) const INTERNAL_ERROR: &str = "Internal error.";
pub(super) const NOT_IMPLEMENTED: &str = "This board does not implement this endpoint.";
pub(super) const BOARD_OFFLINE: &str = "The board is offline.";
pub(super) const IN_PROGRESS: &str = "A request with this Idempotency-Key is still in progress.";
pub(super) const OUTCOME_UNKNOWN: &str = "The outcome of the first request with this Idempotency-Key is unknown. Check whether it took effect before you retry with a new key.";
pub(super) const KEY_REUSED: &str =
    "This Idempotency-Key was already used for a different request.";
const EXPECTED: &str = "expected";
const EXPECTED_ONE_OF: &str = "expected one of";
const MISSING: &str = "required";
const REPEATED: &str = "given more than once";
const UNKNOWN: &str = "unknown field or parameter";

#[rustfmt::skip]
const GERMAN: &[(&str, &str)] = &[
    (UNAUTHENTICATED, "Ein gültiges Bearer-Token ist erforderlich."),
    (MISSING_SCOPE, "Dem Token fehlt der Scope, den dieser Endpunkt verlangt:"),
    (OWNER_UNAVAILABLE, "Das Konto des Token-Besitzers kann nicht mehr verwendet werden."),
    (NO_SUCH_ROUTE, "Unbekannter Endpunkt."),
    (NOT_FOUND, "Nicht gefunden."),
    (RATE_LIMITED, "Das Anfragelimit ist überschritten."),
    (INTERNAL_ERROR, "Interner Fehler."),
    (NOT_IMPLEMENTED, "Dieses Forum unterstützt diesen Endpunkt nicht."),
    (BOARD_OFFLINE, "Das Forum ist offline."),
    (IN_PROGRESS, "Eine Anfrage mit diesem Idempotency-Key wird noch bearbeitet."),
    (OUTCOME_UNKNOWN, "Das Ergebnis der ersten Anfrage mit diesem Idempotency-Key ist unbekannt. Prüfen Sie, ob diese Anfrage wirksam wurde, bevor Sie sie mit einem neuen Schlüssel wiederholen."),
    (KEY_REUSED, "Dieser Idempotency-Key wurde bereits für eine andere Anfrage verwendet."),
    (EXPECTED, "erwartet wird"),
    (EXPECTED_ONE_OF, "erwartet wird einer der Werte"),
    (MISSING, "fehlt"),
    (REPEATED, "mehrfach angegeben"),
    (UNKNOWN, "unbekanntes Feld oder unbekannter Parameter"),
    (Expected::BOOLEAN.as_str(), "true oder false"),
    (Expected::CHANGE.as_str(), "mindestens eine Änderung"),
    (Expected::COMPLETE_BODY.as_str(), "ein vollständiger Inhalt"),
    (Expected::COMPLETE_BODY_IN_TIME.as_str(), "ein vollständiger Inhalt vor Ablauf des Zeitlimits"),
    (Expected::EVENT.as_str(), "ein Ereignis, das das Board noch aufbewahrt"),
    (Expected::TOPICS.as_str(), "* oder durch Kommas getrennte Topics des Boards"),
    (Expected::CURSOR.as_str(), "ein Cursor, den diese Liste zurückgegeben hat"),
    (Expected::DATE_RANGE.as_str(), "24h, 7d, 30d, 1y oder ein Zeitraum, zum Beispiel 2026-01-01..2026-02-01"),
    (Expected::FEWER_PARTS.as_str(), "ein Inhalt in größeren Teilen: höchstens 4.096 und je 256 Bytes einer mehr"),
    (Expected::FEWER_VALUES.as_str(), "höchstens 10.000 JSON-Werte"),
    (Expected::FORUM_IDS.as_str(), "eine durch Kommas getrennte Liste von forumIds"),
    (Expected::IDEMPOTENCY_KEY.as_str(), "ein Text aus 1 bis 64 sichtbaren ASCII-Zeichen"),
    (Expected::JSON.as_str(), "ein Anfrageinhalt im JSON-Format"),
    (Expected::LIMIT.as_str(), "1 bis 100"),
    (Expected::LIST.as_str(), "eine Liste"),
    (Expected::NO_CONDITION.as_str(), "eine Anfrage ohne diesen Header; die Bedingung eines PATCH ist expectedVersion"),
    (Expected::NOT_WITH_AFTER.as_str(), "eine Anfrage ohne after"),
    (Expected::NUMBER.as_str(), "eine Zahl"),
    (Expected::NUMBER_IN_BOUNDS.as_str(), "eine Zahl innerhalb der Grenzen des Felds"),
    (Expected::OBJECT.as_str(), "ein Objekt"),
    (Expected::PERCENT_ENCODING.as_str(), "prozentkodiertes UTF-8"),
    (Expected::SEARCH_QUERY.as_str(), "ein Suchtext aus 1 bis 200 Zeichen mit mindestens einem Suchwort und höchstens 32 Wörtern"),
    (Expected::SMALLER_BODY.as_str(), "ein kleinerer Inhalt"),
    (Expected::TEXT.as_str(), "Text"),
    (Expected::TEXT_WITHOUT_NUL_OR_BOM.as_str(), "Text ohne U+0000 und ohne Byte-Order-Mark"),
    (Expected::TIMESTAMP.as_str(), "eine Zeitangabe nach RFC 3339, zum Beispiel 2026-01-31T12:00:00Z"),
    (Expected::USER_REF.as_str(), "eine userId oder @username"),
    (Expected::WHOLE_NUMBER.as_str(), "eine ganze Zahl"),
    (Expected::WHOLE_SURROGATE_PAIRS.as_str(), "ein Inhalt ohne halbe Surrogatpaare"),
    (Expected::WITH_TOKEN.as_str(), "eine Anfrage mit Token"),
    ("a post of this thread", "ein Beitrag dieses Themas"),
    ("a text, a number, true or false", "ein Text, eine Zahl, true oder false"),
    ("exactly one", "genau einer"),
    ("shorter arguments", "kürzere Argumente"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_text_has_a_translation_of_its_own() {
        let texts: BTreeSet<_> = ErrorMessages::texts().collect();
        let translations: BTreeSet<_> = GERMAN.iter().map(|(_, german)| *german).collect();
        assert_eq!((texts.len(), translations.len()), (GERMAN.len(), GERMAN.len()));
        assert!(texts.is_disjoint(&translations));
        let phrases = Expected::ALL.iter().copied().map(Expected::as_str);
        let untranslated: Vec<_> = phrases.filter(|phrase| !texts.contains(phrase)).collect();
        assert_eq!(untranslated, [Expected::JSON_TYPE.as_str()]);
    }

    /// Two translations that are exchanged are complete and distinct as well.
    #[test]
    fn a_translation_has_the_words_of_its_text() {
        for (english, german) in [
            ("number", "Zahl"),
            ("whole number", "ganze Zahl"),
            ("bounds", "Grenzen"),
            ("object", "Objekt"),
            ("cursor", "Cursor"),
            ("event", "Ereignis"),
            ("comma", "Komma"),
            ("characters", "Zeichen"),
            ("JSON", "JSON"),
            ("true or false", "true oder false"),
            ("token", "Token"),
            ("scope", "Scope"),
            ("Idempotency-Key", "Idempotency-Key"),
        ] {
            for (text, translation) in GERMAN {
                let has_both = (text.contains(english), translation.contains(german));
                assert_eq!(has_both.0, has_both.1, "{text}: {translation}");
            }
        }
    }
}
