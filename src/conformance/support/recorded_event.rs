//! Events that a board put into its outbox.

use std::fmt::Display;

use serde::Deserialize;
use serde_json::Value;

use super::{Capability, Suite, TestFailure, TestResult};
use crate::model::{EventId, ForumId, Timestamp};
use crate::webhook::{Event, Topic};

/// An event with its decoded data.
#[derive(Clone, Debug)]
pub(crate) struct RecordedEvent {
    pub(crate) id: EventId,
    /// The topic, and the id of its subject: `post.created 17`.
    pub(crate) of: String,
    /// The forum that a receiver has to see.
    pub(crate) forum: Option<ForumId>,
    pub(crate) data: Value,
    /// The whole body, as it is sent.
    pub(crate) text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EventBody {
    event: EventId,
    topic: String,
    occurred_at: Timestamp,
    data: Value,
}

/// Prefixes of topics, and where the data has the subject's id.
const SUBJECTS: [(&str, &str); 5] = [
    ("thread.", "/thread/threadId"),
    ("post.", "/post/postId"),
    ("poll.", "/poll/pollId"),
    ("member.", "/rating/ratingId"),
    ("message.", "/message/messageId"),
];

impl RecordedEvent {
    /// Decodes an event of the library's topics, whose body has to agree with the event.
    fn decode(event: Event) -> TestResult<Self> {
        let body: EventBody = serde_json::from_str(&event.body).map_err(|error| {
            TestFailure::mismatch("an event's body", error, "event, topic, occurredAt, data")
        })?;
        let found = (body.event, body.topic.as_str(), body.occurred_at);
        let expected = (event.id.clone(), event.topic.as_str(), event.occurred_at);
        check_eq!(found, expected, "event, topic and occurredAt in the body")?;
        check!(event.body.len() <= Event::MAX_BODY)?;
        for field in Event::READER_FIELDS {
            let has_field = event.body.contains(&format!("\"{field}\""));
            check!(
                !has_field,
                "{} has no {field}, which depends on a reader",
                event.topic
            )?;
        }
        let mut subjects = SUBJECTS.iter();
        let subject = subjects.find(|(topic, _)| event.topic.as_str().starts_with(topic));
        let id = subject.and_then(|(_, place)| body.data.pointer(place)?.as_str());
        Ok(Self {
            of: event_of(&event.topic, id.unwrap_or_default()),
            id: event.id,
            forum: event.forum,
            data: body.data,
            text: event.body,
        })
    }

    /// The value at this JSON pointer of the data; null if there is none.
    pub(crate) fn at(&self, pointer: &str) -> &Value {
        self.data.pointer(pointer).unwrap_or(&Value::Null)
    }

    pub(crate) fn omits(&self, texts: &[&str]) -> TestResult {
        for text in texts {
            check!(!self.text.contains(text), "{} has no {text:?}", self.of)?;
        }
        Ok(())
    }
}

/// The name of an event in these rules: `post.created 17`.
pub(crate) fn event_of(topic: &Topic, id: impl Display) -> String {
    format!("{topic} {id}")
}

impl Suite {
    /// The events since the last call, in order.
    pub(crate) async fn recorded(&self) -> TestResult<Vec<RecordedEvent>> {
        self.require(Capability::Events)?;
        let events = self.fixture.events().await?;
        events.into_iter().map(RecordedEvent::decode).collect()
    }

    pub(crate) async fn expect_events(&self, expected: &[String]) -> TestResult {
        let events = self.recorded().await?;
        let found: Vec<_> = events.iter().map(|event| &event.of).collect();
        check_eq!(found, expected.iter().collect::<Vec<_>>(), "the events")
    }

    pub(crate) async fn expect_one_event(&self, topic: &Topic, id: impl Display) -> TestResult {
        self.expect_events(&[event_of(topic, id)]).await
    }

    pub(crate) async fn expect_no_events(&self) -> TestResult {
        self.expect_events(&[]).await
    }
}
