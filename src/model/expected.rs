//! Expected formats of request parts, as phrases in each language.

use serde::de::{self, Unexpected};

macro_rules! phrases {
    ($($name:ident $english:expr, $german:literal;)+) => {
        /// Expected format of a field, a parameter or a header.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Expected {
            $($name,)+
        }

        impl Expected {
            pub(crate) const fn english(self) -> &'static str {
                match self { $(Self::$name => $english,)+ }
            }

            pub(crate) const fn german(self) -> &'static str {
                match self { $(Self::$name => $german,)+ }
            }

            const fn key(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)+ }
            }

            /// Returns the phrase of an error that [`Expected::error`] created.
            pub(crate) fn from_error(unexpected: Unexpected<'_>) -> Option<Self> {
                match unexpected {
                    $(Unexpected::Other(stringify!($name)) => Some(Self::$name),)+
                    _ => None,
                }
            }
        }
    };
}

phrases! {
    Boolean "true or false", "true oder false";
    Change "at least one change", "mindestens eine Änderung";
    CompleteBody "a complete body", "ein vollständiger Inhalt";
    CompleteBodyInTime "a complete body before the request timeout", "ein vollständiger Inhalt vor Ablauf des Zeitlimits";
    Cursor "a cursor returned by this list", "ein Cursor, den diese Liste zurückgegeben hat";
    DateRange "24h, 7d, 30d, 1y, or a date range, for example 2026-01-01..2026-02-01",
        "24h, 7d, 30d, 1y oder ein Zeitraum, zum Beispiel 2026-01-01..2026-02-01";
    ForumIds "comma-separated forum ids", "eine durch Kommas getrennte Liste von forumIds";
    IdempotencyKey "1 to 64 visible ASCII characters", "ein Text aus 1 bis 64 sichtbaren ASCII-Zeichen";
    Json "a request body in JSON", "ein Anfrageinhalt im JSON-Format";
    JsonType "application/json", "application/json";
    Limit "1 to 100", "1 bis 100";
    List "a list", "eine Liste";
    NotWithAfter "not to be combined with after", "eine Anfrage ohne after";
    Number "a number", "eine Zahl";
    NumberInBounds "a number within the bounds of the field", "eine Zahl innerhalb der Grenzen des Felds";
    Object "an object", "ein Objekt";
    PercentEncoding "percent-encoded UTF-8", "prozentkodiertes UTF-8";
    SearchQuery "1 to 200 characters with at least one word to search for, and at most 32 words",
        "ein Suchtext aus 1 bis 200 Zeichen mit mindestens einem Suchwort und höchstens 32 Wörtern";
    SmallerBody "a smaller body", "ein kleinerer Inhalt";
    Text "text", "Text";
    TextWithoutNulOrBom "text without U+0000 or a byte-order mark", "Text ohne U+0000 und ohne Byte-Order-Mark";
    Timestamp "an RFC 3339 time, for example 2026-01-31T12:00:00Z", "eine Zeitangabe nach RFC 3339, zum Beispiel 2026-01-31T12:00:00Z";
    UserRef "a userId or @username", "eine userId oder @username";
    WholeNumber "a whole number", "eine ganze Zahl";
}

impl Expected {
    /// Creates an error of a deserializer. The API's own deserializer keeps the variant; other deserializers keep only
    /// the English phrase.
    pub(crate) fn error<E: de::Error>(self) -> E {
        E::invalid_value(Unexpected::Other(self.key()), &self.english())
    }
}
