//! A fake authorizer.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forum_api::async_trait;
use forum_api::host::{
    Access, Authorizer, BackendError, BackendResult, RequestInfo, VisibleForums,
};
use forum_api::model::{ForumId, UserId};
use forum_api::runtime::Runtime;

/// Result of the authorizer for a member.
#[derive(Clone, Debug)]
pub(crate) enum OwnerAccess {
    Sees(Vec<i64>),
    Offline,
    CannotAct,
    Fails,
    Panics,
    SeesAllAfter(Duration),
    Hangs,
}

/// Members see all forums unless a test sets another result.
#[derive(Debug)]
pub(crate) struct FakeAuthorizer {
    runtime: Arc<dyn Runtime>,
    access: Mutex<HashMap<UserId, OwnerAccess>>,
    pub(crate) calls: AtomicU32,
    pub(crate) batch: Mutex<Batch>,
    pub(crate) batch_calls: AtomicU32,
}

/// Result of the authorizer for several members.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Batch {
    #[default]
    Unsupported,
    Loads,
    Fails,
}

impl FakeAuthorizer {
    pub(crate) fn new(runtime: impl Runtime) -> Self {
        Self {
            runtime: Arc::new(runtime),
            access: Mutex::default(),
            calls: AtomicU32::default(),
            batch: Mutex::default(),
            batch_calls: AtomicU32::default(),
        }
    }

    pub(crate) fn set(&self, member: i64, access: OwnerAccess) {
        self.access.lock().unwrap().insert(member.into(), access);
    }
}

#[async_trait]
impl Authorizer for FakeAuthorizer {
    async fn guest_access(&self, _: &RequestInfo) -> BackendResult<Access> {
        Ok(Access::new(VisibleForums::none()))
    }

    async fn member_access(
        &self,
        owner: &UserId,
        _: &RequestInfo,
    ) -> BackendResult<Option<Access>> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let access = self.access.lock().unwrap().get(owner).cloned();
        match access {
            None => Ok(Some(Access::new(VisibleForums::all()))),
            Some(OwnerAccess::Sees(forums)) => {
                let forums = forums.into_iter().map(ForumId::from);
                Ok(Some(Access::new(VisibleForums::from_ids(forums))))
            }
            Some(OwnerAccess::Offline) => {
                Ok(Some(Access::new(VisibleForums::all()).board_offline(true)))
            }
            Some(OwnerAccess::CannotAct) => Ok(None),
            Some(OwnerAccess::Fails) => Err(BackendError::new("the board is unreachable")),
            Some(OwnerAccess::Panics) => panic!("the authorizer panics"),
            Some(OwnerAccess::SeesAllAfter(wait)) => {
                self.runtime.sleep(wait).await;
                Ok(Some(Access::new(VisibleForums::all())))
            }
            Some(OwnerAccess::Hangs) => std::future::pending().await,
        }
    }
    async fn access_of_members(
        &self,
        owners: &[UserId],
        request: &RequestInfo,
    ) -> BackendResult<Option<HashMap<UserId, Access>>> {
        self.batch_calls.fetch_add(1, Ordering::SeqCst);
        let batch = *self.batch.lock().unwrap();
        match batch {
            Batch::Unsupported => return Ok(None),
            Batch::Fails => return Err(BackendError::new("the board is unreachable")),
            Batch::Loads => {}
        }
        let mut found = HashMap::new();
        for owner in owners {
            let access = self.member_access(owner, request).await?;
            found.extend(access.map(|access| (owner.clone(), access)));
        }
        self.calls.store(0, Ordering::SeqCst);
        Ok(Some(found))
    }
}
