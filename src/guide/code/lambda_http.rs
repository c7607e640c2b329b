//! lambda_http 1: `lambda_http::run(api)`, with the client's address from the event. The base path begins with the stage
//! of API Gateway, such as `/prod/api/v1`, unless the stage is `$default`.

use forum_api::ForumApiBuilder;
use lambda_http::request::RequestContext;

pub fn with_source_ip(builder: ForumApiBuilder) -> ForumApiBuilder {
    builder.peer_ip(|head| {
        let address = match head.extensions.get()? {
            RequestContext::ApiGatewayV1(context) => context.identity.source_ip.as_ref(),
            RequestContext::ApiGatewayV2(context) => context.http.source_ip.as_ref(),
            _ => None,
        };
        address?.parse().ok()
    })
}
