//! Text of a panic as the log shows it.

use std::any::Any;

/// Longest text that is logged, in characters.
const LONGEST: usize = 2000;

/// Prefixes of secrets. What follows one is masked.
const SECRETS: [&str; 2] = ["forum_pat_", "whsec_"];

/// Returns the message of a panic. A fixed message of the program is always shown. A formatted one may quote a post or a
/// message of a member: it is shown only `in_full`, with secrets masked.
pub fn message(payload: &dyn Any, in_full: bool) -> String {
    if let Some(fixed) = payload.downcast_ref::<&'static str>() {
        return (*fixed).into();
    }
    match payload.downcast_ref::<String>() {
        Some(formatted) if in_full => masked(formatted).chars().take(LONGEST).collect(),
        Some(_) => "a formatted message, which --log-panics shows".into(),
        None => "a payload that is not a text".into(),
    }
}

fn masked(text: &str) -> String {
    let is_secret = |letter: char| letter.is_ascii_alphanumeric() || "_+/=-".contains(letter);
    SECRETS.iter().fold(text.into(), |text: String, prefix| {
        let mut parts = text.split(prefix);
        let mut masked = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            masked.push_str(prefix);
            masked.push('…');
            masked.push_str(part.trim_start_matches(is_secret));
        }
        masked
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formatted_message_is_shown_on_request_only() {
        let formatted: Box<dyn Any> = Box::new("index 3, length 2".to_owned());
        assert_eq!(message(&*formatted, true), "index 3, length 2");
        assert!(!message(&*formatted, false).contains("index"));
        for in_full in [false, true] {
            assert_eq!(message(&"out of cheese", in_full), "out of cheese");
            assert_eq!(message(&7, in_full), "a payload that is not a text");
        }
    }

    #[test]
    fn secrets_are_masked() {
        let (token, secret) = (format!("forum_pat_{}_x", "a".repeat(16)), "whsec_q+/=");
        let formatted: Box<dyn Any> = Box::new(format!("`{token}`, {secret}; {token}"));
        let shown = message(&*formatted, true);
        assert_eq!(shown, "`forum_pat_…`, whsec_…; forum_pat_…");
    }
}
