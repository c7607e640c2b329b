//! Replies, which Postgres commits in groups.
//!
//! A commit waits for the disk while it holds the locks of the thread and of the forum, so that replies to one thread, one
//! in each transaction, would wait for one another's disk writes. Instead the replies that wait in this process share a
//! transaction: it locks their threads, their members and their forums, each in the order of ids, and runs all commands
//! concurrently on one connection, which sends their statements without waiting for the results of the others. The
//! database's own thread does the same for SQLite.
//!
//! A command of a group is refused without an effect on the others, because [`posts::reply`] checks all rules before it
//! writes. If a statement fails, or a command is refused after it changed rows, the transaction is rolled back, and each
//! reply of the group is written in a transaction of its own.

use std::collections::HashSet;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use forum_api::host::{BoardError, BoardResult, InForum, MemberCaller};
use forum_api::model::{NewPost, Post, Timestamp};
use forum_api::webhook::Event;
use futures_util::future::join_all;
use tokio::sync::{Semaphore, oneshot};

use super::actor::Actor;
use super::db::{BoardDatabase, Transaction};
use super::events::EventRecorder;
use super::locks::{self, LockTarget};
use super::texts::Texts;
use super::{ReferenceBoard, posts};

/// Number of groups that are written at the same time: one runs its statements while another commits.
const GROUPS: usize = 2;

/// Maximum number of replies in a group, which bounds how long its locks are held.
const GROUP_MAX: usize = 32;

/// Replies that wait for a group.
#[derive(Debug)]
pub struct ReplyQueue {
    waiting: Mutex<VecDeque<WaitingReply>>,
    groups: Semaphore,
}

#[derive(Debug)]
struct WaitingReply {
    reply: Reply,
    answer: oneshot::Sender<BoardResult<InForum<Post>>>,
}

#[derive(Clone, Debug)]
struct Reply {
    by: MemberCaller,
    member: i64,
    thread: i64,
    new: NewPost,
}

impl Default for ReplyQueue {
    fn default() -> Self {
        Self {
            waiting: Mutex::default(),
            groups: Semaphore::new(GROUPS),
        }
    }
}

impl ReplyQueue {
    fn push(&self, reply: WaitingReply) {
        self.waiting().push_back(reply);
    }

    /// Takes the replies of the next group, with at most one of each member: a flood limit depends on the last one.
    fn take_group(&self) -> Vec<WaitingReply> {
        let mut waiting = self.waiting();
        let (mut group, mut members) = (Vec::new(), HashSet::new());
        let mut left = VecDeque::new();
        while let Some(next) = waiting.pop_front() {
            match group.len() < GROUP_MAX && members.insert(next.reply.member) {
                true => group.push(next),
                false => left.push_back(next),
            }
        }
        *waiting = left;
        group
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, VecDeque<WaitingReply>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReferenceBoard {
    /// Writes a reply.
    pub(super) async fn reply(
        &self,
        by: &MemberCaller,
        thread: i64,
        new: NewPost,
    ) -> BoardResult<InForum<Post>> {
        let reply = Reply {
            by: by.clone(),
            member: by.user_id().to_i64()?,
            thread,
            new,
        };
        match self.database {
            BoardDatabase::Sqlite(_) => self.reply_alone(reply).await,
            BoardDatabase::Postgres(_) => self.reply_in_group(reply).await,
        }
    }

    async fn reply_alone(&self, reply: Reply) -> BoardResult<InForum<Post>> {
        let Reply {
            by, thread, new, ..
        } = reply;
        let target = LockTarget::Thread(thread);
        self.act(&by, target, move |command| {
            Box::pin(posts::reply(command, thread, new))
        })
        .await
    }

    /// Waits for a group that writes the reply, or writes the next group itself.
    async fn reply_in_group(&self, reply: Reply) -> BoardResult<InForum<Post>> {
        let (answer, mut answered) = oneshot::channel();
        self.reply_queue.push(WaitingReply { reply, answer });
        let lost = |_| BoardError::internal("the task that wrote the reply ended");
        loop {
            tokio::select! {
                biased;
                answer = &mut answered => return answer.map_err(lost)?,
                permit = self.reply_queue.groups.acquire() => {
                    let group = self.reply_queue.take_group();
                    if group.is_empty() {
                        drop(permit);
                        return answered.await.map_err(lost)?;
                    }
                    self.write_group(group).await;
                }
            }
        }
    }

    async fn write_group(&self, group: Vec<WaitingReply>) {
        let (replies, answers): (Vec<_>, Vec<_>) = group
            .into_iter()
            .map(|waiting| (waiting.reply, waiting.answer))
            .unzip();
        let written = match <[Reply; 1]>::try_from(replies) {
            Ok([reply]) => vec![self.reply_alone(reply).await],
            Err(replies) => self.reply_together(replies).await,
        };
        for (answer, written) in answers.into_iter().zip(written) {
            // A caller that no longer waits has its reply all the same.
            answer.send(written).ok();
        }
    }

    async fn reply_together(&self, replies: Vec<Reply>) -> Vec<BoardResult<InForum<Post>>> {
        let (group, clock, texts) = (Arc::new(replies), self.clock.clone(), self.texts);
        let replies = group.clone();
        let write = self.database.write(move |tx| {
            Box::pin(async move {
                let threads: Vec<i64> = replies.iter().map(|reply| reply.thread).collect();
                locks::threads(tx, &threads).await?;
                let members: Vec<i64> = replies.iter().map(|reply| reply.member).collect();
                locks::members(tx, &members).await?;
                let now = clock.now();
                let written = replies
                    .iter()
                    .map(|reply| run(tx.part(), reply, now, texts));
                let written = finish(tx, join_all(written).await).await;
                written.map_err(|error| BoardError::internal(RolledBackError(error)))
            })
        });
        match write.await {
            Ok((written, events)) => {
                self.announce(&events);
                written
            }
            Err(error) if is_rolled_back(&error) => {
                tracing::debug!(%error, "failed to write replies together; writing each alone");
                let alone = group.iter().cloned().map(|reply| self.reply_alone(reply));
                join_all(alone).await
            }
            // The outcome of a failed commit is unknown.
            Err(error) => {
                let error = error.to_string();
                let each = group
                    .iter()
                    .map(|_| Err(BoardError::internal(error.clone())));
                each.collect()
            }
        }
    }
}

/// A command of a group failed, and its transaction was rolled back.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct RolledBackError(BoardError);

fn is_rolled_back(error: &BoardError) -> bool {
    matches!(error, BoardError::Internal(source) if source.is::<RolledBackError>())
}

/// A reply that was written or refused, and its events.
type Written = (BoardResult<InForum<Post>>, EventRecorder);

/// Runs one command of a group.
///
/// # Errors
/// If the transaction of the group cannot be committed.
async fn run(
    tx: Transaction<'_>,
    reply: &Reply,
    now: Timestamp,
    texts: &'static Texts,
) -> BoardResult<Written> {
    let mut events = EventRecorder::at(now);
    let command = async {
        let actor = Actor::acting(&tx, reply.member, texts).await?;
        events.actor = actor.member;
        events.has_endpoints = actor.has_endpoints;
        posts::reply(
            (&tx, &mut events, &actor, texts),
            reply.thread,
            reply.new.clone(),
        )
        .await
    };
    match command.await {
        Err(error @ BoardError::Internal(_)) => Err(error),
        Err(error) if tx.has_changes() => Err(error),
        written => Ok((written, events)),
    }
}

/// Writes the events of a group in the order of the posts.
async fn finish(
    tx: &Transaction<'_>,
    written: Vec<BoardResult<Written>>,
) -> BoardResult<(Vec<BoardResult<InForum<Post>>>, Vec<Event>)> {
    let (mut results, mut recorders) = (Vec::new(), Vec::new());
    for written in written {
        let (result, events) = written?;
        if let Ok(post) = &result {
            recorders.push((post.value.post_id.to_i64()?, events));
        }
        results.push(result);
    }
    recorders.sort_unstable_by_key(|(post, _)| *post);
    let recorders = recorders.into_iter().map(|(_, events)| events).collect();
    Ok((results, EventRecorder::write_all(recorders, tx).await?))
}
