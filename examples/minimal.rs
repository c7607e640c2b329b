//! The shape of an embedding at a glance: a toy board in memory. What it does not answer is 501.
//!
//! `cargo run --example minimal [ADDRESS]`, then `curl http://127.0.0.1:8080/api/v1/forums`.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

use std::sync::Arc;

use forum_api::host::{
    Access, Authorizer, BackendResult, Board, BoardResult, Caller, VisibleForums,
};
use forum_api::model::{Forum, ForumId, UserId};
use forum_api::runtime::{Clock, OsRandom, SystemClock, TokioRuntime};
use forum_api::scope::Surface;
use forum_api::store::Stores;
use forum_api::token::{TokenRequest, issue_token};
use forum_api::{ForumApi, async_trait};

/// A board that has forums and members, and nothing else yet.
#[derive(Clone, Debug, Default)]
pub struct Toy {
    /// The titles of its forums, whose ids count from 1, and whether guests see them.
    pub forums: Vec<(String, bool)>,
    /// How many members there are; their ids count from 1, too.
    pub members: i64,
}

#[async_trait]
impl Authorizer for Toy {
    async fn guest_access(&self) -> BackendResult<Access> {
        let open = (1..).zip(&self.forums).filter(|(_, (_, open))| *open);
        Ok(Access::new(VisibleForums::from_ids(
            open.map(|(id, _)| ForumId::from(id)),
        )))
    }

    async fn member_access(&self, owner: &UserId) -> BackendResult<Option<Access>> {
        let members = 1..=self.members;
        let known = owner.to_i64().is_ok_and(|number| members.contains(&number));
        Ok(known.then(|| Access::new(VisibleForums::all())))
    }
}

#[async_trait]
impl Board for Toy {
    async fn list_forums(&self, caller: &Caller) -> BoardResult<Vec<Forum>> {
        let all = (1..).zip(&self.forums).map(|(position, (title, _))| Forum {
            forum_id: ForumId::from(i64::from(position)),
            parent_id: None,
            title: title.clone(),
            description: String::new(),
            position,
            thread_count: 0,
            post_count: 0,
            last_activity_at: None,
            can_start_thread: false,
        });
        let visible = caller.access().visible_forums();
        Ok(all
            .filter(|forum| visible.contains(&forum.forum_id))
            .collect())
    }
}

#[tokio::main]
async fn main() -> BoardResult<(), Box<dyn std::error::Error>> {
    let board = Arc::new(Toy {
        forums: vec![("Open".into(), true), ("Members".into(), false)],
        members: 1,
    });
    let stores = Stores::in_memory();
    let (owner, scopes) = (&UserId::from(1), &["forums:read".to_owned()]);
    let wanted = TokenRequest {
        owner,
        label: "",
        scopes,
        expires_in_days: "",
    };
    let now = SystemClock.now();
    let (token, _) = issue_token(&*stores.tokens, &OsRandom, Surface::Full, wanted, now).await?;
    let address = std::env::args().nth(1);
    let address = address.as_deref().unwrap_or("127.0.0.1:8080");
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!(
        "curl -H 'authorization: Bearer {}' http://{}/api/v1/forums",
        token.expose_secret(),
        listener.local_addr()?
    );

    let api = ForumApi::builder(board.clone(), board, stores, TokioRuntime).build();
    Ok(axum::serve(listener, axum::Router::new().fallback_service(api)).await?)
}
