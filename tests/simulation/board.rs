//! The board of a process: the board in memory of the examples with faults, whose changes and events are recorded.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use forum_api::async_trait;
use forum_api::conformance::BoardFixture;
use forum_api::host::{
    Access, Authorizer, BackendResult, Board, BoardResult, Caller, Host, InForum, MemberCaller,
    RequestInfo, ResourceRef,
};
use forum_api::model::*;
use forum_api::runtime::{Clock as _, ManualClock};
use forum_api::store::{PendingEventStore, WebhookStores};
use forum_api::webhook::Event;

use crate::faults::Faults;
use crate::journal::Journal;
use crate::ready;
use crate::scheduler::{ProcessClock, ProcessId};

/// The database of the board, which all processes share.
#[derive(Clone)]
pub(crate) struct SharedBoard {
    pub(crate) fixture: Arc<dyn BoardFixture>,
    /// Clock of the board in memory, which has the time of the process that calls it.
    pub(crate) clock: Arc<ManualClock>,
    /// The stores, if the board inserts its events into their outbox; otherwise they wait in `pending`.
    pub(crate) outbox: Option<WebhookStores>,
    pub(crate) pending: Arc<Mutex<Vec<Event>>>,
    pub(crate) journal: Journal,
}

impl SharedBoard {
    pub(crate) fn host(&self) -> Host {
        self.fixture.board()
    }

    /// Commits a change: its events become durable together with it. Numbers them, because the ids of events that no request
    /// causes are random.
    pub(crate) fn commit(&self) {
        for mut event in ready(self.fixture.events()).unwrap() {
            let number = self.journal.with(|facts| facts.events.len());
            let id = EventId::parse(&format!("evt_{number}")).unwrap();
            event.body = event.body.replace(&event.id.to_string(), &id.to_string());
            event.id = id;
            self.journal.committed_event(&event);
            match &self.outbox {
                Some(outbox) => ready(outbox.insert_event(&event)).unwrap(),
                None => self.pending.lock().unwrap().push(event),
            }
        }
    }
}

/// The board as one process calls it.
#[derive(Clone)]
pub(crate) struct ProcessBoard {
    pub(crate) shared: SharedBoard,
    pub(crate) process: ProcessId,
    pub(crate) clock: Arc<ProcessClock>,
    pub(crate) faults: Faults,
}

impl ProcessBoard {
    /// Runs a command, which completes without waiting: its change and its events are one transaction.
    async fn command<T>(
        &self,
        text: Option<&str>,
        command: impl Future<Output = BoardResult<T>>,
        created: impl FnOnce(&T, &Journal),
    ) -> BoardResult<T> {
        let transaction = async {
            self.shared.clock.set(self.clock.now());
            let result = command.await;
            self.shared.commit();
            if let Ok(value) = &result {
                if let Some(text) = text {
                    self.shared.journal.committed_write(text);
                }
                created(value, &self.shared.journal);
            }
            result
        };
        self.faults.call(transaction).await
    }

    async fn query<T>(&self, query: impl Future<Output = BoardResult<T>>) -> BoardResult<T> {
        let read = async {
            self.shared.clock.set(self.clock.now());
            query.await
        };
        self.faults.call(read).await
    }
}

#[async_trait]
impl Authorizer for ProcessBoard {
    async fn guest_access(&self, request: &RequestInfo) -> BackendResult<Access> {
        self.shared.host().authorizer().guest_access(request).await
    }

    async fn member_access(
        &self,
        member: &UserId,
        request: &RequestInfo,
    ) -> BackendResult<Option<Access>> {
        let host = self.shared.host();
        let load = async {
            let access = host.authorizer().member_access(member, request).await?;
            self.shared.journal.loaded_access(self.process, member, access.as_ref());
            Ok(access)
        };
        self.faults.call(load).await
    }

    async fn access_of_members(
        &self,
        members: &[UserId],
        request: &RequestInfo,
    ) -> BackendResult<Option<HashMap<UserId, Access>>> {
        // Half of the calls load each member alone.
        if self.faults.chance(50) {
            return Ok(None);
        }
        let mut found = HashMap::new();
        for member in members {
            let access = self.member_access(member, request).await?;
            found.extend(access.map(|access| (member.clone(), access)));
        }
        Ok(Some(found))
    }
}

#[async_trait]
impl Board for ProcessBoard {
    async fn containing_forum(
        &self,
        caller: &Caller,
        resource: ResourceRef<'_>,
    ) -> BoardResult<ForumId> {
        let host = self.shared.host();
        self.query(host.board().containing_forum(caller, resource)).await
    }

    async fn exists(&self, caller: &Caller, resource: ResourceRef<'_>) -> BoardResult<bool> {
        let host = self.shared.host();
        self.query(host.board().exists(caller, resource)).await
    }

    async fn create_thread(
        &self,
        member: &MemberCaller,
        forum_id: ForumId,
        new: NewThread,
    ) -> BoardResult<Thread> {
        let host = self.shared.host();
        let text = new.title.clone();
        let command = host.board().create_thread(member, forum_id, new);
        self.command(Some(&text), command, |thread, journal| journal.created_thread(thread)).await
    }

    async fn create_post(
        &self,
        member: &MemberCaller,
        thread_id: ThreadId,
        new: NewPost,
    ) -> BoardResult<InForum<Post>> {
        let host = self.shared.host();
        let text = new.body.clone();
        let command = host.board().create_post(member, thread_id, new);
        self.command(Some(&text), command, |post, journal| journal.created_post(&post.value)).await
    }

    async fn update_post(
        &self,
        member: &MemberCaller,
        path: PostPath,
        update: PostUpdate,
    ) -> BoardResult<InForum<Post>> {
        let host = self.shared.host();
        let text = update.body.clone();
        let command = host.board().update_post(member, path, update);
        self.command(text.as_deref(), command, |_, _| {}).await
    }

    async fn delete_post(&self, member: &MemberCaller, path: PostPath) -> BoardResult<()> {
        let host = self.shared.host();
        self.command(None, host.board().delete_post(member, path), |_, _| {}).await
    }

    async fn send_message(&self, member: &MemberCaller, new: NewMessage) -> BoardResult<Message> {
        let host = self.shared.host();
        let text = new.subject.clone();
        self.command(Some(&text), host.board().send_message(member, new), |_, _| {}).await
    }
}

#[async_trait]
impl PendingEventStore for ProcessBoard {
    async fn pending(&self, limit: u32) -> BackendResult<Vec<Event>> {
        let pending = async {
            let pending = self.shared.pending.lock().unwrap();
            Ok(pending.iter().take(limit as usize).cloned().collect())
        };
        self.faults.call(pending).await
    }

    async fn remove(&self, ids: &[EventId]) -> BackendResult<()> {
        let remove = async {
            self.shared.pending.lock().unwrap().retain(|event| !ids.contains(&event.id));
            Ok(())
        };
        self.faults.call(remove).await
    }
}
