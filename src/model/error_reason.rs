//! Reasons of errors: names that distinguish errors with the same code ([protocol](crate::guide::protocol), section 5.6).

use super::ErrorCode;

/// A reason in the OpenAPI document.
pub(crate) struct ErrorReason {
    pub(crate) name: &'static str,
    pub(crate) code: ErrorCode,
    pub(crate) meaning: &'static str,
}

/// Declares the reasons. The library sends those with the name of a constant; boards send the others.
macro_rules! reasons {
    ($($($constant:ident)? $name:literal $code:ident $meaning:literal)+) => {
        $($(pub(crate) const $constant: &str = $name;)?)+

        /// The reasons of the library and of the reference board. Other boards can have more.
        pub(crate) const ERROR_REASONS: &[ErrorReason] = &[
            $(ErrorReason { name: $name, code: ErrorCode::$code, meaning: $meaning },)+
        ];
    };
}

reasons! {
    NOT_RUN "not_run" InternalError "Nothing was run, and the status is 503: send the request again after `retry-after` seconds."
    KEY_IN_PROGRESS "key_in_progress" Conflict "The first request with this `Idempotency-Key` is in progress: retry after `retry-after` seconds."
    KEY_REUSED "key_reused" Conflict "This `Idempotency-Key` belongs to another request: choose a key for each request."
    OUTCOME_UNKNOWN "outcome_unknown" Conflict "It is unknown whether the first request with this `Idempotency-Key` took effect: check the result."
    VERSION_STALE "version_stale" Conflict "The resource has changed since `expectedVersion`: read it again."
    "position_expired" BadRequest "The event in `after` is older than the events that the board keeps: read the lists again."
    "already_deleted" Conflict "The post is deleted already."
    "already_rated" Conflict "You have rated this post or member already."
    "already_voted" Conflict "You have voted already, and votes in this poll cannot be changed."
    "has_votes" Conflict "The change is not possible after votes were cast."
    "closed" Forbidden "The poll is closed, or the thread is deleted or awaits approval."
    "edit_window" Forbidden "The time in which you can edit or delete your post is over."
    "locked" Forbidden "The thread is locked."
    "not_allowed" Forbidden "You do not have the permission."
    "own_content" Forbidden "You cannot rate yourself."
    "duplicate" Validation "Two items of a list are the same."
    "inbox_full" Validation "The inbox of a recipient is full."
    "not_first_post" Validation "Only the first post of a thread has a title."
    "not_single_line" Validation "A single-line text has a control character, a line break or a bidirectional override (U+202A to U+202E, U+2066 to U+2069)."
    "out_of_range" Validation "A number or a time is not within its bounds."
    "required" Validation "A text or an item of a list is missing."
    "too_long" Validation "A text or a list is too long."
    "too_soon" Validation "A minimum time has not passed: retry after `retry-after` seconds."
}

/// Returns the text if it can be sent as a reason: 1 to 64 characters of `[a-z0-9_]`.
pub(crate) fn valid_reason(text: &str) -> Option<&str> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    ((1..=64).contains(&text.len()) && text.bytes().all(is_plain)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::{ERROR_REASONS, valid_reason};

    #[test]
    fn each_reason_is_valid_and_unique() {
        for (index, reason) in ERROR_REASONS.iter().enumerate() {
            assert_eq!(valid_reason(reason.name), Some(reason.name));
            let mut earlier = ERROR_REASONS.iter().take(index);
            assert!(earlier.all(|one| one.name != reason.name), "{}", reason.name);
        }
    }

    #[test]
    fn a_reason_has_allowed_characters_and_a_bounded_length() {
        for text in ["", "Too_soon", "too soon", "zu_früh", "a\r\nb", &"x".repeat(65)] {
            assert_eq!(valid_reason(text), None, "{text:?}");
        }
    }
}
