//! What a board put into its outbox.

use std::fmt::Display;

use serde::Deserialize;
use serde_json::Value;

use super::{Part, Stop, Suite, Verdict, equal, holds};
use crate::model::{EventId, ForumId, Timestamp};
use crate::webhook::{Event, Topic};

/// An event, and what it holds.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) id: EventId,
    /// The topic, and the id of what it is about.
    pub(crate) of: String,
    /// The forum that one has to see to be told of it.
    pub(crate) forum: Option<ForumId>,
    pub(crate) data: Value,
    /// All of it, as it is sent.
    pub(crate) text: String,
}

/// What is sent of an event.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Body {
    event: EventId,
    topic: String,
    occurred_at: Timestamp,
    data: Value,
}

/// Where the id stands of what an event is about.
const SUBJECTS: [(&str, &str); 5] = [
    ("thread.", "/thread/threadId"),
    ("post.", "/post/postId"),
    ("poll.", "/poll/pollId"),
    ("member.", "/rating/ratingId"),
    ("message.", "/message/messageId"),
];

impl Told {
    /// An event of the library's topics, whose body has to say what the event does.
    fn of(event: Event) -> Verdict<Self> {
        let body: Body = serde_json::from_str(&event.body).map_err(|error| {
            Stop::broken(
                "the body of an event",
                error,
                "event, topic, occurredAt and data",
            )
        })?;
        let said = (body.event, body.topic.as_str(), body.occurred_at);
        let expected = (event.id.clone(), event.topic.as_str(), event.occurred_at);
        equal("event, topic and occurredAt in the body", said, expected)?;
        holds(
            "a body has at most 256 KiB",
            event.body.len() <= Event::MAX_BODY,
        )?;
        for field in Event::OF_A_READER {
            let what = format!(
                "{} tells nothing that depends on a reader, as {field}",
                event.topic
            );
            holds(what, !event.body.contains(&format!("\"{field}\"")))?;
        }
        let mut subjects = SUBJECTS.iter();
        let subject = subjects.find(|(topic, _)| event.topic.as_str().starts_with(topic));
        let id = subject.and_then(|(_, place)| body.data.pointer(place)?.as_str());
        Ok(Self {
            of: of(&event.topic, id.unwrap_or_default()),
            id: event.id,
            forum: event.forum,
            data: body.data,
            text: event.body,
        })
    }

    /// What it holds in this place; null where there is nothing.
    pub(crate) fn at(&self, place: &str) -> &Value {
        self.data.pointer(place).unwrap_or(&Value::Null)
    }

    /// Nothing that is sent may show any of these.
    pub(crate) fn hides<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Verdict {
        texts.into_iter().try_for_each(|text| {
            let what = format_args!("{} does not tell {text:?}", self.of);
            holds(what, !self.text.contains(text))
        })
    }
}

/// How an event is called here: `post.created 17`.
pub(crate) fn of(topic: &Topic, id: impl Display) -> String {
    format!("{topic} {id}")
}

/// What was put into the outbox since this was last asked, in its order.
pub(crate) async fn told(suite: &Suite) -> Verdict<Vec<Told>> {
    suite.needs(Part::Events)?;
    let events = suite.stage.events().await?;
    events.into_iter().map(Told::of).collect()
}

/// These events, and no others, were put into the outbox since this was last asked, in this order.
pub(crate) async fn tells(suite: &Suite, expected: &[String]) -> Verdict {
    let told = told(suite).await?;
    let found: Vec<_> = told.iter().map(|told| told.of.as_str()).collect();
    equal("what is told", found, expected)
}

/// This event, and no other, was put into the outbox since this was last asked.
pub(crate) async fn tells_one(suite: &Suite, topic: &Topic, id: impl Display) -> Verdict {
    tells(suite, &[of(topic, id)]).await
}

/// Nothing was put into the outbox since this was last asked.
pub(crate) async fn silent(suite: &Suite) -> Verdict {
    tells(suite, &[]).await
}
