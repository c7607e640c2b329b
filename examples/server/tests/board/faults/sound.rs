//! The board that keeps every rule, and what a faulty one finds out about it.

use std::sync::{Arc, Mutex};

use forum_api::conformance::{Host, Role, Set, Stage};
use forum_api::host::{Authority, Board, Caller, Member, Refusal, Result};
use forum_api::model::*;
use forum_api::runtime::{ManualClock, SystemEntropy};
use forum_api::webhook::{Event, Occasion};

use super::twist::Question;
use crate::backend::Backend;

/// A reference board with an administrator, root.
pub struct Sound {
    pub stage: Box<dyn Stage>,
    pub authority: Arc<dyn Authority>,
    pub board: Arc<dyn Board>,
    root: UserId,
    told: Mutex<Vec<Event>>,
}

impl Sound {
    /// An empty one.
    pub async fn new(clock: Arc<ManualClock>) -> Set<Self> {
        let stage = Backend::Memory.empty(clock).await?;
        let (authority, board) = stage.board();
        let root = stage.add_member("root", Role::Administrator).await?;
        Ok(Self {
            stage,
            authority,
            board,
            root,
            told: Mutex::default(),
        })
    }

    /// Tells of what nobody is to be told of.
    pub fn tell(&self) {
        let on = Occasion::new(&SystemEntropy, Timestamp::default()).unwrap();
        self.told.lock().unwrap().push(Event::ping(on));
    }

    /// What is told.
    pub async fn events(&self) -> Set<Vec<Event>> {
        let mut events = self.stage.events().await?;
        events.append(&mut self.told.lock().unwrap());
        Ok(events)
    }

    /// The same question, asked by root.
    pub async fn roots<Q>(&self, question: Question<Q>) -> Result<Question<Q>> {
        let by = self.root().await?;
        Ok(Question { by, ..question })
    }

    /// Root, as one who reads.
    pub async fn root(&self) -> Result<Caller> {
        Ok(Caller::Member(self.member(&self.root).await?))
    }

    /// Somebody with the standing of now, whoever asks.
    pub async fn member(&self, id: &UserId) -> Result<Member> {
        let standing = self.authority.member(id).await?;
        Ok(Member::new(id.clone(), standing.ok_or(Refusal::Absent)?))
    }

    /// Everybody who may act but root: ids of the reference board are numbers from 1.
    pub async fn members(&self) -> Vec<Member> {
        let mut members = Vec::new();
        for id in 2..20 {
            members.extend(self.member(&id.into()).await);
        }
        members
    }

    /// The threads of a forum, those that are hidden, too.
    pub async fn threads(&self, forum: &ForumId) -> Result<Vec<Thread>> {
        let list = ListThreads::default();
        let root = self.root().await?;
        Ok(self.board.threads(&root, forum.clone(), list).await?.items)
    }

    /// The posts of a thread, those that are hidden, too.
    pub async fn posts(&self, thread: &ThreadId) -> Result<Vec<Post>> {
        let list = ListPosts::default();
        let root = self.root().await?;
        let page = self.board.posts(&root, thread.clone(), list).await?;
        Ok(page.it.items)
    }

    /// A thread, hidden or not.
    pub async fn thread(&self, thread: &ThreadId) -> Result<Thread> {
        self.board.thread(&self.root().await?, thread.clone()).await
    }

    /// The thread of a post, hidden or not.
    pub async fn thread_of(&self, post: &PostId) -> Result<ThreadId> {
        for forum in self.board.forums(&self.root().await?).await? {
            for thread in self.threads(&forum.forum_id).await? {
                let posts = self.posts(&thread.thread_id).await?;
                if posts.iter().any(|found| found.post_id == *post) {
                    return Ok(thread.thread_id);
                }
            }
        }
        Err(Refusal::Absent)
    }

    /// Does something with the stage, the way a board does it.
    pub async fn set<T>(&self, doing: impl Future<Output = Set<T>>) -> Result<T> {
        doing.await.map_err(Refusal::failed)
    }
}

/// Who carries out a command that takes a member.
pub fn member(by: &Caller) -> Result<&Member> {
    by.member().ok_or(Refusal::Absent)
}
