//! The things that happen, and the events that tell of them.

use forum_api::host::{Refusal, Result};
use forum_api::model::{Author, MessageId, Poll, Post, Rating, UserId};
use forum_api::webhook::{Event, Occasion, Surroundings};

use super::super::db::Transaction;
use super::around::{self, Around};

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Happening {
    /// To a post, or to a thread, which goes by its first post: as they are when the command is done.
    Post(Tell, Box<Around>),
    /// To a poll, which is like this from then on.
    Poll(OfPoll, Poll),
    /// A member was rated, for a post in this forum if any.
    Rating(Rating, Author, Option<i64>),
    /// A message was sent. A receipt is none: nobody sent it.
    Message {
        /// The sender's copy.
        copy: MessageId,
        /// The sender.
        sender: UserId,
        /// The recipients.
        recipients: Vec<UserId>,
    },
}

/// An event of a poll.
pub type OfPoll = fn(Occasion, &Poll, Surroundings<'_>) -> Event;

/// What is told of a post, in this order.
pub type Tell = &'static [Of];

/// An event of a thread, or of a post in it.
#[derive(Clone, Copy, Debug)]
pub enum Of {
    /// Of the thread.
    Thread(fn(Occasion, Surroundings<'_>) -> Event),
    /// Of the post.
    Post(fn(Occasion, &Post, Surroundings<'_>) -> Event),
}

/// A thread is there with its first post.
pub const STARTED: Tell = &[
    Of::Thread(Event::thread_created),
    Of::Post(Event::post_created),
];
/// A reply is there.
pub const REPLIED: Tell = &[Of::Post(Event::post_created)];
/// A post was edited.
pub const EDITED: Tell = &[Of::Post(Event::post_updated)];
/// A thread was deleted with its posts.
pub const THREAD_DELETED: Tell = &[Of::Thread(Event::thread_deleted)];
/// A reply was deleted.
pub const REPLY_DELETED: Tell = &[Of::Post(Event::post_deleted)];
/// A thread is there again with its posts.
pub const THREAD_RESTORED: Tell = &[Of::Thread(Event::thread_restored)];
/// A reply is there again.
pub const REPLY_RESTORED: Tell = &[Of::Post(Event::post_restored)];

impl Happening {
    /// The events that tell of it, as things are now.
    pub(super) async fn tell(
        &self,
        tx: &Transaction<'_>,
        actor: Option<i64>,
        on: impl Fn() -> Result<Occasion> + Send,
    ) -> Result<Vec<Event>> {
        let event = match self {
            Self::Post(tell, around) => {
                let events = tell.iter().map(|of| of.event(on()?, around));
                return events.collect();
            }
            Self::Poll(tell, poll) => {
                let around = Around::load(tx, poll.thread_id.number()?, None, actor).await?;
                tell(on()?, poll, around.surroundings())
            }
            Self::Rating(rating, member, forum) => {
                let (actor, forum) = around::rating(tx, actor, *forum).await?;
                Event::member_rated(on()?, rating, member, forum.as_ref(), actor.as_ref())
            }
            Self::Message {
                copy,
                sender,
                recipients,
            } => Event::message_sent(on()?, copy, sender, recipients),
        };
        Ok(vec![event])
    }
}

impl Of {
    fn event(self, on: Occasion, around: &Around) -> Result<Event> {
        let surroundings = around.surroundings();
        match self {
            Self::Thread(event) => Ok(event(on, surroundings)),
            Self::Post(event) => {
                let post = around.post.as_ref().ok_or(Refusal::Absent)?;
                Ok(event(on, post, surroundings))
            }
        }
    }
}
