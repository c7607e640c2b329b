//! The test board: its access rules, its failures and its recorded calls. [`commands`](super::commands) has its methods.

use std::collections::{HashMap, HashSet};
use std::future::pending;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use forum_api::host::{
    Access, BackendError, BackendResult, LoadedToken, RequestInfo, VisibleForums,
};
use forum_api::store::TokenStore;
use forum_api::token::Lookup;
use tokio::sync::watch;

use super::fixtures::{FORUMS, forum_in};
use super::*;

/// A board in memory that implements every method over fixed content.
pub(crate) struct FullBoard {
    mode: Mutex<FailureMode>,
    offline: AtomicBool,
    pub(crate) offline_for: Mutex<Option<Duration>>,
    /// `true` if the access of a caller names the hidden forums instead of the visible ones.
    names_hidden_forums: AtomicBool,
    /// Visible forums of each account; "" is the guest. Other accounts have no access.
    visible: Mutex<HashMap<&'static str, Vec<&'static str>>>,
    /// Ids of deleted threads, posts and members.
    deleted: Mutex<HashSet<&'static str>>,
    /// Number of look-ups of a member's access, without those of tokens that the board loads.
    access_lookups: AtomicUsize,
    /// Store from which the board loads tokens with their owners.
    tokens: OnceLock<Arc<dyn TokenStore>>,
    calls: Mutex<Vec<String>>,
    completed: watch::Sender<usize>,
}

/// Access extension: whether the member is a moderator.
pub(crate) struct IsModerator(pub(crate) bool);

impl FullBoard {
    pub(crate) fn new() -> Arc<Self> {
        let staff = vec!["open", "members", "staff", "porch"];
        let member = vec!["open", "members", "porch"];
        let visible = HashMap::from([
            ("", vec!["open", "porch"]),
            ("alice", member.clone()),
            ("bob", member),
            ("moderator", staff.clone()),
            ("admin", staff),
        ]);
        Arc::new(Self {
            mode: Mutex::default(),
            offline: AtomicBool::new(false),
            offline_for: Mutex::default(),
            names_hidden_forums: AtomicBool::new(false),
            visible: Mutex::new(visible),
            deleted: Mutex::default(),
            access_lookups: AtomicUsize::new(0),
            tokens: OnceLock::new(),
            calls: Mutex::default(),
            completed: watch::Sender::default(),
        })
    }

    pub(crate) fn set_mode(&self, mode: FailureMode) {
        *self.mode.lock().unwrap() = mode;
    }

    /// Makes the board return an error from every command.
    pub(crate) fn fail_with(&self, error: fn() -> BoardError) {
        self.set_mode(FailureMode::Error(error));
    }

    pub(crate) fn set_offline(&self, offline: bool) {
        self.offline.store(offline, Ordering::SeqCst);
    }

    /// Lets the access of each caller name the hidden forums instead of the visible ones.
    pub(crate) fn name_hidden_forums(&self) {
        self.names_hidden_forums.store(true, Ordering::SeqCst);
    }

    /// Lets the board load tokens with their owners.
    pub(crate) fn load_tokens(&self, tokens: Arc<dyn TokenStore>) {
        assert!(self.tokens.set(tokens).is_ok());
    }

    /// Sets the visible forums of an account.
    pub(crate) fn show(&self, user: &'static str, forums: &[&'static str]) {
        self.visible.lock().unwrap().insert(user, forums.to_vec());
    }

    /// Revokes the access of an account.
    pub(crate) fn ban(&self, user: &str) {
        self.visible.lock().unwrap().remove(user);
    }

    /// Deletes a thread, post or member.
    pub(crate) fn delete(&self, id: &'static str) {
        self.deleted.lock().unwrap().insert(id);
    }

    /// Restores everything that was deleted.
    pub(crate) fn restore(&self) {
        self.deleted.lock().unwrap().clear();
    }

    /// Counts the look-ups of a member's access, without those of tokens that the board loads.
    pub(crate) fn access_lookups(&self) -> usize {
        self.access_lookups.load(Ordering::SeqCst)
    }

    /// Returns the commands that were run, with their arguments.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }

    pub(crate) fn last_call(&self) -> String {
        self.calls().pop().unwrap_or_default()
    }

    /// Counts the commands that completed.
    pub(crate) fn completed(&self) -> usize {
        *self.completed.borrow()
    }

    /// Waits until this many commands completed.
    pub(crate) async fn until_completed(&self, commands: usize) {
        let mut completed = self.completed.subscribe();
        let reached = completed.wait_for(|completed| *completed == commands);
        within_ten_seconds(reached).await.unwrap();
    }

    /// Records a command and applies the failure mode.
    pub(super) async fn run(&self, call: String) -> BoardResult<()> {
        self.calls.lock().unwrap().push(call);
        let mode = self.mode.lock().unwrap().clone();
        match mode {
            FailureMode::None | FailureMode::Leak | FailureMode::LookUp(_) => {}
            FailureMode::Panic => panic!("the test board panics"),
            FailureMode::Hang => pending().await,
            FailureMode::Wait(checkpoint) => checkpoint.wait().await,
            FailureMode::Error(error) => return Err(error()),
        }
        self.completed.send_modify(|completed| *completed += 1);
        Ok(())
    }

    /// Fails if the mode names this method of the authorizer or of the board.
    pub(super) fn look_up(&self, method: &'static str) -> BackendResult<()> {
        match *self.mode.lock().unwrap() {
            FailureMode::LookUp(failing) if failing == method => {
                Err(BackendError::new("the look-up failed"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the forum of an id, if its content exists and the caller sees it.
    pub(super) fn find(&self, access: &Access, id: &str, bounds: &[usize]) -> BoardResult<ForumId> {
        let forum = forum_in(id, bounds)
            .filter(|forum| self.can_see(access, forum))
            .filter(|_| !self.is_deleted(id));
        forum.and_then(|id| ForumId::parse(id).ok()).ok_or(BoardError::PathNotFound)
    }

    /// Returns an error for a forum that does not exist.
    pub(super) fn require_forum(&self, forum: &ForumId) -> BoardResult<()> {
        let mut forums = FORUMS.iter();
        if forums.any(|(name, _)| forum.to_string() == *name) {
            Ok(())
        } else {
            Err(BoardError::PathNotFound)
        }
    }

    pub(super) fn is_deleted(&self, id: &str) -> bool {
        self.deleted.lock().unwrap().contains(id)
    }

    fn can_see(&self, access: &Access, forum: &str) -> bool {
        let leaks = matches!(*self.mode.lock().unwrap(), FailureMode::Leak);
        let forum = ForumId::parse(forum).unwrap();
        leaks || access.visible_forums().contains(&forum)
    }

    /// Returns the forums that the board shows to a caller.
    pub(super) fn shown(&self, caller: &Caller) -> Vec<&'static str> {
        let forums = FORUMS.iter().map(|(forum, _)| *forum);
        let visible = forums.filter(|forum| self.can_see(caller.access(), forum));
        visible.collect()
    }

    fn access(&self, user: &str) -> Option<Access> {
        let visible = self.visible.lock().unwrap();
        let names = visible.get(user)?;
        let parse = |forum: &&str| ForumId::parse(forum).unwrap();
        let forums = if self.names_hidden_forums.load(Ordering::SeqCst) {
            let all = FORUMS.iter().map(|(forum, _)| forum);
            VisibleForums::all_except(all.filter(|forum| !names.contains(forum)).map(parse))
        } else {
            VisibleForums::from_ids(names.iter().map(parse))
        };
        let offline = self.offline.load(Ordering::SeqCst) && user != "admin";
        let is_moderator = IsModerator(matches!(user, "moderator" | "admin"));
        let access = Access::new(forums).offline_for(*self.offline_for.lock().unwrap());
        Some(access.with_extension(is_moderator).board_offline(offline))
    }
}

#[async_trait]
impl Authorizer for FullBoard {
    async fn guest_access(&self, _: &RequestInfo) -> BackendResult<Access> {
        self.look_up("guest_access")?;
        Ok(self.access("").unwrap())
    }

    async fn member_access(
        &self,
        owner: &UserId,
        _: &RequestInfo,
    ) -> BackendResult<Option<Access>> {
        self.access_lookups.fetch_add(1, Ordering::SeqCst);
        self.look_up("member_access")?;
        Ok(self.access(&owner.to_string()))
    }

    async fn load_token(&self, lookup: &Lookup) -> BackendResult<Option<LoadedToken>> {
        let Some(tokens) = self.tokens.get() else {
            return Ok(None);
        };
        let record = tokens.find(lookup).await?;
        Ok(record.map(|record| {
            let access = self.access(&record.owner.to_string());
            LoadedToken::new(record, move |_| access.clone())
        }))
    }
}
