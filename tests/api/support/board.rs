//! The test board: who sees what, how it is at fault, and what it was asked to do. Its commands are in
//! [`commands`](super::commands).

use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use forum_api::async_trait;
use forum_api::host::{
    Access, Authorizer, BackendResult, BoardError, BoardResult, Caller, VisibleForums,
};
use forum_api::model::{ForumId, UserId};

use tokio::sync::watch;

use super::world::{FORUMS, forum_in};
use super::{Mood, soon};

/// A board that implements everything, plainly, over a fixed world.
pub(crate) struct FullBoard {
    mood: Mutex<Mood>,
    offline: AtomicBool,
    /// What each caller sees; the guest is "". Who is not here can no longer act.
    sight: Mutex<HashMap<&'static str, Vec<&'static str>>>,
    moderators: Mutex<HashSet<&'static str>>,
    /// The ids of deleted threads, posts and members.
    deleted: Mutex<HashSet<&'static str>>,
    calls: Mutex<Vec<String>>,
    ended: watch::Sender<usize>,
}

/// Loaded by the authority for the commands.
pub(crate) struct Moderates(pub(crate) bool);

impl FullBoard {
    pub(crate) fn new() -> Arc<Self> {
        let (all, most) = (
            vec!["open", "members", "staff", "porch"],
            ["open", "members", "porch"],
        );
        let sight = HashMap::from([
            ("", vec!["open", "porch"]),
            ("alice", most.to_vec()),
            ("bob", most.to_vec()),
            ("moderator", all.clone()),
            ("admin", all),
        ]);
        Arc::new(Self {
            mood: Mutex::default(),
            offline: AtomicBool::new(false),
            sight: Mutex::new(sight),
            moderators: Mutex::new(HashSet::from(["moderator", "admin"])),
            deleted: Mutex::default(),
            calls: Mutex::default(),
            ended: watch::Sender::default(),
        })
    }

    pub(crate) fn be(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    pub(crate) fn go_offline(&self, offline: bool) {
        self.offline.store(offline, Ordering::SeqCst);
    }

    /// From now on `user` (the guest is "") sees these forums.
    pub(crate) fn shows(&self, user: &'static str, forums: &[&'static str]) {
        self.sight.lock().unwrap().insert(user, forums.to_vec());
    }

    /// Deletes the thread, post or member of this id.
    pub(crate) fn delete(&self, id: &'static str) {
        self.deleted.lock().unwrap().insert(id);
    }

    /// Restores everything that was deleted.
    pub(crate) fn restore(&self) {
        self.deleted.lock().unwrap().clear();
    }

    /// From now on `user` can no longer act.
    pub(crate) fn ban(&self, user: &str) {
        self.sight.lock().unwrap().remove(user);
    }

    /// From now on `user` moderates nothing.
    pub(crate) fn demote(&self, user: &str) {
        self.moderators.lock().unwrap().remove(user);
    }

    /// From now on `user` moderates everything.
    pub(crate) fn promote(&self, user: &'static str) {
        self.moderators.lock().unwrap().insert(user);
    }

    /// The commands that were run, with their arguments.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }

    /// How many commands were run, without the look-ups of the member whom a repeated request names.
    pub(crate) fn writes(&self) -> usize {
        let is_write = |call: &&String| !call.starts_with("profile ");
        self.calls().iter().filter(is_write).count()
    }

    /// The command that was run last.
    pub(crate) fn last_call(&self) -> String {
        self.calls().pop().unwrap_or_default()
    }

    /// How many commands came to their end.
    pub(crate) fn ended(&self) -> usize {
        *self.ended.borrow()
    }

    /// Ready when as many commands came to their end.
    pub(crate) async fn until_ended(&self, commands: usize) {
        let mut ended = self.ended.subscribe();
        soon(ended.wait_for(|ended| *ended == commands))
            .await
            .unwrap();
    }

    /// Notes a command, and behaves as the mood is.
    pub(super) async fn run(&self, name: &str, arguments: impl Debug + Send) -> BoardResult<()> {
        let call = format!("{name} {arguments:?}");
        self.calls.lock().unwrap().push(call);
        let mood = self.mood.lock().unwrap().clone();
        match mood {
            Mood::Well | Mood::Leaks => {}
            Mood::Panics => panic!("the test board panics"),
            Mood::Hangs => pending().await,
            Mood::Waits(gate) => gate.pass().await,
            Mood::Refuses(refusal) => return Err(refusal()),
        }
        self.ended.send_modify(|ended| *ended += 1);
        Ok(())
    }

    /// The forum that an id is in, if it is there and the caller sees it.
    pub(super) fn find(&self, caller: &Caller, id: &str, bounds: &[usize]) -> BoardResult<ForumId> {
        let forum = forum_in(id, bounds).filter(|forum| self.admits(caller.access(), forum));
        let forum = forum.filter(|_| !self.is_deleted(id));
        forum
            .and_then(ForumId::parse)
            .ok_or(BoardError::PathNotFound)
    }

    pub(super) fn is_deleted(&self, id: &str) -> bool {
        self.deleted.lock().unwrap().contains(id)
    }

    pub(super) fn admits(&self, standing: &Access, forum: &str) -> bool {
        let leaks = matches!(*self.mood.lock().unwrap(), Mood::Leaks);
        leaks
            || standing
                .visible_forums()
                .contains(&ForumId::parse(forum).unwrap())
    }

    /// The forums that the caller is shown.
    pub(super) fn shown(&self, standing: &Access) -> Vec<&'static str> {
        let forums = FORUMS.iter().map(|(forum, _)| *forum);
        forums
            .filter(|forum| self.admits(standing, forum))
            .collect()
    }

    fn standing(&self, user: &str) -> Option<Access> {
        let sight = self.sight.lock().unwrap();
        let forums = sight
            .get(user)?
            .iter()
            .filter_map(|forum| ForumId::parse(forum));
        let offline = self.offline.load(Ordering::SeqCst) && user != "admin";
        let moderates = self.moderators.lock().unwrap().contains(user);
        let standing =
            Access::new(VisibleForums::from_ids(forums)).with_extension(Moderates(moderates));
        Some(standing.deny_offline(offline))
    }
}

#[async_trait]
impl Authorizer for FullBoard {
    async fn guest_access(&self) -> BackendResult<Access> {
        Ok(self.standing("").unwrap())
    }

    async fn member_access(&self, owner: &UserId) -> BackendResult<Option<Access>> {
        Ok(self.standing(&owner.to_string()))
    }
}
