//! Serves the board with the API. See the library `existing_board`.

use std::net::SocketAddr;
use std::time::Duration;

use existing_board::added;
use existing_board::before::{Club, connect, members, pages};
use forum_api::host::BoxError;
use forum_api::store::Stores;
use forum_api::token::{Expiry, TokenRequest};

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let mut arguments = std::env::args().skip(1);
    let database =
        arguments.next().ok_or("usage: existing_board DATABASE_URL [ADDRESS] [RECEIVER_URL]")?;
    let address = arguments.next().unwrap_or("127.0.0.1:8080".into());
    let receiver = arguments.next();
    let club = Club::open(connect(&database)?, Duration::from_secs(15)).await?;
    let (alice, link) = members::sample(&club).await?;

    let api = added::api(&club)?; // Added.
    let app = pages::routes(club.clone()).nest_service("/api/v1", api.clone()); // Added.
    tokio::spawn(async move { api.flush_usage_periodically().await }); // Added.
    added::webhooks::start(&club)?; // Added.

    let listener = tokio::net::TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    println!("Sign in as alice: http://{address}/in/{link}");
    let token = issue(&club, alice).await?;
    println!("curl -H 'authorization: Bearer {token}' http://{address}/api/v1/forums");
    if let Some(url) = receiver {
        let secret = added::webhooks::register(&club, alice, url).await?;
        let shown = secret.expose_secret();
        println!("WEBHOOK_SECRETS={shown} cargo run --example receiver");
    }
    let service = app.into_make_service_with_connect_info::<SocketAddr>();
    Ok(axum::serve(listener, service).await?)
}

/// Issues a token of this member for all scopes.
async fn issue(club: &Club, member: i64) -> Result<String, BoxError> {
    let environment = added::environment();
    let owner = member.into();
    let wanted = Vec::from_iter(environment.scopes().iter());
    let request =
        TokenRequest::new(&owner, &wanted).label("first steps").expiry(Expiry::from_days(1)?);
    let stores = Stores::in_postgres(&club.pool);
    let (token, _) = environment.issue_token(&stores, request).await?;
    Ok(token.expose_secret().to_owned())
}
