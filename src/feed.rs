//! Feed of events: an operation that a host adds to the API ([protocol](crate::guide::protocol), section 12.8).

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::environment::Environment;
use crate::host::{BoardError, BoardResult, MemberCaller, OrInternal};
use crate::model::{EventId, Expected, PageForm, PageLimit, Timestamp, remove_examples};
use crate::operation::{
    ApiResponse, ApiResult, Decode, DecodeContext, ExtraTypes, InputSchema, InputValue, Operation,
    Render, RenderContext, Tag, deserialize,
};
use crate::scope::Scope;
use crate::store::{FeedEntry, FeedPosition, FeedStore, FoundInFeed, WebhookStores};
use crate::webhook::{AnyEventData, Topic, TopicSet, concerns, example_event};

/// Largest number of events that one request reads.
const MAX_READ: u32 = 1000;

/// Description of the group. `{seconds}` and `{retention}` are the retention, and `{topics}` the topics of the board.
const DESCRIPTION: &str = include_str!("feed.md");

/// Description of the operation. `{retention}` is the retention.
const NOTES: &str = "An item is the body of a webhook without `delivery`. To go on, send your position as `after`, and repeat this at once while `next` is not null. Such a client misses no event and gets none twice. A page can have fewer items than `limit`, or none, and a `next`.\n\nA page contains the events that the caller may see now, with `message.sent` only if `topics` names it.\n\nThe board keeps events for {retention}. An older `after` is a 400 with the reason `position_expired`. With an older `since`, the page begins with the first event that is kept.";

/// Returns the operation `GET /x/events`, which lists the events of a board: the feed.
///
/// `retention` is the [`event_retention`](crate::worker::WorkerSettings::event_retention) of the workers. The board writes
/// all of its events, also those without a subscribed endpoint.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// use forum_api::host::{Authorizer, Board};
/// use forum_api::store::{Stores, WebhookStores};
/// use forum_api::{BuildError, Environment, ForumApi, event_feed};
///
/// fn build<B: Authorizer + Board>(
///     board: Arc<B>,
///     stores: Stores,
///     webhooks: &WebhookStores,
///     environment: &Environment,
/// ) -> Result<ForumApi, BuildError> {
///     let day = Duration::from_secs(24 * 60 * 60);
///     ForumApi::builder(board, stores)
///         .environment(environment)
///         .operation(event_feed(webhooks, day, environment))
///         .build()
/// }
/// ```
pub fn event_feed(
    stores: &WebhookStores,
    retention: Duration,
    environment: &Environment,
) -> Operation {
    let topics = environment.topics();
    let names: Vec<_> = topics.iter().map(|topic| format!("`{}`", topic.as_str())).collect();
    let described = describe(retention);
    let notes = NOTES.replace("{retention}", &described);
    let description = DESCRIPTION
        .replace("{topics}", &names.join(", "))
        .replace("{retention}", &described)
        .replace("{seconds}", &retention.as_secs().to_string());
    let feed =
        EventFeed { store: Arc::clone(&stores.feed), retention, environment: environment.clone() };
    Operation::get("/x/events", "listEvents", Scope::POSTS_READ)
        .tag(Tag { name: "events", description: description.into() })
        .summary("Lists the events of the board.")
        .notes(notes)
        .cost(2)
        .ok(
            &Arc::new(feed),
            |feed, reader: &MemberCaller, (), query: FeedQuery| Box::pin(feed.page(reader, query)),
            EventPage::example,
        )
}

/// Returns the retention in the largest unit that divides it: hours, minutes or seconds.
fn describe(retention: Duration) -> String {
    let seconds = retention.as_secs();
    let units = [(3600, "hour", "hours"), (60, "minute", "minutes")];
    let unit = units.into_iter().find(|(length, ..)| seconds.is_multiple_of(*length));
    let (length, one, many) = unit.unwrap_or((1, "second", "seconds"));
    let count = seconds / length;
    format!("{count} {}", if count == 1 { one } else { many })
}

struct EventFeed {
    store: Arc<dyn FeedStore>,
    retention: Duration,
    environment: Environment,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FeedParams {
    /// Position of the client: the last `next` that was not null, or the `event` of the last item if the client received it
    /// later. 1 to 64 characters of `A-Z`, `a-z`, `0-9`, `_` and `-`. Default: the position of `since`.
    #[schemars(transform = remove_examples)]
    after: Option<EventId>,
    /// Time of the first event; can repeat earlier events. Without `after` and `since`, the page has no items, and `next` is
    /// the position of the latest event; null if the board keeps none that the caller may see.
    #[schemars(transform = remove_examples)]
    since: Option<Timestamp>,
    /// Topics, separated by commas. `*` is all topics except `message.sent`. Default: `*`.
    #[schemars(extend("default" = "*"))]
    topics: Option<String>,
    /// Largest number of items, 1 to 100. Default: 20.
    #[serde(default)]
    limit: PageLimit,
}

struct FeedQuery {
    params: FeedParams,
    form: PageForm,
}

impl Decode for FeedQuery {
    const IS_LIST: bool = true;

    fn decode(value: InputValue<'_>, context: &DecodeContext<'_>) -> ApiResult<Self> {
        Ok(Self { params: deserialize(value)?, form: context.page_form })
    }

    fn describe(generator: &mut SchemaGenerator, _: &ExtraTypes) -> InputSchema {
        InputSchema::of_query(
            FeedParams::json_schema(generator),
            &["after", "since", "topics", "limit"],
        )
    }
}

/// An event, as the webhook of its topic has it, without `delivery`.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = make_truncated_optional)]
#[expect(dead_code, reason = "describes the stored bodies of events")]
struct FeedEvent {
    /// Id of the event, and its position in the feed.
    event: EventId,
    /// Topic of the event. Skip an event of a topic that you do not know.
    #[schemars(extend("x-extensible-enum" = Topic::STANDARD))]
    topic: String,
    /// Time of the event.
    occurred_at: Timestamp,
    /// Id of the API request that caused the event; null if no API request caused it.
    request_id: Option<String>,
    /// Only in an event without texts, because it would be larger than 256 KiB: always true. If it would be too large even
    /// with short titles, `data` is `{}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool", extend("const" = true))]
    truncated: Option<bool>,
    /// The resources in their state after the change, as in the webhook of the topic. An event of another topic can have
    /// further fields.
    data: AnyEventData<'static>,
}

fn make_truncated_optional(schema: &mut Schema) {
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name != "truncated");
    }
}

/// Events of the board.
#[derive(Debug, Serialize)]
struct EventPage {
    items: Vec<Box<RawValue>>,
    next: Option<EventId>,
}

impl EventPage {
    fn example() -> Self {
        let event = example_event(&Topic::POST_CREATED);
        let next = event.as_ref().map(|event| event.id.clone());
        let item = event.and_then(|event| RawValue::from_string(event.body).ok());
        Self { items: item.into_iter().collect(), next }
    }
}

impl JsonSchema for EventPage {
    fn schema_name() -> Cow<'static, str> {
        "FeedEventPage".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let id = generator.subschema_for::<EventId>();
        json_schema!({
            "type": "object",
            "description": "Events of the board.",
            "properties": {
                "items": {
                    "type": "array",
                    "description": "The events, in the order in which the changes became visible.",
                    "items": generator.subschema_for::<FeedEvent>(),
                },
                "next": {
                    "description": "Position of the next page, to be sent as `after`; null if no event follows. On a page without items it can have a value although no event follows.",
                    "anyOf": [id, { "type": "null" }],
                },
            },
            "required": ["items", "next"],
        })
    }
}

impl Render for EventPage {
    type Wire = Self;

    const IS_PAGE: bool = true;

    /// The feed has checked the visibility.
    fn render(self, context: &RenderContext<'_>) -> ApiResult<(Self, ApiResponse)> {
        let (page, mut response) = context.respond(self);
        response.next = page.next.as_ref().map(ToString::to_string);
        Ok((page, response))
    }
}

impl EventFeed {
    async fn page(&self, reader: &MemberCaller, query: FeedQuery) -> BoardResult<EventPage> {
        let FeedQuery { params, form } = query;
        let FeedParams { after, since, topics, limit } = params;
        let topics = self.parse_topics(topics.as_deref())?;
        let may_see = |entry: &FeedEntry| {
            let forums = reader.access().visible_forums();
            let forum_id = entry.forum_id.as_ref();
            entry.may_concern_reader && forum_id.is_none_or(|id| forums.contains(id))
        };
        let since = since.map(|since| since.saturating_sub(self.since_overlap()));
        let mut is_old = false;
        let start = match (after, since) {
            (Some(after), _) => {
                let found = self.position(&after).await?;
                is_old = self.is_old(&found);
                Some(found.position)
            }
            (None, Some(since)) => self.start(since).await?,
            (None, None) => return self.latest(reader, may_see).await,
        };
        let Some(start) = start else {
            return Ok(EventPage { items: Vec::new(), next: None });
        };
        let read = self.store.read(start, reader.user_id(), MAX_READ).await?;
        let passed = read.entries.last().map(|entry| entry.id.clone());
        let max_bytes = form.max_bytes();
        let mut chosen: Vec<FeedEntry> = Vec::new();
        let mut size = 0;
        let mut is_full = false;
        let is_listed = |entry: &FeedEntry| topics.contains(&entry.topic) && may_see(entry);
        for entry in read.entries.into_iter().filter(is_listed) {
            size += entry.size;
            is_full = chosen.len() == limit.get() || !chosen.is_empty() && size > max_bytes as u64;
            if is_full {
                break;
            }
            chosen.push(entry);
        }
        let ids: Vec<_> = chosen.iter().map(|entry| entry.id.clone()).collect();
        let mut bodies = self.store.bodies(&ids).await?;
        let mut items = Vec::with_capacity(chosen.len());
        let mut items_size = 0;
        let mut last_chosen = None;
        for FeedEntry { id, topic, .. } in chosen {
            // The erasure of a member can remove an event meanwhile.
            let body = bodies.remove(&id);
            if let Some(body) = body.filter(|body| concerns(&topic, body, reader.user_id())) {
                items_size += form.stored_json_size(&body);
                // Escaped for a tool, the bodies can exceed the maximum although the stored bodies do not.
                if !items.is_empty() && items_size > max_bytes {
                    is_full = true;
                    break;
                }
                items.push(RawValue::from_string(body).or_internal()?);
            }
            last_chosen = Some(id);
        }
        let last_chosen = last_chosen.filter(|_| is_full);
        // The position of a client that sees few events would expire, although the client has missed none.
        let passed = passed.filter(|_| is_old && items.is_empty());
        Ok(EventPage { items, next: last_chosen.or(read.next).or(passed) })
    }

    /// Returns the page of a client that begins now. Its position is the latest event that the caller may see, or, if that is
    /// old or not among the last [`MAX_READ`] events, the latest event.
    async fn latest(
        &self,
        reader: &MemberCaller,
        may_see: impl Fn(&FeedEntry) -> bool,
    ) -> BoardResult<EventPage> {
        let latest = self.store.latest(reader.user_id(), MAX_READ).await?;
        let is_full = latest.len() == MAX_READ as usize;
        let newest = latest.first().map(|entry| entry.id.clone());
        let seen = latest.into_iter().find(may_see).map(|entry| entry.id);
        let next = match seen {
            Some(seen) => match self.find(&seen).await? {
                Some(found) if !self.is_old(&found) => Some(seen),
                _ => self.kept(newest).await?,
            },
            None if is_full => self.kept(newest).await?,
            None => None,
        };
        Ok(EventPage { items: Vec::new(), next })
    }

    /// Returns the event if it is a valid position.
    async fn kept(&self, event: Option<EventId>) -> BoardResult<Option<EventId>> {
        let Some(event) = event else {
            return Ok(None);
        };
        Ok(self.find(&event).await?.map(|_| event))
    }

    fn parse_topics(&self, text: Option<&str>) -> BoardResult<TopicSet> {
        text.unwrap_or("*")
            .parse::<TopicSet>()
            .and_then(|topics| topics.validated(&self.environment.topics()))
            .map_err(|_| BoardError::invalid_parameter("topics", Expected::TOPICS.as_str()))
    }

    /// Returns the longest time from reading the clock until a change is visible.
    fn since_overlap(&self) -> Duration {
        self.environment.since_overlap.max(self.environment.thread_since_overlap)
    }

    /// Returns the position at which a page with the events since a time begins; `None` if no event is kept. A page of a time
    /// before the retention begins with the first event that is kept: the ids of earlier events are no valid positions.
    async fn start(&self, since: Timestamp) -> BoardResult<Option<FeedPosition>> {
        let start = self.store.find_start(since).await?.unwrap_or(FeedPosition::START);
        let now = self.environment.clock.now();
        if since >= now.saturating_sub(self.retention) {
            return Ok(Some(start));
        }
        let first = self.store.first_kept(self.retention, now).await?;
        Ok(first.map(|first| start.max(first.before())))
    }

    /// Returns whether half of the retention of a position has passed.
    fn is_old(&self, found: &FoundInFeed) -> bool {
        found.age.is_some_and(|age| age >= self.retention / 2)
    }

    async fn position(&self, event: &EventId) -> BoardResult<FoundInFeed> {
        self.find(event).await?.ok_or_else(|| {
            BoardError::invalid_parameter("after", Expected::EVENT.as_str())
                .with_reason("position_expired")
        })
    }

    /// Returns the position of an event; `None` if the board does not keep the event, or if it and all earlier events are
    /// older than the retention. An event that a clock that is ahead fanned out is not older than the retention.
    async fn find(&self, event: &EventId) -> BoardResult<Option<FoundInFeed>> {
        let now = self.environment.clock.now();
        let Some(found) = self.store.find(event, now).await? else {
            return Ok(None);
        };
        if found.age.is_none_or(|age| age <= self.retention) {
            return Ok(Some(found));
        }
        // Events can be fanned out in another order than that of the feed.
        let first = self.store.first_kept(self.retention, now).await?;
        Ok(first.filter(|first| *first <= found.position).map(|_| found))
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, describe};

    #[test]
    fn a_retention_is_described_in_its_largest_whole_unit() {
        for (seconds, expected) in [
            (0, "0 hours"),
            (1, "1 second"),
            (59, "59 seconds"),
            (60, "1 minute"),
            (90, "90 seconds"),
            (5_400, "90 minutes"),
            (3_600, "1 hour"),
            (86_400, "24 hours"),
        ] {
            assert_eq!(describe(Duration::from_secs(seconds)), expected);
        }
    }
}
