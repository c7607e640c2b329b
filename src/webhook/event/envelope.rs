//! The event with its metadata, as it is stored in the outbox and sent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::host::{BackendResult, RequestInfo, WebUrls};
use crate::model::{Author, EventId, ForumId, Thread, Timestamp};
#[cfg(feature = "webhooks")]
use crate::runtime::{RandomError, RandomSource};
use crate::webhook::Topic;

/// An event of the board, as it is stored in the outbox and sent.
///
/// Each of the library's topics has a constructor, and [`Event::new`] creates events of a host's own topics. Events omit
/// the fields of resources that depend on a reader. The guide's chapter [outbox](crate::guide::outbox) shows how a host
/// writes events.
///
/// A key-value store serializes the event. Later versions of the library deserialize it:
///
/// ```
/// use forum_api::host::RequestInfo;
/// use forum_api::model::Timestamp;
/// use forum_api::webhook::Event;
///
/// let now = Timestamp::from_millis(0);
/// let event = Event::ping(RequestInfo::background(now).event(now).unwrap());
/// let json = serde_json::to_string(&event)?;
/// assert_eq!(serde_json::from_str::<Event>(&json)?, event);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// For content that awaits approval, a host writes the events when the content is approved. For the deletion or
/// restoration of a first post, it writes only the event of the thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Unique id of the event, the same in all of its deliveries.
    pub id: EventId,
    /// Topic of the event.
    pub topic: Topic,
    /// Time of the event.
    pub occurred_at: Timestamp,
    /// Id of the forum that the owner of an endpoint must see to receive the event; `None` for an event outside of
    /// forums.
    pub forum_id: Option<ForumId>,
    /// Id of the API request that caused the event; `None` for an event of a page, a command or another cause.
    pub request_id: Option<String>,
    /// The body of its deliveries without the id of a delivery, at most [`Event::MAX_STORED_LEN`] bytes.
    pub body: String,
}

/// Id, time, request and URLs of an event: the result of [`RequestInfo::event`].
#[derive(Debug)]
#[non_exhaustive]
pub struct EventMeta {
    /// Id of the event.
    pub id: EventId,
    /// Time of the event.
    pub occurred_at: Timestamp,
    /// Id of the API request that caused the event; `None` for an event of a page, a command or another cause.
    pub request_id: Option<String>,
    /// URLs of the pages for people, which the resources of the event have as `webUrl`.
    pub(crate) web_urls: WebUrls,
}

impl EventMeta {
    /// Generates a new id. The event has no request and no URLs.
    #[cfg(feature = "webhooks")]
    pub(crate) fn new(
        random: &dyn RandomSource,
        occurred_at: Timestamp,
    ) -> Result<Self, RandomError> {
        let id = EventId::generate(random)?;
        Ok(Self { id, occurred_at, request_id: None, web_urls: WebUrls::default() })
    }

    /// Sets the URLs of the pages for people.
    #[must_use]
    pub fn web_urls(self, web_urls: &WebUrls) -> Self {
        Self { web_urls: web_urls.clone(), ..self }
    }
}

impl RequestInfo {
    /// Returns the id, the time and the request of an event that this request causes. Each event needs a call of its own.
    ///
    /// For a request of the API, the body of the event contains the id of the request, and the last log line of the request
    /// the id of the event. For an event without a request, such as one of a command line, use
    /// [`RequestInfo::background`].
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the random source of the [`Environment`](crate::Environment) fails.
    pub fn event(&self, occurred_at: Timestamp) -> BackendResult<EventMeta> {
        let id = EventId::generate(self.random())?;
        let request_id = self.record_event(&id).map(Into::into);
        Ok(EventMeta { id, occurred_at, request_id, web_urls: WebUrls::default() })
    }
}

/// The context of an event in a thread. It is sent with the event, so receivers need no further request.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct EventContext<'a> {
    /// The thread after the change.
    pub thread: &'a Thread,
    /// Title of the thread's forum.
    pub forum_title: &'a str,
    /// The member who made the change; `None` if no member made it.
    pub actor: Option<&'a Author>,
}

impl<'a> EventContext<'a> {
    /// Creates the context of an event in this thread, with the title of its forum. No member made the change.
    pub const fn new(thread: &'a Thread, forum_title: &'a str) -> Self {
        Self { thread, forum_title, actor: None }
    }

    /// Sets the member who made the change.
    #[must_use]
    pub fn actor(self, actor: impl Into<Option<&'a Author>>) -> Self {
        Self { actor: actor.into(), ..self }
    }

    pub(super) fn forum(&self) -> ForumSummary {
        ForumSummary { forum_id: self.thread.forum_id.clone(), title: self.forum_title.into() }
    }
}

/// Id and title of a forum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ForumSummary {
    /// Id of the forum.
    pub forum_id: ForumId,
    /// Title of the forum at the time of the change.
    pub title: String,
}

impl ForumSummary {
    /// Creates the summary of a forum.
    pub fn new(forum_id: ForumId, title: impl Into<String>) -> Self {
        Self { forum_id, title: title.into() }
    }
}

impl Event {
    /// Maximum length of the body of a delivery: 256 KiB. If a body would be longer, the fields `body`, `bodyHtml`,
    /// `comment` and `extra` in its data are null, and it has `"truncated":true`. If this does not suffice, the fields
    /// `title`, `question` and `text` are shortened to 1,000, 100 or 10 characters. If no length suffices, the data is
    /// empty.
    pub const MAX_BODY_LEN: usize = 256 * 1024;

    /// Maximum length of [`body`](Self::body): a delivery adds its id, which has at most 64 bytes, and 14 bytes.
    pub const MAX_STORED_LEN: usize = Self::MAX_BODY_LEN - 64 - r#""delivery":"","#.len();

    /// SQL statement that adds an event to the outbox, for SQLite and PostgreSQL. Its parameters are
    /// [`insert_parameters`](Self::insert_parameters). Running it twice for one event adds one row.
    ///
    /// A host runs it in the transaction of the change that caused the event, with any driver, so that the change and the
    /// event are committed together ([example](crate::guide::outbox)).
    pub const INSERT_SQL: &'static str = "
        INSERT INTO forum_api_events (id, topic, occurred_at, forum, request_id, body)
        VALUES ($1, $2, CAST(CAST($3 AS TEXT) AS BIGINT), NULLIF($4, ''), NULLIF($5, ''), $6)
        ON CONFLICT (id) DO NOTHING";

    /// SQL query, for SQLite and PostgreSQL, that returns one row with the boolean column `is_subscribed`: true if an
    /// enabled endpoint subscribes to the topic `$1`.
    ///
    /// A host runs it in the transaction of a change. If no endpoint subscribes to the topic, the host omits the event and
    /// the queries for its arguments ([guide](crate::guide::outbox#changes-without-subscribers)). A change whose
    /// transaction begins after an endpoint was added or enabled always finds the endpoint. A change in progress at that time
    /// may omit its event.
    pub const IS_SUBSCRIBED_SQL: &'static str = "
        SELECT EXISTS (
            SELECT 1 FROM forum_api_endpoints WHERE enabled AND (
                replace(topics, '\"' || CAST($1 AS TEXT) || '\"', '') <> topics
                OR CAST($1 AS TEXT) NOT IN ('message.sent', 'ping') AND replace(topics, '\"*\"', '') <> topics
            )
        ) AS is_subscribed";

    /// Returns the parameters `$1`, `$2` and so on of [`INSERT_SQL`](Self::INSERT_SQL) as text.
    pub fn insert_parameters(&self) -> Vec<String> {
        let forum_id = self.forum_id.as_ref();
        vec![
            self.id.to_string(),
            self.topic.to_string(),
            self.occurred_at.as_millis().to_string(),
            forum_id.map(ToString::to_string).unwrap_or_default(),
            self.request_id.clone().unwrap_or_default(),
            self.body.clone(),
        ]
    }
}
