//! The tower service.

use std::future::{Future, ready};
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{
    ALLOW, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderValue, LINK, LOCATION, ORIGIN,
};
use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use serde_json::value::RawValue;

use super::arguments::Arguments;
use super::message::{self, Message, Params, RpcError};
use super::protocol::{self, Era};
use super::schema::Document;
use super::tool::Tool;
use crate::api::{ForumApi, ProtocolRequest, Target};
use crate::build_error::BuildError;
use crate::host::Caller;
use crate::http_util::{BodyError, ResponseBody, ResponseFuture, is_json, read_body};
use crate::task::timeout;

/// Route of requests that call no tool, in logs and metrics.
const ROUTE: &str = "mcp";

/// Units of a request that calls no tool.
const COST: u32 = 1;

/// Maximum length of a message without the body of the API's request, in bytes.
const MAX_ENVELOPE: usize = 64 * 1024;

/// Maximum number of messages in a batch.
const MAX_BATCH: usize = 32;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// [`Service`](tower_service::Service) that offers the operations of a [`ForumApi`] as tools of the Model Context
/// Protocol, over Streamable HTTP without sessions.
///
/// Accepts `POST` on any path. Cloning is cheap. Refuses an `Origin` other than
/// [`Environment::public_origin`](crate::Environment::public_origin) with 403, so that pages of other sites cannot use the
/// server of a local network.
#[derive(Clone)]
#[doc(alias = "agent")]
pub struct McpServer(Arc<Server>);

#[derive(Clone)]
struct Server {
    api: ForumApi,
    tools: Arc<[Tool]>,
    origins: Vec<HeaderValue>,
}

impl McpServer {
    /// Creates the server of an API. The tools are the operations of its surface, with those of the host.
    ///
    /// # Errors
    /// [`BuildError`] if an operation has a path variable and a field of the body with the same name, or a field with the
    /// name `idempotencyKey`.
    pub fn new(api: &ForumApi) -> Result<Self, BuildError> {
        let document = api.openapi();
        let operations = api.operations().iter();
        let tools = operations.map(|operation| Tool::new(operation, Document(&document)));
        let origin = HeaderValue::from_str(&api.environment().public_origin).ok();
        Ok(Self(Arc::new(Server {
            api: api.clone(),
            tools: tools.collect::<Result<_, _>>()?,
            origins: origin.into_iter().filter(|one| !one.is_empty()).collect(),
        })))
    }

    /// Also accepts requests of pages of these origins, such as `https://agent.example`. A CORS layer of the host must
    /// allow them as well.
    #[must_use]
    pub fn allow_origins(self, origins: impl IntoIterator<Item = HeaderValue>) -> Self {
        let mut server = Server::clone(&self.0);
        server.origins.extend(origins);
        Self(Arc::new(server))
    }
}

impl std::fmt::Debug for McpServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpServer")
            .field("tools", &self.0.tools.len())
            .field("origins", &self.0.origins)
            .finish_non_exhaustive()
    }
}

impl_service!(McpServer, |service, request| {
    let server = Arc::clone(&service.0);
    let (head, body) = request.into_parts();
    ResponseFuture::new(async move {
        if let Some(response) = server.refuse(&head) {
            return response;
        }
        let limit = server
            .api
            .settings()
            .body_limit
            .saturating_add(MAX_ENVELOPE);
        server.respond(head, read_body(body, limit)).await
    })
});

/// A request to call a tool or another method of the server.
struct Call<'a> {
    id: &'a RawValue,
    method: &'a str,
    params: Params<'a>,
    era: Era,
}

impl Server {
    /// Refuses requests that are not JSON, of other methods and of other origins. Charges nothing.
    fn refuse(&self, head: &Parts) -> Option<Response<ResponseBody>> {
        let content_type = head.headers.get(CONTENT_TYPE);
        let mut origins = head.headers.get_all(ORIGIN).iter();
        if !origins.all(|origin| self.origins.contains(origin)) {
            return Some(empty(StatusCode::FORBIDDEN));
        }
        if head.method != Method::POST {
            let mut response = empty(StatusCode::METHOD_NOT_ALLOWED);
            let allowed = HeaderValue::from_static("POST");
            response.headers_mut().insert(ALLOW, allowed);
            return Some(response);
        }
        (!content_type.is_some_and(is_json)).then(|| empty(StatusCode::UNSUPPORTED_MEDIA_TYPE))
    }

    async fn respond(
        &self,
        head: Parts,
        body: impl Future<Output = Result<Bytes, BodyError>>,
    ) -> Response<ResponseBody> {
        let runtime = &*self.api.environment().runtime;
        let read = timeout(runtime, self.api.settings().request_timeout, pin!(body)).await;
        let body = match read {
            Some(Ok(body)) => body,
            Some(Err(BodyError::TooLong)) => {
                let error = RpcError::new(RpcError::INVALID_REQUEST, "the message is too long");
                return self
                    .refuse_message(head, StatusCode::PAYLOAD_TOO_LARGE, &error)
                    .await;
            }
            Some(Err(BodyError::Incomplete)) | None => {
                let error = RpcError::new(RpcError::PARSE_ERROR, "the message is incomplete");
                return self
                    .refuse_message(head, StatusCode::BAD_REQUEST, &error)
                    .await;
            }
        };
        let is_batch = body.trim_ascii_start().starts_with(b"[");
        if is_batch {
            return self.respond_to_batch(head, &body).await;
        }
        match serde_json::from_slice(&body) {
            Ok(message) => self.respond_to_message(head, message).await,
            Err(error) => {
                self.refuse_message(head, StatusCode::BAD_REQUEST, &parse_error(&error))
                    .await
            }
        }
    }

    /// Responds to the messages one after the other. The headers are those of the last response.
    async fn respond_to_batch(&self, head: Parts, body: &[u8]) -> Response<ResponseBody> {
        let messages = serde_json::from_slice::<Vec<&RawValue>>(body);
        let error = match &messages {
            Err(error) => Some(parse_error(error)),
            Ok(_) if !protocol::accepts_batch(&head.headers) => Some(RpcError::new(
                RpcError::INVALID_REQUEST,
                "this version of the protocol has no batches",
            )),
            Ok(messages) if !(1..=MAX_BATCH).contains(&messages.len()) => Some(RpcError::new(
                RpcError::INVALID_REQUEST,
                "a batch has 1 to 32 messages",
            )),
            Ok(_) => None,
        };
        if let Some(error) = error {
            return self
                .refuse_message(head, StatusCode::BAD_REQUEST, &error)
                .await;
        }
        let mut bodies = Vec::new();
        let mut headers = HeaderMap::new();
        for message in messages.unwrap_or_default() {
            let head = head.clone();
            let message = serde_json::from_str::<Message<'_>>(message.get());
            let id = message.as_ref().ok().and_then(|message| message.id);
            let response = match message {
                Ok(message) => self.respond_to_message(head, message).await,
                Err(error) => {
                    self.refuse_message(head, StatusCode::BAD_REQUEST, &parse_error(&error))
                        .await
                }
            };
            let (response, body) = read(response).await;
            if is_of_api(response.status) && bodies.is_empty() {
                return Response::from_parts(response, ResponseBody::new(body));
            }
            if !body.is_empty() {
                bodies.push(message::in_batch(id, body));
                headers = response.headers;
            }
        }
        if bodies.is_empty() {
            return empty(StatusCode::ACCEPTED);
        }
        let body = [&b"["[..], &bodies.join(&b","[..]), b"]"].concat();
        json(StatusCode::OK, headers, body.into())
    }

    async fn respond_to_message(
        &self,
        head: Parts,
        message: Message<'_>,
    ) -> Response<ResponseBody> {
        let invalid = |text| RpcError::new(RpcError::INVALID_REQUEST, text);
        let error = if message.jsonrpc != "2.0" {
            invalid("`jsonrpc` is not \"2.0\"")
        } else if message.method.is_none() {
            invalid("`method` is missing")
        } else if message.id.is_none() {
            // A notification, which changes nothing here: the server has no sessions.
            return empty(StatusCode::ACCEPTED);
        } else if !message.has_valid_id() {
            invalid("`id` is neither a string nor a number")
        } else {
            return self.respond_to_request(head, &message).await;
        };
        self.refuse_message(head, StatusCode::BAD_REQUEST, &error)
            .await
    }

    async fn respond_to_request(
        &self,
        head: Parts,
        message: &Message<'_>,
    ) -> Response<ResponseBody> {
        let (Some(id), Some(method)) = (message.id, message.method.as_deref()) else {
            return empty(StatusCode::ACCEPTED);
        };
        let params = match message.params {
            None => Some(Params::default()),
            Some(params) if message::is_object(params) => serde_json::from_str(params.get()).ok(),
            Some(_) => None,
        };
        let Some(params) = params else {
            let error = RpcError::new(
                RpcError::INVALID_PARAMS,
                "`params` has a value of the wrong type",
            );
            return self.refuse_request(head, StatusCode::OK, id, &error).await;
        };
        let era = match protocol::check_version(&head.headers, method, &params) {
            Ok(era) => era,
            Err(error) => {
                return self
                    .refuse_request(head, StatusCode::BAD_REQUEST, id, &error)
                    .await;
            }
        };
        let call = Call {
            id,
            method,
            params,
            era,
        };
        match call.method {
            "tools/call" => self.call_tool(head, call).await,
            _ => self.describe(head, call).await,
        }
    }

    /// Responds to requests that call no tool.
    async fn describe(&self, head: Parts, call: Call<'_>) -> Response<ResponseBody> {
        let Call {
            id,
            method,
            params,
            era,
        } = call;
        let result = |value: Value| message::result(id, value.to_string().as_bytes());
        let body = match (method, era) {
            ("tools/list", _) => {
                let respond = |caller: &Caller| (StatusCode::OK, self.tools(id, era, caller));
                return self.admit(head, &respond).await;
            }
            ("initialize", Era::Initialized) => {
                result(protocol::initialize(params.protocol_version.as_ref()))
            }
            ("ping", Era::Initialized) => result(Value::Object(Default::default())),
            ("server/discover", _) => result(protocol::discover().into()),
            _ => {
                let error = RpcError::new(RpcError::METHOD_NOT_FOUND, "Method not found");
                let status = match era {
                    Era::Initialized => StatusCode::OK,
                    Era::Modern => StatusCode::NOT_FOUND,
                };
                return self.refuse_request(head, status, id, &error).await;
            }
        };
        self.admit(head, &|_| (StatusCode::OK, body.clone())).await
    }

    /// Returns the tools that the caller can call.
    fn tools(&self, id: &RawValue, era: Era, caller: &Caller) -> Bytes {
        let tools: Vec<_> = self
            .tools
            .iter()
            .filter(|tool| tool.is_permitted(caller))
            .map(|tool| tool.definition.as_str())
            .collect();
        let fields = era.list_fields();
        let result = [r#"{"tools":["#, &tools.join(","), "]", &fields, "}"].concat();
        message::result(id, result.as_bytes())
    }

    /// Calls a tool: one request to the API.
    async fn call_tool(&self, head: Parts, call: Call<'_>) -> Response<ResponseBody> {
        let Call {
            id, params, era, ..
        } = call;
        let name = params.name.as_deref();
        let tool = self.tools.iter().find(|tool| Some(tool.name) == name);
        let invalid = |text: String| RpcError::new(RpcError::INVALID_PARAMS, text);
        let arguments = match params.arguments {
            None => Ok(Arguments::default()),
            Some(arguments) => serde_json::from_str(arguments.get()),
        };
        let error = match (tool, arguments) {
            (None, _) => invalid("Unknown tool: `tools/list` returns the tools".into()),
            (_, Err(_)) => invalid("`arguments` is not an object".into()),
            (Some(tool), Ok(arguments)) => {
                let base_path = &self.api.settings().base_path;
                match tool.request(base_path, head.clone(), arguments) {
                    Err(error) => invalid(error.to_string()),
                    Ok((head, body)) => return self.request(head, body, id, era).await,
                }
            }
        };
        self.refuse_request(head, StatusCode::OK, id, &error).await
    }

    /// Sends a request to the API. Returns a 401 unchanged, and any other response as the result of the call.
    async fn request(
        &self,
        head: Parts,
        body: Bytes,
        id: &RawValue,
        era: Era,
    ) -> Response<ResponseBody> {
        let body = if body.len() > self.api.settings().body_limit {
            Err(BodyError::TooLong)
        } else {
            Ok(body)
        };
        let response = self
            .api
            .handle(head, Target::Route(pin!(ready(body))))
            .await;
        if is_of_api(response.status()) {
            return response;
        }
        let (mut head, body) = read(response).await;
        for name in [ETAG, LINK, LOCATION] {
            head.headers.remove(name);
        }
        // A body of the API is UTF-8.
        let text = str::from_utf8(&body).unwrap_or_default();
        let is_error = !head.status.is_success();
        let body = message::tool_result(id, text, is_error, era.result_fields());
        json(StatusCode::OK, head.headers, body)
    }

    async fn refuse_message(
        &self,
        head: Parts,
        status: StatusCode,
        error: &RpcError,
    ) -> Response<ResponseBody> {
        self.admit(head, &|_| (status, error.response(None))).await
    }

    async fn refuse_request(
        &self,
        head: Parts,
        status: StatusCode,
        id: &RawValue,
        error: &RpcError,
    ) -> Response<ResponseBody> {
        self.admit(head, &|_| (status, error.response(Some(id))))
            .await
    }

    /// Authenticates and charges a request that calls no tool, and responds to it.
    async fn admit(
        &self,
        head: Parts,
        respond: &(dyn Fn(&Caller) -> (StatusCode, Bytes) + Send + Sync),
    ) -> Response<ResponseBody> {
        let request = ProtocolRequest {
            route: ROUTE,
            cost: COST,
            respond,
        };
        self.api.handle(head, Target::Protocol(request)).await
    }
}

/// Returns `true` for 401, which remains the status of the HTTP response: the client has no valid token.
fn is_of_api(status: StatusCode) -> bool {
    status == StatusCode::UNAUTHORIZED
}

fn parse_error(error: &serde_json::Error) -> RpcError {
    if error.is_data() {
        RpcError::new(
            RpcError::INVALID_REQUEST,
            "the message is not a request of JSON-RPC 2.0",
        )
    } else {
        RpcError::new(RpcError::PARSE_ERROR, "the message is not JSON")
    }
}

async fn read(response: Response<ResponseBody>) -> (http::response::Parts, Bytes) {
    let (head, body) = response.into_parts();
    let Ok(body) = body.collect().await;
    (head, body.to_bytes())
}

fn empty(status: StatusCode) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::default());
    *response.status_mut() = status;
    response
}

fn json(status: StatusCode, mut headers: HeaderMap, body: Bytes) -> Response<ResponseBody> {
    headers.insert(CONTENT_TYPE, JSON);
    headers.insert(CONTENT_LENGTH, body.len().into());
    let mut response = Response::new(ResponseBody::new(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}
