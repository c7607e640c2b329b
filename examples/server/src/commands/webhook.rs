//! Command `webhook`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use forum_api::host::{BoardError, BoardResult};
use forum_api::model::{DeliveryId, EndpointId, Timestamp, UserId};
use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::{LastDelivery, WebhookStores};
use forum_api::webhook::{
    AllowedAddresses, DeliveryState, Endpoint, KeyId, TopicSet, UnknownTopicError, WebhookSecret,
};
use forum_api::webhook_admin::{
    AwaitedAttempt, EndpointUpdate, EndpointWithSecret, NewEndpoint, WebhookAdmin,
    WebhookAdminError,
};
use serde::Serialize;

use super::names::{member_named, username};
use crate::audit;
use crate::board::ReferenceBoard;
use crate::board::db::BoardDatabase;
use crate::keys::WebhookCipher;
use crate::options::{WebhookOptions, base_url, delay};
use crate::output::{Column, Limit, ListItem, Output, counted, labelled, time};
use crate::prompt::{self, Confirm};
use crate::sign_in::accounts::names as member_names;
use crate::webhooks::{self, key_refusal, refusal, refusal_for, topic_names, unknown_endpoint};

/// URL of a server with default options.
const DEFAULT_BASE_URL: &str = "http://127.0.0.1:8080";

/// Minimum number of random characters of an id. Those of this version have 22.
const MIN_ID_LEN: usize = 16;

/// Longest time for which a command waits for the result of an attempt that has begun: the lease of a worker with the default
/// settings.
const SENDING_LIMIT: Duration = Duration::from_secs(60);

/// Endpoints that receive webhooks.
#[derive(Debug, Args)]
pub struct WebhookCommand {
    #[command(flatten)]
    options: WebhookOptions,
    /// Public URL of the server, which sends the webhooks [default: the URL of the server that was started last]
    #[arg(long, value_name = "URL", value_parser = base_url)]
    base_url: Option<String>,
    #[command(subcommand)]
    action: WebhookAction,
}

#[derive(Debug, Subcommand)]
enum WebhookAction {
    #[command(flatten)]
    Endpoint(EndpointAction),
    /// Encrypt all secrets with a new key; then restart servers and workers with that key
    #[command(alias = "reseal")]
    Reencrypt {
        /// File of the current key; required if the secrets are encrypted and --secret-key-file is not given
        /// [default: the file given as --secret-key-file]
        #[arg(long, value_name = "FILE")]
        old_key_file: Option<PathBuf>,
        /// File of the new key (at least 16 bytes)
        #[arg(long, value_name = "FILE")]
        new_key_file: PathBuf,
        // Hides the option of the other actions, because `--old-key-file` replaces it on the command line.
        #[arg(long, hide = true)]
        secret_key_file: Option<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
enum EndpointAction {
    /// Add an endpoint and print its id and secret once
    Add(AddArgs),
    /// Change the URL, the topics or the owner of an endpoint
    Update {
        #[command(flatten)]
        id: Id,
        #[command(flatten)]
        changes: Changes,
    },
    /// List all endpoints, with the answer to the last attempt and the time at which a pending secret becomes active
    List(ListArgs),
    /// Remove an endpoint and its deliveries
    Remove {
        #[command(flatten)]
        id: Id,
        #[command(flatten)]
        confirm: Confirm,
    },
    /// Rotate the secret and print the new one, once; it becomes active on `activate` or after 24 hours
    Rotate(Id),
    /// Activate the new secret, which replaces the old one
    Activate(Id),
    /// Send a ping, and print the result of the attempt
    Ping {
        #[command(flatten)]
        id: Id,
        #[command(flatten)]
        wait: Wait,
    },
    /// Send an example of a topic, and print the result of the attempt
    Example {
        #[command(flatten)]
        id: Id,
        /// Topic of the example
        #[arg(long)]
        topic: String,
        #[command(flatten)]
        wait: Wait,
    },
    /// Enable an endpoint; queued deliveries are sent
    Enable(Id),
    /// Disable an endpoint; queued deliveries are kept
    Disable(Id),
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Only endpoints in this state
    #[arg(long, value_enum)]
    state: Option<StateArg>,
    /// Only endpoints whose URL, owner or topics contain this text
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    search: Option<String>,
    #[command(flatten)]
    limit: Limit,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum StateArg {
    /// The last attempt failed
    Failing,
}

impl ListArgs {
    fn matches(&self, endpoint: &EndpointListing) -> bool {
        let topics = endpoint.topics.join(",");
        let owner = endpoint.owner.as_deref().unwrap_or_default();
        let search = self.search.as_deref().unwrap_or_default().to_ascii_lowercase();
        let mut texts = [&endpoint.url, owner, &topics].into_iter();
        (self.state.is_none() || endpoint.failing_since.is_some())
            && texts.any(|text| text.to_ascii_lowercase().contains(&search))
    }
}

#[derive(Debug, Args)]
struct Id {
    /// Endpoint id
    #[arg(value_parser = endpoint)]
    id: EndpointId,
}

#[derive(Debug, Args)]
struct Wait {
    /// Time for which to wait until a worker begins to send; the command then waits up to 60 s for the result. 0 queues the
    /// delivery and does not wait
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = delay)]
    wait: Duration,
}

impl Wait {
    /// Waits for the result of a delivery, and returns it as a sentence. A delivery that failed is an error.
    async fn for_result(
        self,
        webhook_admin: &WebhookAdmin,
        what: &str,
        id: &DeliveryId,
    ) -> BoardResult<Output> {
        let waits = || Output::message(format_args!("{what} {id} waits to be sent by a worker."));
        if self.wait.is_zero() {
            return waits();
        }
        let awaited = webhook_admin.wait_for_attempt(id, None, self.wait, SENDING_LIMIT);
        let refused = |reason: &str| {
            let what = what.to_lowercase();
            Err(BoardError::conflict(format!("{what} {id} was {reason}")))
        };
        match awaited.await.map_err(refusal)? {
            AwaitedAttempt::Ended(result) if result.state == DeliveryState::Delivered => {
                Output::message(format_args!("{what} {id} was {result}."))
            }
            AwaitedAttempt::Ended(result) => refused(&result.to_string()),
            AwaitedAttempt::Removed => refused("removed before its result was known"),
            AwaitedAttempt::Sending => {
                Output::message(format_args!("{what} {id} is being sent; there is no result yet."))
            }
            _ => waits(),
        }
    }
}

#[derive(Debug, Args)]
struct AddArgs {
    #[command(flatten)]
    url: Url,
    /// Comma-separated topics; * is all except message.sent
    #[arg(long, value_name = "a,b|*", default_value = "*")]
    topics: String,
    /// Owner's username; the endpoint receives only events that its owner may see
    #[arg(long, value_name = "NAME", default_value = "admin")]
    owner: String,
    /// Read the secret (at least 16 characters) from the first line of standard input instead of generating one
    #[arg(long)]
    secret_stdin: bool,
}

/// The URL of a new endpoint, as an argument or as an option.
#[derive(Debug, Args)]
#[group(required = !prompt::can_ask(), multiple = false)]
struct Url {
    /// URL to which deliveries are sent [default: ask at the terminal]
    #[arg(value_name = "URL")]
    argument: Option<String>,
    /// The same as an option
    #[arg(long = "url", value_name = "URL")]
    option: Option<String>,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct Changes {
    /// URL to which deliveries are sent
    #[arg(long)]
    url: Option<String>,
    /// Comma-separated topics; * is all except message.sent
    #[arg(long, value_name = "a,b|*")]
    topics: Option<String>,
    /// Owner's username; the endpoint receives only events that its owner may see
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
}

impl WebhookCommand {
    pub async fn run(self, url: &str, board: &ReferenceBoard) -> BoardResult<Output> {
        let options = &self.options;
        let action = match self.action {
            WebhookAction::Endpoint(action) => action,
            WebhookAction::Reencrypt { old_key_file, new_key_file, .. } => {
                let old_key_file = old_key_file.as_deref();
                return reencrypt(options, &board.database, old_key_file, &new_key_file).await;
            }
        };
        let cipher = match options.secret_key_file.as_deref() {
            Some(path) if action.needs_no_secret() && !path.exists() => {
                WebhookCipher::read_or_plaintext(None)?
            }
            key_file => WebhookCipher::find(url, key_file)?,
        };
        let base_url = match self.base_url {
            Some(base_url) => base_url,
            None => board.base_url().await?.unwrap_or_else(|| DEFAULT_BASE_URL.into()),
        };
        let allowed = options.allowed_addresses(&base_url);
        let admin = webhooks::admin(&board.database, &cipher.environment(), allowed);
        if !(action.needs_no_secret() && cipher.is_plaintext()) {
            admin.check_key().await.map_err(refusal)?;
        }
        action.run(&admin, board).await
    }
}

impl EndpointAction {
    async fn run(self, admin: &WebhookAdmin, board: &ReferenceBoard) -> BoardResult<Output> {
        let by = &audit::actor();
        let database = &board.database;
        let (id, changed) = match self {
            Self::Add(args) => return args.add(admin, board).await,
            Self::List(args) => {
                let mut found = listings(&database.webhooks(), board).await?;
                found.retain(|endpoint| args.matches(endpoint));
                return Output::list(found, args.limit);
            }
            Self::Update { id, changes } => {
                let changed = admin.update(&id.id, changes.parse(board).await?, by).await;
                (id.id, changed.map(|_| "Changed endpoint"))
            }
            Self::Remove { id, confirm } => {
                let id = id.id;
                let url = match database.webhooks().find_endpoint(&id).await {
                    Ok(found) => found.ok_or_else(|| unknown_endpoint(&id))?.url,
                    // A malformed endpoint can be removed, too.
                    Err(error) => error.to_string(),
                };
                confirm.ask(&format!("This removes endpoint {id} ({url}) and its deliveries."))?;
                let removed = admin.remove(&id, by).await;
                (id, removed.map(|()| "Removed endpoint"))
            }
            Self::Rotate(Id { id }) => {
                let former = database.webhooks().find_endpoint(&id).await?;
                let replaced = former.and_then(|endpoint| pending_until(&endpoint));
                let rotated =
                    admin.rotate(&id, by).await.map_err(|error| refusal_for(&id, error))?;
                let replaces = match replaced {
                    Some(_) => {
                        "It replaces the pending secret of an earlier rotation, which never becomes active. "
                    }
                    None => "",
                };
                let next = format!(
                    "{replaces}Configure the receiver to accept both secrets, then run `webhook activate {id}`. Without it, the new secret becomes active after 24 hours."
                );
                return reveal(rotated, board, &next).await;
            }
            Self::Activate(Id { id }) => {
                let activated = admin.activate(&id, by).await;
                (id, activated.map(|_| "Activated the new secret of endpoint"))
            }
            Self::Ping { id, wait } => {
                let sent = admin.ping(&id.id).await.map_err(|error| refusal_for(&id.id, error))?;
                return wait.for_result(admin, "Ping", &sent).await;
            }
            Self::Example { id, topic, wait } => {
                let sent = admin.example(&id.id, &topic).await.map_err(|error| match error {
                    WebhookAdminError::UnknownTopic(unknown) => {
                        let known = topic_names();
                        BoardError::validation("topic", format!("{unknown}; expected {known}"))
                    }
                    other => refusal_for(&id.id, other),
                })?;
                return wait.for_result(admin, "Example", &sent).await;
            }
            Self::Enable(Id { id }) => return set_enabled(admin, database, &id, true).await,
            Self::Disable(Id { id }) => return set_enabled(admin, database, &id, false).await,
        };
        let change = changed.map_err(|error| refusal_for(&id, error))?;
        Output::message(format_args!("{change} {id}."))
    }

    /// Returns whether the action also works without the key, so that endpoints can be listed and removed when the key
    /// is lost.
    const fn needs_no_secret(&self) -> bool {
        matches!(self, Self::List(_) | Self::Remove { .. })
    }
}

async fn set_enabled(
    admin: &WebhookAdmin,
    database: &BoardDatabase,
    id: &EndpointId,
    enabled: bool,
) -> BoardResult<Output> {
    let found = database.webhooks().find_endpoint(id).await?.ok_or_else(|| unknown_endpoint(id))?;
    admin
        .set_enabled(id, enabled, &audit::actor())
        .await
        .map_err(|error| refusal_for(id, error))?;
    let missed =
        "Events that occur while it is disabled are not sent to it, even after you enable it.";
    let (done, unchanged) = if enabled {
        (format!("Enabled endpoint {id}."), format!("Endpoint {id} is already enabled."))
    } else {
        (format!("Disabled endpoint {id}. {missed}"), format!("Endpoint {id} is already disabled."))
    };
    Output::message_if_changed(found.enabled != enabled, done, unchanged)
}

async fn reencrypt(
    options: &WebhookOptions,
    database: &BoardDatabase,
    old_key: Option<&Path>,
    new_key: &Path,
) -> BoardResult<Output> {
    let stored = database.webhooks().key_id().await?;
    let is_encrypted = stored.as_ref().is_some_and(|key| *key != KeyId::plaintext());
    let current = options.secret_key_file.as_deref().filter(|path| is_encrypted && path.exists());
    let old = WebhookCipher::read_or_plaintext(old_key.or(current))?;
    let new = WebhookCipher::read(new_key)?;
    let webhook_admin = webhooks::admin(database, &old.environment(), AllowedAddresses::Public);
    let count =
        webhook_admin.reencrypt(&*new.0, &audit::actor()).await.map_err(|error| match error {
            WebhookAdminError::Key(mismatch) => key_refusal(&mismatch, "--old-key-file"),
            other => refusal(other),
        })?;
    let id = new.0.key_id();
    let unchanged = format!("The secrets are already encrypted with the key {id}.");
    let endpoints = counted(count, "endpoint", "endpoints");
    let done = format!(
        "Encrypted the secrets of {endpoints} with the key {id}. Restart servers and workers with the new key file: pass \
         it as --secret-key-file, or, with SQLite, replace the file whose name is the path of the database followed by \
         .key."
    );
    Output::message_if_changed(stored != Some(id), done, unchanged)
}

fn parse_topics(text: &str) -> BoardResult<TopicSet> {
    text.parse().map_err(|unknown: UnknownTopicError| refusal(unknown.into()))
}

impl Changes {
    async fn parse(self, board: &ReferenceBoard) -> BoardResult<EndpointUpdate> {
        let (owner, owner_name) = match self.owner {
            Some(name) => {
                let owner = member_named(board, name).await?;
                let name = username(board, &owner).await?;
                (Some(owner), Some(name))
            }
            None => (None, None),
        };
        Ok(EndpointUpdate {
            url: self.url,
            topics: self.topics.as_deref().map(parse_topics).transpose()?,
            owner,
            owner_name,
        })
    }
}

impl AddArgs {
    async fn add(self, admin: &WebhookAdmin, board: &ReferenceBoard) -> BoardResult<Output> {
        let url = prompt::given_or_asked(self.url.argument.or(self.url.option), "URL")?;
        let owner = member_named(board, self.owner).await?;
        let new = NewEndpoint {
            url,
            topics: parse_topics(&self.topics)?,
            owner_name: Some(username(board, &owner).await?),
            owner,
            secret: self.secret_stdin.then(read_secret).transpose()?,
        };
        let added = admin.add(new, &audit::actor()).await.map_err(refusal)?;
        reveal(added, board, "").await
    }
}

fn read_secret() -> BoardResult<WebhookSecret> {
    let text = prompt::first_line_of_stdin("a secret")?;
    WebhookSecret::parse(&text).map_err(|error| BoardError::validation("secret", error.to_string()))
}

/// Returns all endpoints in the order in which they were added.
pub(super) async fn listings(
    webhooks: &WebhookStores,
    board: &ReferenceBoard,
) -> BoardResult<Vec<EndpointListing>> {
    let endpoints = webhooks.list_endpoints().await?;
    let owners = endpoints.iter().map(|endpoint| endpoint.owner.clone());
    let names = member_names(board, owners.collect()).await?;
    let stats = webhooks.endpoint_stats(Duration::ZERO, SystemClock.now()).await?;
    let mut last: HashMap<_, _> =
        stats.into_iter().map(|stats| (stats.endpoint_id, stats.last)).collect();
    let listing = |endpoint: Endpoint| EndpointListing {
        last: last.remove(&endpoint.id).flatten(),
        ..EndpointListing::new(&names, endpoint)
    };
    let mut listings: Vec<_> = endpoints.into_iter().map(listing).collect();
    listings.sort_by_key(|endpoint| endpoint.failing_since.is_none());
    Ok(listings)
}

/// Returns the output with the secret. `next` names the next step of the operator.
async fn reveal(
    EndpointWithSecret { endpoint, secret, .. }: EndpointWithSecret,
    board: &ReferenceBoard,
    next: &str,
) -> BoardResult<Output> {
    let pairs = labelled(&[
        ("endpoint", endpoint.id.to_string()),
        ("secret", secret.expose_secret().into()),
    ]);
    let text = format!("{pairs}\nThe secret is not shown again. {next}");
    let names = member_names(board, vec![endpoint.owner.clone()]).await?;
    let shown = EndpointListing {
        secret: Some(secret.expose_secret().into()),
        ..EndpointListing::new(&names, endpoint)
    };
    Output::new(text, shown)
}

/// Returns the time at which the pending secret of an endpoint becomes active; `None` if no secret is pending.
fn pending_until(endpoint: &Endpoint) -> Option<Timestamp> {
    endpoint.pending_at(SystemClock.now()).map(|pending| pending.activates_at)
}

/// Parses an endpoint's id.
pub fn endpoint(id: &str) -> Result<EndpointId, &'static str> {
    generated_id(id, "whe_")
        .and_then(|id| EndpointId::parse(id).ok())
        .ok_or("expected an endpoint id, as printed by `webhook list`")
}

/// Returns an id of the library, unless it is malformed.
pub fn generated_id<'a>(id: &'a str, prefix: &str) -> Option<&'a str> {
    let random = id.strip_prefix(prefix)?;
    let is_random =
        random.len() >= MIN_ID_LEN && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_random.then_some(id)
}

/// An endpoint in the output. `secret` is present only in the output of `webhook add` and `webhook rotate`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EndpointListing {
    pub id: EndpointId,
    pub url: String,
    topics: Vec<String>,
    owner: Option<String>,
    enabled: bool,
    #[serde(skip)]
    auto_disabled: bool,
    #[serde(skip)]
    pub failing_since: Option<Timestamp>,
    #[serde(skip)]
    pub last: Option<LastDelivery>,
    created_at: Timestamp,
    /// Time at which the pending secret becomes active.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret_pending_until: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

impl EndpointListing {
    /// `names` contains the names of members by their id.
    fn new(names: &HashMap<UserId, String>, endpoint: Endpoint) -> Self {
        let topics = endpoint.topics.to_string();
        Self {
            secret_pending_until: pending_until(&endpoint),
            owner: names.get(&endpoint.owner).cloned(),
            topics: topics.split(',').map(Into::into).collect(),
            id: endpoint.id,
            url: endpoint.url,
            enabled: endpoint.enabled,
            auto_disabled: endpoint.auto_disabled,
            failing_since: endpoint.failing_since,
            last: None,
            created_at: endpoint.created_at,
            secret: None,
        }
    }
}

impl ListItem for EndpointListing {
    const COLUMNS: &'static [Column] = &[
        Column::new("ID"),
        Column::new("STATE"),
        Column::new("FAILING").optional(),
        Column::new("ANSWER").optional(),
        Column::new("NEW SECRET").optional(),
        Column::new("OWNER").optional().long(),
        Column::new("TOPICS").optional().long(),
        Column::new("URL").long(),
    ];

    fn cells(&self) -> Vec<String> {
        let status =
            |last: &LastDelivery| last.status.map_or("none".into(), |status| status.to_string());
        let pending = self.secret_pending_until.map_or("-".into(), time);
        let state = match (self.enabled, self.auto_disabled) {
            (true, _) => "enabled",
            (false, true) => "disabled after failures",
            (false, false) => "disabled",
        };
        vec![
            self.id.to_string(),
            state.into(),
            self.failing_since.map_or("-".into(), time),
            self.last.as_ref().map_or("-".into(), status),
            pending,
            self.owner.clone().unwrap_or_else(|| "(deleted)".into()),
            self.topics.join(","),
            self.url.clone(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Table;

    #[test]
    fn a_list_at_a_narrow_terminal_has_ids_states_and_hosts() {
        let mut table = Table::new(EndpointListing::COLUMNS);
        let id = "whe_0123456789012345678901";
        let state = "disabled after failures";
        let url = "https://hooks.example/path/to/the/receiver";
        let topics = "post.created,post.updated";
        table.row([id, state, "365d ago", "503", "in 23h", "alice", topics, url].map(Into::into));
        let text = anstream::adapter::strip_str(&table.format(80)).to_string();
        let lines: Vec<_> = text.lines().collect();
        for expected in [id, state, "https://hooks.example/"] {
            assert!(lines[1].contains(expected), "{text}");
        }
        assert_eq!(lines[2], "not shown: FAILING, ANSWER, NEW SECRET, OWNER, TOPICS");
        let wide = table.format(usize::MAX);
        assert!(wide.contains(topics) && wide.contains(url), "{wide}");
    }
}
