//! Command `token`.

use std::collections::HashMap;
use std::fmt::Display;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use forum_api::audit::{AuditAction, AuditActor};
use forum_api::host::{BoardError, BoardResult};
use forum_api::model::{Timestamp, UserId, UserRef};
use forum_api::runtime::{Clock, OsRandom, SystemClock};
use forum_api::scope::{Scope, Scopes, Surface};
use forum_api::store::{
    TokenFilter, TokenSearch, TokenStateFilter, TokenStore, TokenUsage, UsageCounts,
};
use forum_api::token::{Expiry, Lookup, TokenRecord, TokenRequest, TokenState, issue_token};
use serde::Serialize;

use super::names::{member_named, username};
use crate::audit;
use crate::board::access::groups::Group;
use crate::board::accounts::passwords;
use crate::board::{ReferenceBoard, accounts};
use crate::options::{SurfaceArg, days};
use crate::output::{Column, Limit, ListItem, Output, counted, quoted, time};
use crate::prompt;
use crate::sign_in::accounts::{account, names as member_names};

/// Maximum number of tokens that one call of the store returns.
const PAGE: u32 = 100;

/// Maximum number of tokens that one transaction removes.
const PURGE_BATCH: u32 = 1000;

/// API tokens.
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Issue a token and print it once
    Issue(IssueArgs),
    /// List all tokens, newest first
    List(ListArgs),
    /// Remove tokens that expired or were revoked some time ago
    Purge {
        /// Minimum number of days since the token expired or was revoked
        #[arg(long, value_name = "DAYS", value_parser = days)]
        older_than: Duration,
    },
    /// Revoke a token
    Revoke {
        /// Lookup of the token, as printed by `token list`: the part between the second and the third underscore
        #[arg(value_parser = lookup)]
        lookup: Lookup,
    },
    /// Show request counts of the 100 tokens with the most requests
    Usage {
        #[command(flatten)]
        limit: Limit,
        /// Period in days up to now, from 1 to 30
        #[arg(long, value_name = "DAYS", default_value = "1", value_parser = clap::value_parser!(u64).range(1..=30))]
        days: u64,
    },
}

#[derive(Debug, Args)]
pub struct IssueArgs {
    /// Owner's username [default: ask at the terminal]
    #[arg(long, value_name = "NAME", required = !prompt::can_ask())]
    owner: Option<String>,
    /// Comma-separated scopes, for example forums:read,posts:write, or `all` [default: ask at the terminal]
    #[arg(long, value_name = "a,b|all", required = !prompt::can_ask())]
    scopes: Option<String>,
    /// Days until the token expires, from 1 to 36500 [default: never]
    #[arg(
        long,
        value_name = "DAYS",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    expires_in_days: String,
    /// Label: one line of at most 100 characters
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    label: String,
    /// Administrator who issues the token
    #[arg(long, value_name = "NAME", default_value = "admin")]
    admin: String,
    /// API surface that defines the scopes
    #[arg(long, value_enum, default_value = "full")]
    surface: SurfaceArg,
    /// Read the administrator's password from the first line of standard input [default: ask at the terminal]
    #[arg(long)]
    password_stdin: bool,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only tokens of this member
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
    /// Only tokens in this state
    #[arg(long, value_enum)]
    state: Option<StateArg>,
    /// Only tokens whose label or lookup contains this text, or whose owner has this name
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    search: Option<String>,
    #[command(flatten)]
    limit: Limit,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum StateArg {
    /// Neither expired nor revoked
    Valid,
    /// Valid, and expires within 7 days
    Expiring,
    /// Expired, and not revoked
    Expired,
    /// Revoked
    Revoked,
    /// Valid or expired
    NotRevoked,
}

impl From<StateArg> for TokenStateFilter {
    fn from(state: StateArg) -> Self {
        match state {
            StateArg::Valid => Self::Only(TokenState::Valid),
            StateArg::Expiring => Self::ExpiringSoon,
            StateArg::Expired => Self::Only(TokenState::Expired),
            StateArg::Revoked => Self::Only(TokenState::Revoked),
            StateArg::NotRevoked => Self::NotRevoked,
        }
    }
}

impl TokenCommand {
    pub async fn run(self, board: &ReferenceBoard) -> BoardResult<Output> {
        let stores = board.database.stores();
        let tokens = &*stores.tokens;
        match self {
            Self::Issue(args) => args.issue(tokens, board).await,
            Self::List(args) => args.list(tokens, board).await,
            Self::Usage { days, limit } => usage(board, days, limit).await,
            Self::Purge { older_than } => purge(tokens, older_than).await,
            Self::Revoke { lookup } => {
                let audit = audit::entry(AuditAction::TOKEN_REVOKED, lookup)?;
                let found = tokens.find(&lookup).await?;
                let is_active = found.is_some_and(|token| token.revoked_at.is_none());
                if tokens.revoke(&lookup, audit.occurred_at, &audit).await? {
                    let done = format!("Revoked token {lookup}.");
                    let unchanged = format!("Token {lookup} is already revoked.");
                    return Output::message_if_changed(is_active, done, unchanged);
                }
                Err(BoardError::not_found(format!("unknown token \"{lookup}\"")))
            }
        }
    }
}

impl IssueArgs {
    async fn issue(self, tokens: &dyn TokenStore, board: &ReferenceBoard) -> BoardResult<Output> {
        let surface = self.surface.into();
        let owner = prompt::given_or_asked(self.owner, "Owner's username")?;
        let wanted_scopes = prompt::given_or_asked(
            self.scopes,
            "Scopes (all, or a list such as forums:read,posts:read)",
        )?;
        let scopes = parse_scopes(&wanted_scopes, surface)?;
        let expiry = Expiry::parse(&self.expires_in_days).map_err(invalid)?;
        let prompt = format!("Password of {}", self.admin);
        let password = prompt::password(&prompt, self.password_stdin).await?;
        check_password(board, self.admin.clone(), password).await?;
        let (owner, admin) = board
            .read_snapshot(move |connection| {
                Box::pin(async move {
                    let owner = accounts::find_id(connection, &owner).await?;
                    Ok((owner, accounts::find_id(connection, &self.admin).await?))
                })
            })
            .await?;
        let issuer = AuditActor { user_id: Some(UserId::from(admin)), ..audit::actor() };
        let owner = UserId::from(owner);
        let owner_name = username(board, &owner).await?;
        let wanted = TokenRequest::new(&owner, &scopes)
            .owner_name(&owner_name)
            .label(&self.label)
            .issuer(&issuer)
            .expiry(expiry);
        let now = SystemClock.now();
        let (token, record) =
            issue_token(tokens, &OsRandom, surface, wanted, now).await.map_err(invalid)?;
        let names = HashMap::from([(owner.clone(), owner_name)]);
        let shown = TokenListing {
            token: Some(token.expose_secret().into()),
            ..TokenListing::new(&names, record, now)
        };
        Output::new(token.expose_secret(), shown)
    }
}

fn invalid(reason: impl Display) -> BoardError {
    BoardError::validation("token", reason.to_string())
}

/// Parses the names of scopes of the surface; `all` means all of them.
fn parse_scopes(text: &str, surface: Surface) -> BoardResult<Vec<Scope>> {
    if text.trim() == "all" {
        return Ok(surface.scopes().collect());
    }
    if text.split(',').any(|name| name.trim() == "all") {
        return Err(invalid("`all` contains every scope, so that no other one can be named"));
    }
    let scope = |name: &str| {
        Scopes::from(surface).parse(name.trim()).map_err(|_| {
            let known: Vec<_> = surface.scopes().map(|scope| scope.as_str()).collect();
            invalid(format!(
                "unknown scope {:?}; expected `all` or {}",
                name.trim(),
                known.join(", ")
            ))
        })
    };
    text.split(',').map(scope).collect()
}

async fn check_password(
    board: &ReferenceBoard,
    admin: String,
    password: String,
) -> BoardResult<()> {
    let found = account(board, UserRef::Name(admin.clone())).await?;
    let administrator = found.filter(|account| account.groups.contains(Group::Administrators));
    let refused = || {
        BoardError::forbidden(format!(
            "{admin:?} is not an administrator, is banned, or has no password; name another administrator with --admin"
        ))
    };
    let hash = administrator.ok_or_else(refused)?.password_hash;
    if !passwords::verify(password, hash).await? {
        return Err(BoardError::forbidden("incorrect password"));
    }
    Ok(())
}

async fn purge(tokens: &dyn TokenStore, older_than: Duration) -> BoardResult<Output> {
    let days = older_than.as_secs() / (24 * 60 * 60);
    let audit = audit::entry(AuditAction::TOKEN_PURGED, "")?
        .with_details(format_args!("older than {days} days"));
    let before = audit.occurred_at.saturating_sub(older_than);
    let mut removed = 0;
    loop {
        match tokens.purge(before, PURGE_BATCH, &audit).await? {
            0 => break,
            batch => removed += batch,
        }
    }
    let removed = counted(removed, "expired and revoked token", "expired and revoked tokens");
    Output::message(format_args!("Removed {removed}."))
}

impl ListArgs {
    async fn list(self, tokens: &dyn TokenStore, board: &ReferenceBoard) -> BoardResult<Output> {
        let now = SystemClock.now();
        let mut all = Vec::new();
        let limit = self.limit;
        let mut filter = self.filter(board).await?;
        while !limit.is_reached(all.len()) {
            let page = tokens.list(&filter, now).await?;
            let Some(last) = page.last() else {
                break;
            };
            filter.after = Some((last.created_at, last.lookup));
            let owners = page.iter().map(|record| record.owner.clone());
            let names = member_names(board, owners.collect()).await?;
            all.extend(page.into_iter().map(|record| TokenListing::new(&names, record, now)));
        }
        Output::list(all, limit)
    }

    async fn filter(self, board: &ReferenceBoard) -> BoardResult<TokenFilter> {
        let owner = match self.owner {
            Some(name) => Some(member_named(board, name).await?),
            None => None,
        };
        let search = match self.search {
            Some(text) => {
                Some(TokenSearch { owner: member_named(board, text.clone()).await.ok(), text })
            }
            None => None,
        };
        Ok(TokenFilter {
            owner,
            search,
            states: self.state.map_or(TokenStateFilter::Any, Into::into),
            limit: PAGE,
            ..TokenFilter::default()
        })
    }
}

/// Lists the tokens with the most requests in this number of days, up to now.
async fn usage(board: &ReferenceBoard, days: u64, limit: Limit) -> BoardResult<Output> {
    let stores = board.database.stores();
    let hours = Duration::from_secs((days * 24 - 1) * 60 * 60);
    let since = TokenUsage::hour_of(SystemClock.now().saturating_sub(hours));
    let mut tokens = Vec::new();
    for (lookup, counts) in stores.usage.most_used_tokens(since, PAGE).await? {
        let record = match &lookup {
            Some(lookup) => stores.tokens.find(lookup).await?,
            None => None,
        };
        tokens.push(UsedToken { lookup, record, counts });
    }
    let owners = tokens.iter().filter_map(|token| Some(token.record.as_ref()?.owner.clone()));
    let names = member_names(board, owners.collect()).await?;
    let listing = |UsedToken { lookup, record, counts }: UsedToken| {
        let (owner, label) = match record {
            Some(record) => (names.get(&record.owner).cloned(), Some(record.label)),
            None => (None, None),
        };
        UsageListing {
            lookup: lookup.map(|lookup| lookup.to_string()),
            owner,
            label,
            requests: counts.requests,
            units: counts.units,
            rate_limited: counts.rate_limited,
            unauthenticated: counts.unauthenticated,
            forbidden: counts.forbidden,
            rejected: counts.rejected,
            errors: counts.errors,
        }
    };
    Output::list(tokens.into_iter().map(listing).collect(), limit)
}

/// A token with its record, which is `None` for guests and a purged token, and its usage.
struct UsedToken {
    lookup: Option<Lookup>,
    record: Option<TokenRecord>,
    counts: UsageCounts,
}

/// Usage of a token in the output. `owner` and `label` are null if the token was purged, and `lookup`, too, for guests.
/// `owner` is also null if the account was removed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct UsageListing {
    lookup: Option<String>,
    owner: Option<String>,
    label: Option<String>,
    requests: u64,
    units: u64,
    rate_limited: u64,
    unauthenticated: u64,
    forbidden: u64,
    rejected: u64,
    errors: u64,
}

impl ListItem for UsageListing {
    const COLUMNS: &'static [Column] = &[
        Column::new("LOOKUP"),
        Column::new("REQUESTS"),
        Column::new("UNITS"),
        Column::new("OWNER").long(),
        Column::new("429").optional(),
        Column::new("401").optional(),
        Column::new("403").optional(),
        Column::new("4XX").optional(),
        Column::new("5XX").optional(),
        Column::new("LABEL").long(),
    ];

    fn cells(&self) -> Vec<String> {
        let (lookup, label) = match (&self.lookup, &self.label) {
            (None, _) => ("-", "(guests)".into()),
            (Some(lookup), None) => (lookup.as_str(), "(deleted)".into()),
            (Some(lookup), Some(label)) => (lookup.as_str(), quoted(label)),
        };
        let owner = match (&self.lookup, &self.label, &self.owner) {
            (None, ..) | (_, None, _) => "-",
            (.., Some(owner)) => owner,
            (.., None) => "(deleted)",
        };
        vec![
            lookup.to_owned(),
            self.requests.to_string(),
            self.units.to_string(),
            owner.to_owned(),
            self.rate_limited.to_string(),
            self.unauthenticated.to_string(),
            self.forbidden.to_string(),
            self.rejected.to_string(),
            self.errors.to_string(),
            label,
        ]
    }
}

fn lookup(text: &str) -> Result<Lookup, &'static str> {
    Lookup::parse(text)
        .map_err(|_| "expected a lookup of 16 letters and digits, as printed by `token list`: the part of a token between `forum_pat_` and the last `_`")
}

/// A token in the output. `token` is present only in the output of `token issue`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct TokenListing {
    lookup: String,
    owner: Option<String>,
    label: String,
    scopes: Vec<String>,
    created_at: Timestamp,
    expires_at: Option<Timestamp>,
    state: &'static str,
    #[serde(skip)]
    last_used_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

impl TokenListing {
    fn new(names: &HashMap<UserId, String>, record: TokenRecord, now: Timestamp) -> Self {
        Self {
            lookup: record.lookup.to_string(),
            owner: names.get(&record.owner).cloned(),
            state: record.state(now).as_str(),
            label: record.label,
            scopes: record.scopes.to_vec(),
            created_at: record.created_at,
            expires_at: record.expires_at,
            last_used_at: record.last_used_at,
            token: None,
        }
    }
}

impl ListItem for TokenListing {
    const COLUMNS: &'static [Column] = &[
        Column::new("LOOKUP"),
        Column::new("STATE"),
        Column::new("OWNER").long(),
        Column::new("CREATED"),
        Column::new("EXPIRES"),
        Column::new("LAST USED"),
        Column::new("LABEL").long(),
        Column::new("SCOPES").optional().long(),
    ];

    fn cells(&self) -> Vec<String> {
        let all = Surface::Full.scopes().map(|scope| scope.as_str());
        let scopes = if all.eq(self.scopes.iter().map(String::as_str)) {
            "all".into()
        } else {
            self.scopes.join(",")
        };
        vec![
            self.lookup.clone(),
            self.state.into(),
            self.owner.clone().unwrap_or_else(|| "(deleted)".into()),
            time(self.created_at),
            self.expires_at.map_or("never".into(), time),
            self.last_used_at.map_or("never".into(), time),
            quoted(&self.label),
            scopes,
        ]
    }
}
