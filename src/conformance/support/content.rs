//! Content that the rules write.

use super::TestResult;
use crate::model::{NewPoll, NewPost, NewThread, PostUpdate};

/// Markup that a browser would execute.
pub(crate) const XSS_PAYLOAD: &str =
    "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n[x](javascript:alert(1))";

/// Texts with a line break, a tab, an escape sequence and a bidirectional override.
pub(crate) const NOT_SINGLE_LINE: [&str; 4] = ["a\nb", "a\tb", "a\u{1b}[31m", "a\u{202e}b"];

/// Checks that a browser executes nothing of [`XSS_PAYLOAD`] in `html`.
pub(crate) fn check_sanitized(html: &str) -> TestResult {
    let html = html.to_lowercase().replace('\'', "\"");
    for payload in ["<script", "<img src=x", "href=\"javascript:"] {
        check!(!html.contains(payload), "{html:?} has no {payload:?}")?;
    }
    Ok(())
}

pub(crate) fn with<T>(mut value: T, change: impl FnOnce(&mut T)) -> T {
    change(&mut value);
    value
}

pub(crate) fn new_post(body: &str) -> NewPost {
    with(NewPost::default(), |new| new.body = body.into())
}

pub(crate) fn post_update(body: &str) -> PostUpdate {
    let set_body = |update: &mut PostUpdate| update.body = Some(body.into());
    with(PostUpdate::default(), set_body)
}

pub(crate) fn title_update(title: &str) -> PostUpdate {
    let set_title = |update: &mut PostUpdate| update.title = Some(title.into());
    with(PostUpdate::default(), set_title)
}

pub(crate) fn new_thread(title: &str, body: &str) -> NewThread {
    NewThread { title: title.into(), body: body.into(), ..NewThread::default() }
}

/// A poll with three options, one choice and no change of votes.
pub(crate) fn new_poll() -> NewPoll {
    NewPoll {
        question: "Which tea?".into(),
        options: ["Green", "Black", "Herbs"].map(String::from).into(),
        max_choices: 1,
        can_change_vote: false,
        closes_at: None,
    }
}
