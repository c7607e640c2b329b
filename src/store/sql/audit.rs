//! Audit store.

use async_trait::async_trait;

use super::rows::read_audit_record;
use super::{SqlExecutor, SqlStore, Statement, query_readable};
use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::store::{AuditFilter, AuditRecord, AuditStore};

const LIST: &str = "
    SELECT id, occurred_at, actor, os_user, origin, address, action, target, details, count
    FROM forum_api_audit_log WHERE TRUE";

#[async_trait]
impl<E: SqlExecutor> AuditStore for SqlStore<E> {
    async fn insert(&self, entry: &AuditEntry) -> BackendResult<()> {
        let values = entry.insert_parameters(1).into_iter().map(Into::into);
        let insert = Statement::new(AuditEntry::INSERT_SQL, values);
        self.0.change(insert).await.map(drop)
    }

    async fn list(&self, filter: &AuditFilter) -> BackendResult<Vec<AuditRecord>> {
        let mut list = Statement::new(LIST, [filter.limit.into()]);
        list.and("id =", filter.id.as_ref());
        list.and("actor =", filter.actor.as_ref());
        list.and("action =", filter.action.as_ref());
        list.and("target =", filter.target.as_deref());
        if let Some((occurred_at, id)) = &filter.after {
            let occurred_at = list.bind(*occurred_at);
            let id = list.bind(id);
            list.push(&format!(" AND (occurred_at, id) < ({occurred_at}, {id})"));
        }
        list.push(" ORDER BY occurred_at DESC, id DESC LIMIT ?1");
        query_readable(&self.0, "audit_log", list, read_audit_record).await
    }
}
