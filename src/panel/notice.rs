//! What the page that follows a form says of it.

/// Each with the word by which its address names it, so that nothing typed into an address is shown.
const NOTICES: &[(&str, &str)] = &[
    (
        "revoked",
        "The token was revoked. Requests with it get 401 from now on.",
    ),
    ("subscribed", "The topics were changed."),
    ("activated", "The new secret is in force."),
    (
        "enabled",
        "The endpoint is enabled. What waited for it is sent.",
    ),
    (
        "disabled",
        "The endpoint is disabled. What is queued for it waits.",
    ),
    (
        "pinged",
        "A ping was queued. Reload this page to see how it fared.",
    ),
    ("retried", "The delivery was queued again."),
    (
        "all-retried",
        "All dead deliveries of the endpoint were queued again.",
    ),
    (
        "endpoint-removed",
        "The endpoint was removed, and its deliveries with it.",
    ),
    ("delivery-removed", "The delivery was removed."),
];

pub(super) fn of(word: &str) -> Option<&'static str> {
    let found = NOTICES.iter().find(|(known, _)| *known == word);
    found.map(|(_, text)| *text)
}
