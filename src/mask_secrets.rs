//! Masking of secrets in texts for the log.

/// Prefixes of tokens and webhook secrets.
const PREFIXES: [&str; 2] = ["forum_pat_", "whsec_"];

/// Returns `text` with each token and webhook secret, complete or truncated, replaced by its prefix and an ellipsis.
///
/// ```
/// let masked = forum_api::mask_secrets("`forum_pat_0123456789abcdEF_x`, whsec_q+/=-x; forum_pat_y");
/// assert_eq!(masked, "`forum_pat_…`, whsec_…; forum_pat_…");
/// ```
pub fn mask_secrets(text: &str) -> String {
    let is_secret = |letter: char| letter.is_ascii_alphanumeric() || "_+/=-".contains(letter);
    PREFIXES.iter().fold(text.into(), |text: String, prefix| {
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
