//! Command `audit`.

use clap::{Args, Subcommand};
use forum_api::audit::AuditAction;
use forum_api::host::BoardResult;
use forum_api::model::Timestamp;
use forum_api::store::{AuditFilter, AuditRecord};
use serde::Serialize;

use super::names::member_named;
use crate::board::ReferenceBoard;
use crate::output::{Column, Limit, ListItem, Output, time};
use crate::sign_in::accounts::names as member_names;

/// Maximum number of entries that one call of the store returns.
const PAGE: u32 = 100;

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// List the entries of the audit log, newest first
    List(ListArgs),
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only changes by this administrator: those in the control panel, and tokens issued with --admin
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// Only changes of this kind, for example token.revoked
    #[arg(long, value_name = "ACTION", value_parser = action)]
    action: Option<AuditAction>,
    /// Only changes of this target, for example an endpoint id, a token's lookup, a username, or # and the id of
    /// an erased member
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    #[command(flatten)]
    limit: Limit,
}

impl AuditCommand {
    pub async fn run(self, board: &ReferenceBoard) -> BoardResult<Output> {
        let Self::List(args) = self;
        let actor = match args.actor {
            Some(name) => Some(member_named(board, name).await?),
            None => None,
        };
        let mut filter = AuditFilter {
            actor,
            action: args.action,
            target: args.target,
            limit: PAGE,
            ..AuditFilter::default()
        };
        let audit = board.database.stores().audit;
        let mut all = Vec::new();
        while !args.limit.is_reached(all.len()) {
            let page = audit.list(&filter).await?;
            let Some(last) = page.last() else {
                break;
            };
            filter.after = Some((last.entry.occurred_at, last.entry.id.clone()));
            let actors = page.iter().filter_map(|record| record.entry.actor.user_id.clone());
            let names = member_names(board, actors.collect()).await?;
            all.extend(page.into_iter().map(|record| {
                let name_of = |id| names.get(id).cloned();
                let name = record.entry.actor.user_id.as_ref().and_then(name_of);
                AuditListing::new(record, name)
            }));
        }
        Output::list(all, args.limit)
    }
}

fn action(name: &str) -> Result<AuditAction, &'static str> {
    AuditAction::parse(name).map_err(|_| "expected an action, for example token.revoked")
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AuditListing {
    at: Timestamp,
    action: String,
    target: String,
    count: u64,
    /// Username of the administrator.
    actor: Option<String>,
    /// User of the operating system.
    system_user: Option<String>,
    origin: &'static str,
    address: Option<String>,
    details: String,
}

impl AuditListing {
    fn new(record: AuditRecord, name: Option<String>) -> Self {
        let entry = record.entry;
        let actor = entry.actor;
        Self {
            at: entry.occurred_at,
            action: entry.action.to_string(),
            target: entry.target,
            count: record.count,
            actor: name.or_else(|| actor.user_id.map(|_| "(deleted)".into())),
            system_user: actor.system_user,
            origin: actor.origin.as_str(),
            address: actor.address.map(|address| address.to_string()),
            details: entry.details,
        }
    }
}

impl ListItem for AuditListing {
    const COLUMNS: &'static [Column] = &[
        Column::new("TIME"),
        Column::new("ACTION"),
        Column::new("TARGET").optional().whole(),
        Column::new("BY").long().optional(),
        Column::new("FROM").optional(),
        Column::new("DETAILS").long(),
    ];

    fn cells(&self) -> Vec<String> {
        let by = match (&self.actor, &self.system_user) {
            (Some(actor), Some(user)) => format!("{actor}, system user {user}"),
            (Some(actor), None) => actor.clone(),
            (None, Some(user)) => format!("system user {user}"),
            (None, None) => "-".into(),
        };
        let from = self.address.as_deref().unwrap_or(self.origin);
        let target = match self.count {
            1 => self.target.clone(),
            count => format!("{} x{count}", self.target).trim_start().to_owned(),
        };
        vec![time(self.at), self.action.clone(), target, by, from.into(), self.details.clone()]
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use forum_api::audit::{AuditAction, AuditActor};
    use forum_api::model::UserId;

    use super::*;
    use crate::audit;
    use crate::output::Table;

    #[test]
    fn a_narrow_terminal_shows_the_target() {
        let target = "whe_0123456789012345678901";
        let entry = audit::entry(AuditAction::ENDPOINT_ADDED, target)
            .unwrap()
            .with_details("url https://hooks.example/forum; topics *");
        let listed = AuditListing::new(AuditRecord { entry, count: 1 }, None);
        // A time that is not shown at a terminal has 24 characters.
        let table = Table::of(&[listed]).format(96);
        assert!(table.contains(" whe_0123456789012345678901 "), "{table}");
        assert!(table.contains(" url https://hooks.example"), "{table}");
        assert!(table.ends_with("not shown: BY, FROM\n"), "{table}");
    }

    #[test]
    fn an_entry_of_the_panel_has_the_administrator_and_the_address() {
        let address = IpAddr::from([192, 0, 2, 1]);
        for (name, address, expected) in [
            (Some("alice"), Some(address), ["alice", "192.0.2.1"]),
            (Some("alice"), None, ["alice", "panel"]),
            (None, Some(address), ["(deleted)", "192.0.2.1"]),
        ] {
            let mut entry = audit::entry(AuditAction::TOKEN_REVOKED, "x").unwrap();
            entry.actor = AuditActor::panel(UserId::from(7), address);
            let listed = AuditListing::new(AuditRecord { entry, count: 1 }, name.map(Into::into));
            assert_eq!(listed.cells()[3..5], expected);
        }
    }

    #[test]
    fn a_count_follows_the_target() {
        for (target, count, expected) in
            [("dead", 3, "dead x3"), ("", 3, "x3"), ("alice", 1, "alice")]
        {
            let entry = audit::entry(AuditAction::TOKEN_REVOKED, target).unwrap();
            let listed = AuditListing::new(AuditRecord { entry, count }, None);
            assert_eq!(listed.cells()[2], expected);
        }
    }
}
