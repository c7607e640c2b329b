//! [`BuildError`]: an invalid setting of a service.

use std::time::Duration;

use thiserror::Error;

/// Error of a builder that rejects an invalid setting of a service.
///
/// The message names the setting and the values that it accepts:
///
/// ```
/// use forum_api::reference::{ReferencePage, ReferenceSettings};
///
/// let mut settings = ReferenceSettings::default();
/// settings.base_path = "docs".into();
/// let document = serde_json::json!({});
/// let error = ReferencePage::of_document(&document, "/api/v1", settings).unwrap_err();
/// assert_eq!(error.setting(), "base_path");
/// assert_eq!(
///     error.to_string(),
///     "invalid setting `base_path`: expected a path such as `/docs`, with a leading slash and without a query"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("invalid setting `{setting}`: expected {expected}")]
pub struct BuildError {
    setting: &'static str,
    expected: String,
}

impl BuildError {
    pub(crate) fn new(setting: &'static str, expected: impl Into<String>) -> Self {
        let expected = expected.into();
        Self { setting, expected }
    }

    /// Returns the name of the invalid setting, such as `guest_budget.units`.
    pub fn setting(&self) -> &'static str {
        self.setting
    }

    /// Returns an error that names `setting`, unless `is_valid` is `true`.
    pub(crate) fn require(
        is_valid: bool,
        setting: &'static str,
        expected: &str,
    ) -> Result<(), Self> {
        if is_valid {
            return Ok(());
        }
        Err(Self::new(setting, expected))
    }

    /// Requires a number of at least 1.
    pub(crate) fn require_positive(
        setting: &'static str,
        number: impl TryInto<u64>,
    ) -> Result<(), Self> {
        let is_positive = !matches!(number.try_into(), Ok(0));
        Self::require(is_positive, setting, "a number of at least 1")
    }

    /// Requires a duration of at least 1 ms, because times have this precision.
    pub(crate) fn require_duration(setting: &'static str, duration: Duration) -> Result<(), Self> {
        let is_positive = duration >= Duration::from_millis(1);
        Self::require(is_positive, setting, "a duration of at least 1 ms")
    }
}
