//! `webhook add`, `list`, `remove`, `rotate`, `activate`, `ping`, `enable`, `disable`, `reseal`.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use forum_api::host::{Refusal, Result};
use forum_api::model::{EndpointId, Timestamp, UserId};
use forum_api::store::Webhooks;
use forum_api::webhook::{Endpoint, KeyId, Refused, Secret, Topics};
use forum_api::webhook_admin::{Declined, Registration, Registry, Revealed};
use serde::Serialize;

use crate::board::db::Database;
use crate::board::{Board, accounts};
use crate::confirm::Confirm;
use crate::keys::Secrets;
use crate::output::Output;
use crate::password;
use crate::webhooks::Addresses;

/// Endpoints that receive webhooks.
#[derive(Debug, Args)]
pub struct Webhook {
    #[command(flatten)]
    addresses: Addresses,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Register an endpoint, and print its id and its secret, once
    Add(Wanted),
    /// List all endpoints
    List,
    /// Remove an endpoint with its deliveries
    Remove {
        /// The endpoint's id
        #[arg(value_parser = endpoint)]
        id: EndpointId,
        #[command(flatten)]
        confirm: Confirm,
    },
    /// Make a new secret and print it, once; it signs from its activation on, or in 24 hours
    Rotate {
        /// The endpoint's id
        #[arg(value_parser = endpoint)]
        id: EndpointId,
    },
    /// Sign with the new secret from now on
    Activate {
        /// The endpoint's id
        #[arg(value_parser = endpoint)]
        id: EndpointId,
    },
    /// Send a ping, and print its delivery's id
    Ping {
        /// The endpoint's id
        #[arg(value_parser = endpoint)]
        id: EndpointId,
    },
    /// Send to an endpoint again, what waited for it too
    Enable {
        /// The endpoint's id
        #[arg(value_parser = endpoint)]
        id: EndpointId,
    },
    /// Queue nothing new for an endpoint; what is queued waits
    Disable {
        /// The endpoint's id
        #[arg(value_parser = endpoint)]
        id: EndpointId,
    },
    /// Encrypt all secrets with another key; servers and workers are then started with that key
    Reseal {
        /// The file of the key that encrypts the secrets now; absent when they are stored in plain text
        #[arg(long, value_name = "FILE")]
        old_key: Option<PathBuf>,
        /// The file of the new key, of 16 bytes or more
        #[arg(long, value_name = "FILE")]
        new_key: PathBuf,
    },
}

/// An endpoint to be.
#[derive(Debug, Args)]
struct Wanted {
    /// Where deliveries are sent
    #[arg(long)]
    url: String,
    /// The topics that it receives; * means all except message.sent
    #[arg(long, value_name = "a,b|*", default_value = "*")]
    topics: String,
    /// The member for whom it acts
    #[arg(long, value_name = "NAME", default_value = "admin")]
    owner: String,
    /// Read the secret from the first line of standard input, instead of making one
    #[arg(long)]
    secret_stdin: bool,
}

impl Webhook {
    /// Carries it out. `before` is what stood before the command.
    pub async fn run(
        self,
        url: &str,
        database: &Database,
        board: &Board,
        before: &Addresses,
    ) -> Result<Output> {
        let addresses = self.addresses.or(before);
        if let Action::Reseal { old_key, new_key } = self.action {
            return reseal(&addresses, database, old_key.as_deref(), &new_key).await;
        }
        let secrets = Secrets::find(url, addresses.secret_key_file.as_deref())?;
        let registry = addresses.registry(database, &secrets.environment());
        if !(self.action.needs_no_secret() && secrets.are_plaintext()) {
            registry.check_key().await.map_err(refusal)?;
        }
        match self.action {
            Action::Reseal { .. } => Output::done(),
            Action::Add(wanted) => wanted.add(&registry, board).await,
            Action::List => list(&database.webhooks(), board).await,
            Action::Remove { id, confirm } => {
                let found = database.webhooks().endpoints.find(&id).await?;
                let found = found.ok_or_else(|| refusal(Declined::NoSuchEndpoint))?;
                confirm.ask(&format!(
                    "Removes {} ({}) with its deliveries.",
                    id, found.url
                ))?;
                done(registry.remove(&id).await)
            }
            Action::Rotate { id } => {
                let rotated = registry.rotate(&id).await;
                reveal(rotated.map_err(refusal)?, board).await
            }
            Action::Activate { id } => done(registry.activate(&id).await),
            Action::Ping { id } => {
                let sent = registry.ping(&id).await;
                Output::done_with(sent.map_err(refusal)?)
            }
            Action::Enable { id } => done(registry.enable(&id, true).await),
            Action::Disable { id } => done(registry.enable(&id, false).await),
        }
    }
}

impl Action {
    /// Returns whether the action also works without the key, so that endpoints can be listed and removed when it is lost.
    const fn needs_no_secret(&self) -> bool {
        matches!(self, Self::List | Self::Remove { .. })
    }
}

async fn reseal(
    addresses: &Addresses,
    database: &Database,
    old_key: Option<&Path>,
    new_key: &Path,
) -> Result<Output> {
    if addresses.secret_key_file.is_some() {
        let reason = "reseal takes --old-key and --new-key instead of --secret-key-file";
        return Err(Refusal::invalid("key", reason));
    }
    let (old, new) = (Secrets::named(old_key)?, Secrets::read(new_key)?);
    let registry = addresses.registry(database, &old.environment());
    let count = registry.reencrypt(&*new.0).await.map_err(refusal)?;
    let (id, noun) = (
        new.0.key_id(),
        if count == 1 { "endpoint" } else { "endpoints" },
    );
    Output::done_with(format_args!(
        "The secrets of {count} {noun} are encrypted with the key {id}: start servers and workers with it."
    ))
}

impl Wanted {
    async fn add(self, registry: &Registry, board: &Board) -> Result<Output> {
        let topics = self.topics.parse::<Topics>();
        let owner = board.read(move |connection| {
            Box::pin(async move { accounts::named(connection, &self.owner).await })
        });
        let new = Registration {
            url: self.url,
            topics: topics.map_err(|unknown| refusal(unknown.into()))?,
            owner: UserId::from(owner.await?),
            secret: self.secret_stdin.then(brought).transpose()?,
        };
        let added = registry.register(new).await;
        reveal(added.map_err(refusal)?, board).await
    }
}

fn brought() -> Result<Secret> {
    let text = password::from_stdin()?;
    Secret::new(&text).map_err(|error| Refusal::invalid("secret", error.to_string()))
}

async fn list(webhooks: &Webhooks, board: &Board) -> Result<Output> {
    let mut all = Vec::new();
    for endpoint in webhooks.endpoints.all().await? {
        all.push(Shown::new(board, endpoint).await?);
    }
    Output::list(all)
}

async fn reveal(Revealed { endpoint, secret }: Revealed, board: &Board) -> Result<Output> {
    let text = format!("{} {}", endpoint.id, secret.reveal());
    let shown = Shown {
        secret: Some(secret.reveal().into()),
        ..Shown::new(board, endpoint).await?
    };
    Output::new(text, shown)
}

fn done<T>(outcome: Result<T, Declined>) -> Result<Output> {
    outcome.map_err(refusal)?;
    Output::done()
}

/// Parses an endpoint's id.
pub fn endpoint(id: &str) -> Result<EndpointId, &'static str> {
    EndpointId::new(id).ok_or("not an endpoint's id")
}

/// Why it was refused, for the operator.
pub fn refusal(declined: Declined) -> Refusal {
    match declined {
        Declined::Failed(source) => Refusal::Failed(source),
        Declined::Address(private @ Refused::Private(..)) => Refusal::invalid(
            "url",
            format!("{private}: --allow-private-webhooks turns it on"),
        ),
        Declined::Key(mismatch) => {
            let remedy = if mismatch.stored == KeyId::plaintext() {
                "`webhook reseal --new-key FILE` encrypts them"
            } else {
                "--secret-key-file names the file of their key"
            };
            Refusal::invalid("key", format!("{mismatch}: {remedy}"))
        }
        other => Refusal::invalid("endpoint", other.to_string()),
    }
}

/// An endpoint as it is listed, and with its secret as it was registered.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    id: EndpointId,
    url: String,
    topics: Vec<String>,
    owner: Option<String>,
    enabled: bool,
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

impl Shown {
    async fn new(board: &Board, endpoint: Endpoint) -> Result<Self> {
        let owner = endpoint.owner.number()?;
        let owner = board.read(move |connection| Box::pin(accounts::name(connection, owner)));
        Ok(Self {
            owner: owner.await?,
            topics: endpoint
                .topics
                .to_string()
                .split(',')
                .map(Into::into)
                .collect(),
            id: endpoint.id,
            url: endpoint.url,
            enabled: endpoint.enabled,
            created_at: endpoint.created_at,
            secret: None,
        })
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, url, topics) = (&self.id, &self.url, self.topics.join(","));
        let owner = self.owner.as_deref().unwrap_or("(gone)");
        let state = if self.enabled { "enabled" } else { "disabled" };
        write!(f, "{id}  {state:8}  {owner:16}  {topics}  {url}")
    }
}
