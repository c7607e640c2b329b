//! What is written in the course of a rule.

use crate::model::{Reply, StartThread};

/// A reply with this body.
pub(super) fn reply(body: &str) -> Reply {
    Reply {
        body: body.into(),
        ..Reply::default()
    }
}

/// A thread with this title, and a first post with this body.
pub(super) fn start(title: &str, body: &str) -> StartThread {
    StartThread {
        title: title.into(),
        body: body.into(),
        ..StartThread::default()
    }
}
