//! Content that the rules write, and changes of it.

use super::TestResult;
use crate::model::{NewPoll, NewPost, NewThread, PostUpdate};

/// Markup that a browser would run.
pub(crate) const XSS_PAYLOAD: &str =
    "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n[x](javascript:alert(1))";

/// Texts that are not single-line texts: with a line break, a tab, an escape sequence, and a bidirectional override.
pub(crate) const NOT_SINGLE_LINE: [&str; 4] = ["a\nb", "a\tb", "a\u{1b}[31m", "a\u{202e}b"];

/// Checks that `html` has nothing of [`XSS_PAYLOAD`] that a browser would run.
pub(crate) fn is_sanitized(html: &str) -> TestResult {
    let html = html.to_lowercase();
    for harm in [
        "<script",
        "<img src=x",
        "href=\"javascript:",
        "href='javascript:",
    ] {
        check!(!html.contains(harm), "{html:?} has no {harm:?}")?;
    }
    Ok(())
}

pub(crate) fn with<T>(mut value: T, change: impl FnOnce(&mut T)) -> T {
    change(&mut value);
    value
}

pub(crate) fn reply(body: &str) -> NewPost {
    with(NewPost::default(), |new| new.body = body.into())
}

pub(crate) fn edit(body: &str) -> PostUpdate {
    with(PostUpdate::default(), |edit| edit.body = body.into())
}

pub(crate) fn start(title: &str, body: &str) -> NewThread {
    NewThread {
        title: title.into(),
        body: body.into(),
        ..NewThread::default()
    }
}

/// A poll with three options, of which one can be chosen and the vote is final.
pub(crate) fn tea() -> NewPoll {
    NewPoll {
        question: "Which tea?".into(),
        options: ["Green", "Black", "Herbs"].map(String::from).into(),
        max_choices: 1,
        can_change_vote: false,
        closes_at: None,
    }
}
