//! Events that a board wrote to its outbox.

use std::fmt::Display;

use serde::Deserialize;
use serde_json::Value;

use super::{Capability, Suite, TestCaller, TestFailure, TestResult};
use crate::model::{EventId, ForumId, Timestamp};
use crate::webhook::{Event, Topic};

/// An event with its decoded data.
#[derive(Clone, Debug)]
pub(crate) struct RecordedEvent {
    pub(crate) id: EventId,
    /// The topic and the id of its subject, as [`event_name`] formats them.
    pub(crate) name: String,
    /// Id of the forum that an endpoint's owner has to see.
    pub(crate) forum_id: Option<ForumId>,
    pub(crate) data: Value,
    request_id: Option<String>,
    body: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EventBody {
    event: EventId,
    topic: String,
    occurred_at: Timestamp,
    request_id: Option<String>,
    data: Value,
}

/// The prefix of a topic or the topic, and the JSON pointer to its subject's id.
const SUBJECTS: [(&str, &str); 6] = [
    ("thread.", "/thread/threadId"),
    ("post.", "/post/postId"),
    ("poll.", "/poll/pollId"),
    ("member.rated", "/rating/ratingId"),
    ("member.erased", "/member/userId"),
    ("message.", "/message/messageId"),
];

impl RecordedEvent {
    /// Decodes an event of the library's topics. Its body has to agree with its other fields.
    fn decode(event: Event) -> TestResult<Self> {
        let fields = "event, topic, occurredAt, requestId, data";
        let malformed = |error| TestFailure::mismatch("an event's body", error, fields);
        let body = serde_json::from_str::<EventBody>(&event.body).map_err(malformed)?;
        check_eq!(body.event, event.id)?;
        check_eq!(body.topic, event.topic.as_str())?;
        check_eq!(body.occurred_at, event.occurred_at)?;
        check_eq!(body.request_id, event.request_id)?;
        check!(event.body.len() <= Event::MAX_STORED_LEN)?;
        let mut subjects = SUBJECTS.iter();
        let subject = subjects.find(|(topic, _)| body.topic.starts_with(topic));
        let id = subject.and_then(|(_, pointer)| body.data.pointer(pointer)?.as_str());
        let event = Self {
            name: event_name(&event.topic, id.unwrap_or_default()),
            id: event.id,
            forum_id: event.forum_id,
            data: body.data,
            request_id: event.request_id,
            body: event.body,
        };
        let reader_fields = Event::READER_FIELDS.iter();
        let quoted: Vec<_> = reader_fields.map(|name| format!("\"{name}\"")).collect();
        event.omits(&quoted.iter().map(String::as_str).collect::<Vec<_>>())?;
        Ok(event)
    }

    /// Returns the value at a JSON pointer of the data, or null.
    pub(crate) fn value(&self, pointer: &str) -> &Value {
        self.data.pointer(pointer).unwrap_or(&Value::Null)
    }

    /// Checks that the body contains none of these texts.
    pub(crate) fn omits(&self, texts: &[&str]) -> TestResult {
        for text in texts {
            check!(!self.body.contains(text), "{} has no {text:?}", self.name)?;
        }
        Ok(())
    }
}

/// Returns the name of an event in these rules: `post.created 17`.
pub(crate) fn event_name(topic: &Topic, id: impl Display) -> String {
    format!("{topic} {id}")
}

impl Suite {
    /// Returns the events since the previous call, in order. Needs [`Capability::Events`].
    pub(crate) async fn recorded(&self) -> TestResult<Vec<RecordedEvent>> {
        self.require(Capability::Events)?;
        let events = self.fixture.events().await?;
        events.into_iter().map(RecordedEvent::decode).collect()
    }

    pub(crate) async fn expect_events(&self, expected: &[String]) -> TestResult {
        let events = self.recorded().await?.into_iter();
        let names: Vec<_> = events.map(|event| event.name).collect();
        check_eq!(names, expected, "the events")
    }

    pub(crate) async fn expect_one_event(&self, topic: &Topic, id: impl Display) -> TestResult {
        self.expect_events(&[event_name(topic, id)]).await
    }

    /// Expects one event, which a request of a [`TestCaller`] caused.
    pub(crate) async fn expect_caused_event(&self, topic: &Topic, id: impl Display) -> TestResult {
        let events = self.recorded().await?.into_iter();
        let actual: Vec<_> = events.map(|event| (event.name, event.request_id)).collect();
        let request = Some(TestCaller::REQUEST_ID.as_str().to_owned());
        let expected = [(event_name(topic, id), request)];
        check_eq!(actual, expected, "the event and its request")
    }

    pub(crate) async fn expect_no_events(&self) -> TestResult {
        self.expect_events(&[]).await
    }
}
