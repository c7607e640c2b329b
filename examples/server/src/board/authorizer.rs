//! Access of members and guests, loaded on each request; the accounts of sessions, and the times at which members were last
//! seen.

use std::collections::HashMap;
use std::sync::Arc;

use forum_api::async_trait;
use forum_api::host::{
    Access, Authorizer, BackendResult, BoardResult, LoadedToken, RequestInfo, VisibleForums,
};
use forum_api::model::{ForumId, Timestamp, UserId};
use forum_api::token::Lookup;

use super::ReferenceBoard;
use super::access::actor::{Actor, ActorRow};
use super::access::board_rules::BoardRules;
use super::access::groups::Group;
use super::accounts::sessions::{self, Hash};
use super::accounts::{Login, last_seen};

#[async_trait]
impl Authorizer for ReferenceBoard {
    async fn load_token(&self, lookup: &Lookup) -> BackendResult<Option<LoadedToken>> {
        let lookup = *lookup;
        let with_position = self.database.has_replicas();
        let found = self
            .read_short(move |connection| {
                Box::pin(ActorRow::load_token(connection, lookup, with_position))
            })
            .await?;
        let Some((token, owner)) = found else {
            return Ok(None);
        };
        let owner = match owner {
            Some(row) => Some((row, self.load_rules(row.rules_version).await?)),
            None => None,
        };
        let board = self.clone();
        let owner_access = move |request: &RequestInfo| {
            let (row, rules) = owner.as_ref()?;
            Some(board.access_of(row.with_rules(rules), request))
        };
        Ok(Some(LoadedToken::new(token, owner_access)))
    }

    async fn guest_access(&self, _: &RequestInfo) -> BackendResult<Access> {
        Ok(match self.load(None).await? {
            Some(guest) => access(guest, self.clock.now()),
            None => Access::new(VisibleForums::none()),
        })
    }

    async fn member_access(
        &self,
        owner: &UserId,
        request: &RequestInfo,
    ) -> BackendResult<Option<Access>> {
        let Ok(member) = owner.to_i64() else {
            return Ok(None);
        };
        let found = self.load(Some(member)).await?;
        Ok(found.map(|member| self.access_of(member, request)))
    }

    async fn access_of_members(
        &self,
        owners: &[UserId],
        request: &RequestInfo,
    ) -> BackendResult<Option<HashMap<UserId, Access>>> {
        let members: Vec<_> = owners.iter().filter_map(|id| id.to_i64().ok()).collect();
        let rows = self
            .read_short(move |connection| Box::pin(ActorRow::load_all(connection, members)))
            .await?;
        let Some(first) = rows.first() else {
            return Ok(Some(HashMap::new()));
        };
        let rules = self.load_rules(first.rules_version).await?;
        let found = rows.into_iter().filter_map(|row| {
            let actor = row.with_rules(&rules);
            let member = UserId::from(actor.member?);
            Some((member, self.access_of(actor, request)))
        });
        Ok(Some(found.collect()))
    }
}

impl ReferenceBoard {
    /// Returns the rules of this version, or newer ones.
    async fn load_rules(&self, version: i64) -> BoardResult<Arc<BoardRules>> {
        if let Some(rules) = self.rules.get(version) {
            return Ok(rules);
        }
        let loaded = self.read_short(|connection| Box::pin(BoardRules::load(connection))).await?;
        let rules = Arc::new(loaded);
        self.rules.set(rules.clone());
        Ok(rules)
    }

    /// Returns the account of a valid session, and begins to record the use.
    pub async fn signed_in(&self, session: Hash) -> BoardResult<Option<Login>> {
        let now = self.clock.now();
        let Some((account, used_at)) = self
            .read_short(move |connection| Box::pin(sessions::find(connection, session, now)))
            .await?
        else {
            return Ok(None);
        };
        if last_seen::is_due(used_at, now, sessions::USE_RESOLUTION)
            && self.session_uses.begin(session, now)
        {
            let board = self.clone();
            tokio::spawn(async move { board.record_use(session, now).await });
        }
        Ok(Some(account))
    }

    /// Records the use of a session. Pages do not wait for this write, because other writes can take seconds.
    async fn record_use(&self, session: Hash, now: Timestamp) {
        let recorded = self
            .database
            .write_background(move |tx| Box::pin(sessions::record_use(tx, session, now)))
            .await;
        self.session_uses.end(session, now);
        if let Err(error) = recorded {
            tracing::error!(%error, "failed to record the use of a session");
        }
    }

    /// Writes the collected times to the database.
    pub async fn flush_last_seen(&self) {
        self.last_seen.flush(&self.database).await;
    }

    /// Writes the collected times every ten seconds. Never returns.
    pub async fn flush_last_seen_periodically(&self) {
        loop {
            tokio::time::sleep(last_seen::INTERVAL).await;
            self.flush_last_seen().await;
        }
    }

    /// Loads a member, or the guest for `None`.
    async fn load(&self, member: Option<i64>) -> BackendResult<Option<Actor>> {
        let with_position = self.database.has_replicas();
        let found = self
            .read_short(move |connection| {
                Box::pin(ActorRow::load(connection, member, with_position))
            })
            .await?;
        let Some(row) = found else {
            return Ok(None);
        };
        let rules = self.load_rules(row.rules_version).await?;
        Ok(Some(row.with_rules(&rules)))
    }

    /// Returns the access of a member, and records that the member was seen.
    fn access_of(&self, member: Actor, request: &RequestInfo) -> Access {
        if !request.is_background() {
            self.record_last_seen(&member);
        }
        access(member, self.clock.now())
    }

    fn record_last_seen(&self, actor: &Actor) {
        let now = self.clock.now();
        let is_due = |last| last_seen::is_due(last, now, last_seen::RESOLUTION);
        if let Some(member) = actor.member
            && actor.last_seen.is_none_or(is_due)
        {
            self.last_seen.record(member, now);
        }
    }
}

/// Returns the access for the library, with the actor for the board's own commands.
fn access(actor: Actor, now: Timestamp) -> Access {
    let forums = VisibleForums::from_ids(actor.visible_forums().map(ForumId::from));
    let offline = actor.settings.offline();
    let is_offline = offline.is_some() && !actor.groups.contains(Group::Administrators);
    let offline_for = offline
        .and_then(|until| Timestamp::parse(until).ok())
        .filter(|until| *until > now)
        .map(|until| until.saturating_duration_since(now));
    Access::new(forums)
        .board_offline(is_offline)
        .offline_for(offline_for)
        .with_extension(Arc::new(actor))
}
