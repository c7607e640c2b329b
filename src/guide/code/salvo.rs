//! salvo 1, feature `tower-compat`: `Router::with_path("api/v1/{**path}").hoop(insert_peer).goal(forum_api(api))`.

use forum_api::ForumApi;
use salvo::http::ReqBody;
use salvo::prelude::{Handler, Request, TowerServiceCompat, handler};

pub fn forum_api(api: ForumApi) -> impl Handler {
    TowerServiceCompat::<ReqBody, _, _, _>::compat(api)
}

#[handler]
pub async fn insert_peer(request: &mut Request) {
    if let Some(peer) = request.remote_addr().ip() {
        request.extensions_mut().insert(peer);
    }
}
