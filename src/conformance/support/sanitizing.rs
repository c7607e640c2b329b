//! What is written in the course of a rule.

use super::{Verdict, holds};
use crate::model::{Reply, StartThread};

/// Markup that a browser would run.
pub(crate) const HARM: &str =
    "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n[x](javascript:alert(1))";

/// Texts that are not single-line texts: with a line break, a tab, an escape sequence, and a bidirectional override.
pub(crate) const NOT_SINGLE_LINE: [&str; 4] = ["a\nb", "a\tb", "a\u{1b}[31m", "a\u{202e}b"];

/// What a browser would run is not in `html`.
pub(crate) fn harmless(html: &str) -> Verdict {
    let html = html.to_lowercase();
    for harm in [
        "<script",
        "<img src=x",
        "href=\"javascript:",
        "href='javascript:",
    ] {
        let clean = !html.contains(harm);
        holds(format_args!("{html:?} has no {harm:?}"), clean)?;
    }
    Ok(())
}

/// A reply with this body.
pub(crate) fn reply(body: &str) -> Reply {
    Reply {
        body: body.into(),
        ..Reply::default()
    }
}

/// A thread with this title, and a first post with this body.
pub(crate) fn start(title: &str, body: &str) -> StartThread {
    StartThread {
        title: title.into(),
        body: body.into(),
        ..StartThread::default()
    }
}
