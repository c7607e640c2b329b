//! A minimal embedding: a toy board in memory. The API responds with 501 for methods that the board does not implement.
//!
//! `cargo run --example minimal [ADDRESS]`, then `curl http://127.0.0.1:8080/api/v1/forums`.

#![warn(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

use std::net::SocketAddr;
use std::sync::Arc;

use forum_api::host::{
    Access, Authorizer, BackendResult, Board, BoardError, BoardResult, Caller, RequestInfo,
    ResourceRef, VisibleForums,
};
use forum_api::model::{Forum, ForumId, Page, UserId};
use forum_api::scope::Scope;
use forum_api::store::Stores;
use forum_api::token::TokenRequest;
use forum_api::{Environment, ForumApi, async_trait};

/// A board that implements only forums and members.
#[derive(Clone, Debug, Default)]
pub struct Toy {
    /// For each forum the title, and `true` if guests see it. Ids start at 1.
    pub forums: Vec<(String, bool)>,
    /// The number of members. Ids start at 1.
    pub member_count: i64,
}

#[async_trait]
impl Authorizer for Toy {
    async fn guest_access(&self, _: &RequestInfo) -> BackendResult<Access> {
        let public = (1..).zip(&self.forums).filter(|(_, (_, public))| *public);
        Ok(Access::new(VisibleForums::from_ids(public.map(|(id, _)| ForumId::from(id)))))
    }

    async fn member_access(
        &self,
        owner: &UserId,
        _: &RequestInfo,
    ) -> BackendResult<Option<Access>> {
        let members = 1..=self.member_count;
        let is_member = owner.to_i64().is_ok_and(|number| members.contains(&number));
        Ok(is_member.then(|| Access::new(VisibleForums::all())))
    }
}

#[async_trait]
impl Board for Toy {
    async fn containing_forum(&self, _: &Caller, _: ResourceRef<'_>) -> BoardResult<ForumId> {
        Err(BoardError::NotImplemented)
    }

    async fn list_forums(&self, _: &Caller) -> BoardResult<Page<Forum>> {
        let forums = (1..).zip(&self.forums);
        let all = forums.map(|(id, (title, _))| Forum::new(ForumId::from(id), title));
        // The library removes the forums that the caller cannot see.
        Ok(Page::from(all.collect::<Vec<_>>()))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let board = Arc::new(Toy {
        forums: vec![("Open".into(), true), ("Members".into(), false)],
        member_count: 1,
    });
    let stores = Stores::in_memory();
    let owner = UserId::from(1);
    let request = TokenRequest::new(&owner, &[Scope::FORUMS_READ]);
    let (token, _) = Environment::default().issue_token(&stores, request).await?;
    let argument = std::env::args().nth(1);
    let address = argument.as_deref().unwrap_or("127.0.0.1:8080");
    let listener = tokio::net::TcpListener::bind(address).await?;
    let (token, address) = (token.expose_secret(), listener.local_addr()?);
    println!("curl -H 'authorization: Bearer {token}' http://{address}/api/v1/forums");

    let api = ForumApi::builder(board, stores).axum_0_8().build()?;
    let app = axum::Router::new().fallback_service(api);
    let service = app.into_make_service_with_connect_info::<SocketAddr>();
    Ok(axum::serve(listener, service).await?)
}
