//! The feed of events.

use std::collections::BTreeSet;
use std::time::Duration;

use super::*;
use crate::model::{DeliveryId, EventId, UserId};
use crate::runtime::BoxFuture;
use crate::store::{FanOut, FeedEntry, FeedPosition};
use crate::webhook::{Event, Topic};

/// Time for which the sweeps keep events.
const RETENTION: Duration = Duration::from_millis(100_000);

/// Maximum number of reads until events are visible.
const MAX_READS: u32 = 100_000;

store_rules! {
    mod feed, __rules_feed;

    /// The feed contains an event before and after its fan-out, in the order of the inserts, whatever its time.
    async fn events_are_read_in_the_order_of_their_inserts(fixture: &StoreFixture) -> TestResult {
        for number in [3, 1, 5, 2, 4] {
            insert(fixture, &event(number)?).await?;
        }
        fan_out_into_feed(fixture, 5, 0).await?;
        expect_feed(fixture, &[3, 1, 5, 2, 4]).await?;
        let feed = &fixture.webhooks.feed;
        let mut position = FeedPosition::START;
        let mut read = Vec::new();
        for (count, has_more) in [(2, true), (2, true), (1, false)] {
            let page = feed.read(position, &reader(), 2).await?;
            check_eq!((page.entries.len(), page.next.is_some()), (count, has_more))?;
            read.extend(page.entries);
            let last = read.last().map(|entry| entry.id.clone());
            position = only(feed.find(&only(last)?, instant(0)).await?)?.position;
        }
        check_eq!(ids(&read), ids_of(&[3, 1, 5, 2, 4])?)?;
        for limit in [5, 9] {
            let page = feed.read(FeedPosition::START, &reader(), limit).await?;
            check_eq!(page.next, None, "a page of {limit}")?;
        }
        check_eq!(ids(&feed.latest(&reader(), 2).await?), ids_of(&[4, 2])?)
    }

    /// An entry has the fields of its event and the length of the body, and the body is unchanged.
    async fn an_entry_describes_its_event(fixture: &StoreFixture) -> TestResult {
        let events: [Event; 2] = extreme_events(2)?;
        for event in &events {
            insert(fixture, event).await?;
        }
        let feed = &fixture.webhooks.feed;
        let entries = read_feed(fixture, 2).await?;
        let expected = events.each_ref().map(|event| FeedEntry {
            id: event.id.clone(),
            topic: event.topic.clone(),
            occurred_at: event.occurred_at,
            forum_id: event.forum_id.clone(),
            size: event.body.len() as u64,
            may_concern_reader: true,
        });
        check_eq!(entries, expected)?;
        let mut bodies = feed.bodies(&[events[1].id.clone(), event(9)?.id, events[0].id.clone()]).await?;
        for event in events {
            check_eq!(bodies.remove(&event.id), Some(event.body))?;
        }
        check_eq!(bodies.len(), 0)?;
        check_eq!(feed.bodies(&[]).await?.len(), 0)
    }

    /// A message or a rating may concern a reader who is one of its parties. The id of a reader elsewhere in the body
    /// does not matter.
    async fn private_events_may_concern_their_parties(fixture: &StoreFixture) -> TestResult {
        let message = |recipient: u64| {
            format!(r#"{{"data":{{"message":{{"senderId":"8","recipientIds":["9","{recipient}"]}},"actor":null}}}}"#)
        };
        let rating = |member: u64, rater: u64, comment: &str| {
            let content = format!(r#"{{"postId":"1","comment":"{comment}"}}"#);
            format!(r#"{{"data":{{"rating":{content},"member":{{"userId":"{member}"}},"actor":{{"userId":"{rater}"}}}}}}"#)
        };
        let events = [
            (Topic::MESSAGE_SENT, message(1), true),
            (Topic::MESSAGE_SENT, message(77), false),
            (Topic::MEMBER_RATED, rating(1, 77, "x"), true),
            (Topic::MEMBER_RATED, rating(77, 1, "x"), true),
            (Topic::MEMBER_RATED, rating(77, 1, "\\u0000"), true),
            (Topic::MEMBER_RATED, rating(77, 78, "x"), false),
            (Topic::POST_CREATED, rating(77, 78, "x"), true),
        ];
        for (number, (topic, body, _)) in (1..).zip(&events) {
            let event = Event { topic: topic.clone(), body: body.clone(), ..event(number)? };
            insert(fixture, &event).await?;
        }
        let entries = read_feed(fixture, events.len()).await?;
        let found: Vec<_> = entries.iter().map(|entry| entry.may_concern_reader).collect();
        let expected: Vec<_> = events.iter().map(|(.., may_concern)| *may_concern).collect();
        check_eq!(found, expected)
    }

    /// An event that is fanned out without staying in the feed, and one that is sent to one endpoint only, are neither in the
    /// feed nor pending.
    async fn other_events_are_not_in_the_feed(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        fixture.deliver(&event(1)?, &[&endpoint], 0).await?;
        fixture.deliver(&event(2)?, &[], 0).await?;
        fixture.webhooks.deliveries.enqueue(&event(3)?, &endpoint.id, instant(0)).await?;
        expect_feed(fixture, &[]).await?;
        check_eq!(fixture.webhooks.outbox.pending(9).await?, [])?;
        check_eq!(fixture.webhooks.feed.find(&event(1)?.id, instant(0)).await?, None)?;
        check!(fixture.webhooks.outbox.find(&event(3)?.id).await?.is_some())
    }

    /// The age of an event is the time since its fan-out. It is zero after a fan-out by a clock that is ahead.
    async fn the_age_of_an_event_begins_with_its_fan_out(fixture: &StoreFixture) -> TestResult {
        let feed = &fixture.webhooks.feed;
        insert(fixture, &event(1)?).await?;
        check_eq!(only(feed.find(&event(1)?.id, instant(30)).await?)?.age, None)?;
        fan_out_into_feed(fixture, 1, 10).await?;
        for (now, age) in [(30, 20), (10, 0), (9, 0)] {
            let found = only(feed.find(&event(1)?.id, instant(now)).await?)?;
            check_eq!(found.age, Some(Duration::from_millis(age)), "at {now}")?;
        }
        Ok(())
    }

    /// A sweep removes the events from the beginning of the feed that were fanned out longer ago than the retention, and leaves
    /// those after an event that was not.
    async fn a_sweep_removes_events_from_the_beginning(fixture: &StoreFixture) -> TestResult {
        for number in 1..=4 {
            insert(fixture, &event(number)?).await?;
        }
        for (number, now) in [(1, 10), (3, 11), (4, 12)] {
            fan_out_into_feed(fixture, number, now).await?;
        }
        for (before, limit, swept, rest) in [
            (10, 9, 0, &[1, 2, 3, 4][..]),
            (20, 9, 1, &[2, 3, 4]),
            (20, 9, 0, &[2, 3, 4]),
        ] {
            check_eq!(sweep(fixture, before, limit).await?, swept, "events before {before}")?;
            expect_feed(fixture, rest).await?;
        }
        fan_out_into_feed(fixture, 2, 5).await?;
        check_eq!(sweep(fixture, 20, 2).await?, 2)?;
        expect_feed(fixture, &[4]).await?;
        check_eq!(fixture.webhooks.outbox.find(&event(3)?.id).await?, None)
    }

    /// A sweep keeps an event whose fan-out was recorded by a clock that was ahead, and a later sweep removes it.
    async fn an_event_of_a_clock_that_was_ahead_stays_for_its_retention(fixture: &StoreFixture) -> TestResult {
        const TOLERANCE: i64 = 60_000;
        for number in [1, 2] {
            insert(fixture, &event(number)?).await?;
        }
        // The first sweep is at the time 100,010.
        fan_out_into_feed(fixture, 1, 100_011 + TOLERANCE).await?;
        fan_out_into_feed(fixture, 2, 100_010 + TOLERANCE).await?;
        for (before, swept, rest) in [
            (10, 0, &[1, 2][..]),
            (100_010, 0, &[1, 2]),
            (100_011, 1, &[2]),
            (100_010 + TOLERANCE, 0, &[2]),
            (100_011 + TOLERANCE, 1, &[]),
        ] {
            check_eq!(sweep(fixture, before, 9).await?, swept, "events before {before}")?;
            expect_feed(fixture, rest).await?;
        }
        Ok(())
    }

    /// An event that leaves the feed is stored until its last delivery is removed, and an event without deliveries until it
    /// leaves the feed.
    async fn an_event_is_removed_after_the_feed_and_its_deliveries(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        for number in [1, 2] {
            insert(fixture, &event(number)?).await?;
            let recipients = [FanOut { stays_in_feed: true, ..fan_out(&event(number)?, &[&endpoint]) }];
            fixture.webhooks.outbox.fan_out(&recipients, instant(0)).await?;
        }
        let outbox = &fixture.webhooks.outbox;
        let is_stored = async |number| TestResult::Ok(outbox.find(&event(number)?.id).await?.is_some());
        let remove = async |number| {
            let id = DeliveryId::derive(&event(number)?.id, &endpoint.id);
            TestResult::Ok(fixture.webhooks.deliveries.remove(&id, &audit_entry()).await?)
        };
        check!(remove(1).await?)?;
        check!(is_stored(1).await?, "in the feed")?;
        expect_feed(fixture, &[1, 2]).await?;
        check_eq!(sweep(fixture, 20, 9).await?, 2)?;
        check!(!is_stored(1).await?)?;
        check!(is_stored(2).await?, "with a delivery")?;
        check!(remove(2).await?)?;
        check!(!is_stored(2).await?)
    }

    /// The position of a time precedes all events since the time, also one that precedes an earlier event in the feed. It is
    /// at most the position of the latest event before the time.
    async fn the_position_of_a_time_is_before_all_later_events(fixture: &StoreFixture) -> TestResult {
        let feed = &fixture.webhooks.feed;
        check_eq!(feed.find_start(instant(9)).await?, None)?;
        for number in [1, 5, 3] {
            insert(fixture, &event(number)?).await?;
        }
        expect_feed(fixture, &[1, 5, 3]).await?;
        for (time, expected) in [(1, &[1, 5, 3][..]), (2, &[5, 3]), (5, &[5, 3]), (6, &[3])] {
            let start = feed.find_start(instant(time)).await?.unwrap_or(FeedPosition::START);
            let read = feed.read(start, &reader(), 9).await?;
            check_eq!(ids(&read.entries), ids_of(expected)?, "since {time}")?;
        }
        Ok(())
    }

    /// The first event that is kept is the first one that is not fanned out, or was fanned out at most the retention ago.
    async fn the_first_kept_event_was_not_fanned_out_before(fixture: &StoreFixture) -> TestResult {
        let feed = &fixture.webhooks.feed;
        check_eq!(feed.first_kept(RETENTION, instant(0)).await?, None)?;
        for number in 1..=4 {
            insert(fixture, &event(number)?).await?;
        }
        for (number, now) in [(1, 10), (2, 30), (3, 20)] {
            fan_out_into_feed(fixture, number, now).await?;
        }
        for (time, expected) in [(10, 1), (11, 2), (30, 2), (31, 4)] {
            let now = instant(time).saturating_add(RETENTION);
            let position = feed.find(&event(expected)?.id, now).await?.map(|found| found.position);
            check_eq!(feed.first_kept(RETENTION, now).await?, position, "at {time}")?;
        }
        Ok(())
    }

    /// A reader that goes on from its last event, while others write, misses no event and gets none twice.
    async fn a_reader_gets_each_event_of_concurrent_writers_once(fixture: &StoreFixture) -> TestResult {
        const WRITERS: u64 = 8;
        const EVENTS: u64 = 20;
        type Task = BoxFuture<'static, TestResult<Vec<EventId>>>;
        let write = |writer: u64| -> Task {
            let outbox = fixture.webhooks.outbox.clone();
            Box::pin(async move {
                for number in 0..EVENTS {
                    outbox.insert(&event(writer * EVENTS + number)?).await?;
                }
                Ok(Vec::new())
            })
        };
        let feed = fixture.webhooks.feed.clone();
        let read_all: Task = Box::pin(async move {
            let mut position = FeedPosition::START;
            let mut read = Vec::new();
            for _ in 0..MAX_READS {
                if read.len() as u64 == WRITERS * EVENTS {
                    break;
                }
                let page = feed.read(position, &reader(), 7).await?;
                if let Some(last) = page.entries.last() {
                    position = only(feed.find(&last.id, instant(0)).await?)?.position;
                }
                read.extend(ids(&page.entries));
            }
            Ok(read)
        });
        let tasks = (0..WRITERS).map(write).chain([read_all]);
        let read = succeed_concurrently(tasks).await?.concat();
        check_eq!(read.iter().collect::<BTreeSet<_>>().len(), read.len(), "events that were read once")?;
        let numbers: Vec<_> = (0..WRITERS * EVENTS).collect();
        let expected: BTreeSet<_> = ids_of(&numbers)?.into_iter().collect();
        check_eq!(read.into_iter().collect::<BTreeSet<_>>(), expected)
    }
}

fn reader() -> UserId {
    UserId::from(1)
}

fn ids(entries: &[FeedEntry]) -> Vec<EventId> {
    entries.iter().map(|entry| entry.id.clone()).collect()
}

fn ids_of(numbers: &[u64]) -> TestResult<Vec<EventId>> {
    numbers.iter().map(|number| Ok(event(*number)?.id)).collect()
}

async fn insert(fixture: &StoreFixture, event: &Event) -> TestResult {
    Ok(fixture.webhooks.outbox.insert(event).await?)
}

async fn fan_out_into_feed(fixture: &StoreFixture, number: u64, now: i64) -> TestResult {
    let recipients = [FanOut { stays_in_feed: true, ..fan_out(&event(number)?, &[]) }];
    Ok(fixture.webhooks.outbox.fan_out(&recipients, instant(now)).await?)
}

async fn sweep(fixture: &StoreFixture, before: i64, limit: u32) -> TestResult<u64> {
    let now = instant(before).saturating_add(RETENTION);
    Ok(fixture.webhooks.feed.sweep(RETENTION, now, limit).await?)
}

/// Reads the feed until it has this number of events: other transactions of the database can delay them.
async fn read_feed(fixture: &StoreFixture, count: usize) -> TestResult<Vec<FeedEntry>> {
    let feed = &fixture.webhooks.feed;
    let mut read = feed.read(FeedPosition::START, &reader(), 9).await?;
    for _ in 0..MAX_READS {
        if read.entries.len() >= count {
            break;
        }
        read = feed.read(FeedPosition::START, &reader(), 9).await?;
    }
    Ok(read.entries)
}

async fn expect_feed(fixture: &StoreFixture, expected: &[u64]) -> TestResult {
    let entries = read_feed(fixture, expected.len()).await?;
    check_eq!(ids(&entries), ids_of(expected)?)
}
