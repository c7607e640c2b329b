//! poem 3, feature `tower-compat`: `Route::new().nest_no_strip("/api/v1", forum_api(api))`.

use forum_api::ForumApi;
use poem::endpoint::TowerCompatExt;
use poem::{Endpoint, EndpointExt, Request};

pub fn forum_api(api: ForumApi) -> impl Endpoint {
    api.compat().before(|mut request: Request| async move {
        if let Some(peer) = request.remote_addr().as_socket_addr().copied() {
            request.extensions_mut().insert(peer);
        }
        Ok(request)
    })
}
