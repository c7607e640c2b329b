//! The tower service.

use std::pin::pin;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::header::{
    ALLOW, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, LINK, LOCATION, ORIGIN, WWW_AUTHENTICATE,
};
use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode};
use http_body_util::Full;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tracing::Instrument;

use super::argument_list::Arguments;
use super::message::{self, Message, Params, RpcError};
use super::protocol::{self, Description, Era};
use super::schema::Document;
use super::tool::Tool;
use crate::api::ForumApi;
use crate::api::access::AuthenticatedHandler;
use crate::api::context::RequestContext;
use crate::api::endpoints::Route;
use crate::api::pipeline::Target;
use crate::api::response::{X_ERROR_FIELD, X_ERROR_REASON};
use crate::build_error::BuildError;
use crate::host::PresentedToken;
use crate::http_util::origin::sent_origin;
use crate::http_util::{BodyError, RequestBody, ResponseBody};
use crate::model::{ErrorBody, ErrorObject, Expected, PageForm};
use crate::operation::extract::value::{has_half_pair, has_too_many_values, require_json};
use crate::operation::{
    AdmittedCaller, ApiError, ApiResponse, ApiResult, AuthFailure, CachePolicy, InputError,
};

/// Route of requests that call no tool, in logs and metrics.
const ROUTE: &str = "mcp";

/// Maximum length in bytes of a guest's message, and of a message without the body of the API's request.
const MAX_ENVELOPE: usize = 64 * 1024;

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
    description: Arc<Description>,
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
        let operations = api.0.operations.iter();
        let tools = operations.map(|operation| Tool::new(operation, Document(&document)));
        let origin = sent_origin(&api.0.services.environment.public_origin)
            .and_then(|origin| origin.try_into().ok());
        Ok(Self(Arc::new(Server {
            api: api.clone(),
            tools: tools.collect::<Result<_, _>>()?,
            description: Arc::new(Description::new(&api.0.settings.board)),
            origins: origin.into_iter().collect(),
        })))
    }

    /// Also accepts requests of pages of these origins, such as `https://agent.example`, or of any origin for `*`. A
    /// CORS layer of the host must allow them as well.
    #[must_use]
    pub fn allow_origins(self, origins: impl IntoIterator<Item = HeaderValue>) -> Self {
        let mut server = Server::clone(&self.0);
        server.origins.extend(origins);
        Self(Arc::new(server))
    }
}

debug_fields!(McpServer, |it| tools: it.0.tools.len(), origins: it.0.origins);

impl_service!(McpServer, |service, request| {
    let server = Arc::clone(&service.0);
    let (head, body) = request.into_parts();
    let mut body = RequestBody::new(body);
    Box::pin(async move {
        let call_head = OnceLock::new();
        let mut called = None;
        let mut request = server.api.0.begin(&head);
        let span = request.context.span();
        let work = async {
            let outcome = {
                // Pinned here, because a future that is passed by value would be stored twice.
                let steps =
                    pin!(server.run(&mut request.context, &mut body, &call_head, &mut called));
                server.api.0.run(steps).await
            };
            request.finish(outcome, &body)
        };
        let mut response = work.instrument(span).await;
        Ok(match (called, response.status()) {
            (_, StatusCode::METHOD_NOT_ALLOWED) => {
                let allowed = HeaderValue::from_static("POST");
                response.headers_mut().insert(ALLOW, allowed);
                let text = HeaderValue::from_static("text/plain; charset=utf-8");
                response.headers_mut().insert(CONTENT_TYPE, text);
                response
            }
            // The client has no valid token.
            (None, _) | (_, StatusCode::UNAUTHORIZED) => response,
            (Some((id, era)), _) => {
                tool_response(response, &id, server.description.result_fields(era))
            }
        })
    })
});

/// Body of the response to another method, for a visitor who opens the address in a browser.
const USE_POST: &str = "This address serves the operations of the API as tools of the Model Context Protocol. Configure it in an \
                        assistant or agent as a server with the transport Streamable HTTP and the header `Authorization: Bearer <token>`. \
                        A client that only starts programs needs a bridge, for example mcp-remote.\n";

/// Content of a message.
enum Work<'t> {
    /// The response is this status and body.
    Respond(StatusCode, Bytes),
    ListTools(Box<RawValue>, Era),
    /// A request to the API: its head and body, and the id of the message.
    Call(Box<(Parts, Bytes)>, Box<RawValue>, Era),
    /// A call whose arguments cannot be sent to the API: the tool, the error, and the id of the message.
    Refuse(&'t Tool, Box<ApiError>, Box<RawValue>, Era),
}

/// A message that needs a response.
struct RpcRequest<'m> {
    id: &'m RawValue,
    method: &'m str,
    params: Option<&'m RawValue>,
    has_too_many_values: bool,
}

impl Server {
    /// Runs the steps of a request. Its head is authenticated and charged before the body is read.
    ///
    /// If the message calls a tool, `call_head` becomes the head of the request to the API, and `called` the id and the
    /// era of the message.
    async fn run<'h>(
        &self,
        context: &mut RequestContext<'h>,
        body: &mut RequestBody,
        call_head: &'h OnceLock<Parts>,
        called: &mut Option<(Box<RawValue>, Era)>,
    ) -> ApiResult<ApiResponse> {
        let api = &self.api.0;
        api.reject_malformed(context).await?;
        context.route = Some(ROUTE);
        context.cache_policy = CachePolicy::NoStore;
        if let Some(status) = self.refuse(context.head) {
            api.charge(context, context.guest_key, 1).await?;
            let text = match status {
                StatusCode::METHOD_NOT_ALLOWED => USE_POST,
                _ => "",
            };
            return Ok(response(status, Bytes::from_static(text.as_bytes())));
        }
        let token = api.authenticate(context).await?;
        let len = body.len;
        let limit = match token {
            None => MAX_ENVELOPE,
            Some(_) => api.settings.body_limit.saturating_add(MAX_ENVELOPE),
        };
        let is_within = |limit: usize| len.is_some_and(|len| len <= limit as u64);
        let is_too_long = len.is_some() && !is_within(limit);
        // A long message costs as much as the cheapest operation of the API with a body.
        let is_short = token.is_none() || is_too_long || is_within(MAX_ENVELOPE);
        let units = if is_short { 1 } else { 2 };
        api.charge_caller(context, token.as_ref(), units).await?;
        let body = if is_too_long { Err(BodyError::TooLong) } else { body.read(limit).await };
        match self.work(context.head, body) {
            Work::Respond(status, body) => {
                api.admit(context, token, None).await?;
                Ok(response(status, body))
            }
            Work::ListTools(id, era) => {
                let caller = api.admit(context, token, None).await?;
                Ok(response(StatusCode::OK, self.tools(&id, era, caller.token())))
            }
            Work::Refuse(tool, error, id, era) => {
                *called = Some((id, era));
                if token.is_none() && tool.needs_token {
                    return Err(AuthFailure::Absent.into());
                }
                api.admit(context, token, Some(tool.scope)).await?;
                Err(*error)
            }
            Work::Call(request, id, era) => {
                let (head, body) = *request;
                *called = Some((id, era));
                context.head = call_head.get_or_init(|| head);
                let Some(Route::Operation(operation, path)) = api.route(context.head) else {
                    return Err(ApiError::NoSuchRoute);
                };
                context.route = Some(operation.spec.path);
                context.operation = Some(operation.spec.id);
                context.cache_policy = operation.spec.cache_policy;
                let handler = AuthenticatedHandler::new(&operation.handler, token)?;
                let rest = operation.spec.cost.saturating_sub(units);
                if rest > 0 {
                    api.charge_caller(context, handler.token(), rest).await?;
                }
                let page_form = PageForm::ToolResult;
                let target = Target { spec: &operation.spec, handler, path, page_form };
                api.call(context, target, &mut RequestBody::new(Full::new(body))).await
            }
        }
    }

    /// Refuses requests that are not JSON, of other methods and of other origins.
    fn refuse(&self, head: &Parts) -> Option<StatusCode> {
        let is_allowed = |origin| self.origins.iter().any(|one| one == origin || one == "*");
        if !head.headers.get_all(ORIGIN).iter().all(is_allowed) {
            return Some(StatusCode::FORBIDDEN);
        }
        if head.method != Method::POST {
            return Some(StatusCode::METHOD_NOT_ALLOWED);
        }
        let is_json = require_json(&head.headers).is_ok();
        (!is_json).then_some(StatusCode::UNSUPPORTED_MEDIA_TYPE)
    }

    /// Decodes a message.
    fn work(&self, head: &Parts, body: Result<Bytes, BodyError>) -> Work<'_> {
        let refuse = |status, code, text: &'static str| {
            Work::Respond(status, RpcError::new(code, text).response(None))
        };
        let body = match body {
            Ok(body) => body,
            Err(BodyError::TooLong) => {
                let status = StatusCode::PAYLOAD_TOO_LARGE;
                return refuse(status, RpcError::INVALID_REQUEST, "the message is too long");
            }
            Err(BodyError::TooManyParts) => {
                let status = StatusCode::BAD_REQUEST;
                let text = "the message arrived in too many parts; send it in larger chunks";
                return refuse(status, RpcError::INVALID_REQUEST, text);
            }
            Err(BodyError::Incomplete) => {
                let status = StatusCode::BAD_REQUEST;
                return refuse(status, RpcError::PARSE_ERROR, "the message is incomplete");
            }
        };
        let invalid = |text| refuse(StatusCode::BAD_REQUEST, RpcError::INVALID_REQUEST, text);
        if body.trim_ascii_start().starts_with(b"[") {
            return invalid("batches are not supported");
        }
        let message = match serde_json::from_slice::<Message<'_>>(&body) {
            Ok(message) => message,
            Err(error) => {
                let body = parse_error(&error, &body).response(None);
                return Work::Respond(StatusCode::BAD_REQUEST, body);
            }
        };
        let has_valid_id = message.has_valid_id();
        match (message.method.as_deref(), message.id) {
            _ if message.jsonrpc != "2.0" => invalid("`jsonrpc` is not \"2.0\""),
            (None, _) => invalid("`method` is missing"),
            // A notification has no effect, because the server has no sessions.
            (Some(_), None) => Work::Respond(StatusCode::ACCEPTED, Bytes::new()),
            (Some(_), Some(_)) if !has_valid_id => invalid("`id` is neither a string nor a number"),
            (Some(method), Some(id)) => {
                let request = RpcRequest {
                    id,
                    method,
                    params: message.params,
                    has_too_many_values: has_too_many_values(&body),
                };
                let work = self.work_of_request(head, &request);
                work.unwrap_or_else(|(status, error)| {
                    Work::Respond(status, error.response(Some(id)))
                })
            }
        }
    }

    fn work_of_request(
        &self,
        head: &Parts,
        request: &RpcRequest<'_>,
    ) -> Result<Work<'_>, (StatusCode, RpcError)> {
        let RpcRequest { id, method, params: params_json, has_too_many_values } = *request;
        let invalid =
            |text: String| (StatusCode::OK, RpcError::new(RpcError::INVALID_PARAMS, text));
        let parsed = match params_json {
            None => Some(Params::default()),
            Some(params) if message::is_object(params) => serde_json::from_str(params.get()).ok(),
            Some(_) => None,
        };
        let params = parsed.ok_or_else(|| {
            let has_half_pair =
                params_json.is_some_and(|json| has_half_pair(json.get().as_bytes()));
            invalid(if has_half_pair {
                message::HALF_PAIR.into()
            } else {
                "`params` has a value of the wrong type".into()
            })
        })?;
        let era = protocol::check_version(&head.headers, method, &params)
            .map_err(|error| (StatusCode::BAD_REQUEST, error))?;
        if has_too_many_values && method != "tools/call" {
            let text = format!("expected {}", Expected::FEWER_VALUES.as_str());
            return Err((StatusCode::BAD_REQUEST, RpcError::new(RpcError::INVALID_REQUEST, text)));
        }
        let result = |value: Value| {
            let body = message::result(id, value.to_string().as_bytes());
            Work::Respond(StatusCode::OK, body)
        };
        match (method, era) {
            ("tools/list", _) => Ok(Work::ListTools(id.to_owned(), era)),
            ("tools/call", _) => {
                let work = self.work_of_call(head, request, &params, era);
                work.map_err(|text| invalid(text.into()))
            }
            ("initialize", Era::Initialized) => {
                Ok(result(self.description.initialize(params.protocol_version.as_ref())))
            }
            ("ping", Era::Initialized) => Ok(result(Value::Object(Default::default()))),
            ("server/discover", _) => Ok(result(self.description.discover())),
            _ => {
                let error = RpcError::new(RpcError::METHOD_NOT_FOUND, "Method not found");
                let status = match era {
                    Era::Initialized => StatusCode::OK,
                    Era::Modern => StatusCode::NOT_FOUND,
                };
                Err((status, error))
            }
        }
    }

    /// Returns the tools that a caller can call. `token` is `None` for the guest.
    fn tools(&self, id: &RawValue, era: Era, token: Option<&PresentedToken>) -> Bytes {
        let tools: Vec<_> = self
            .tools
            .iter()
            .filter(|tool| tool.is_permitted(token))
            .map(|tool| tool.definition.as_str())
            .collect();
        let fields = self.description.list_fields(era);
        let result = [r#"{"tools":["#, &tools.join(","), "]", &fields, "}"].concat();
        message::result(id, result.as_bytes())
    }

    /// Decodes a call of a tool.
    ///
    /// # Errors
    /// The text of an error, if the message does not call a tool with an object.
    fn work_of_call(
        &self,
        head: &Parts,
        request: &RpcRequest<'_>,
        params: &Params<'_>,
        era: Era,
    ) -> Result<Work<'_>, &'static str> {
        let name = params.name.as_deref();
        let mut tools = self.tools.iter();
        let tool = tools
            .find(|tool| Some(tool.name) == name)
            .ok_or("Unknown tool: `tools/list` returns the tools")?;
        let id = request.id.to_owned();
        if request.has_too_many_values {
            let error = InputError::expected("arguments", Expected::FEWER_VALUES);
            return Ok(Work::Refuse(tool, Box::new(error.into()), id, era));
        }
        let arguments = match params.arguments {
            None => Arguments::default(),
            Some(json) => {
                serde_json::from_str(json.get()).map_err(|_| "`arguments` is not an object")?
            }
        };
        let base_path = &self.api.0.settings.base_path;
        Ok(match tool.request(base_path, head.clone(), arguments) {
            Ok(request) => Work::Call(Box::new(request), id, era),
            Err(error) => Work::Refuse(tool, Box::new(error), id, era),
        })
    }
}

fn response(status: StatusCode, body: Bytes) -> ApiResponse {
    ApiResponse { status, body, ..ApiResponse::default() }
}

/// Converts a response of the API to the result of a call. `more` are the further fields of the result.
fn tool_response(
    response: Response<ResponseBody>,
    id: &RawValue,
    more: &str,
) -> Response<ResponseBody> {
    let (mut head, body) = response.into_parts();
    let is_error = !head.status.is_success();
    let mut body = body.into_bytes();
    if is_error {
        body = with_reason_and_field(body, &head.headers);
    }
    let body = message::tool_result(id, &body, is_error, more);
    for name in [LINK, LOCATION, WWW_AUTHENTICATE, X_ERROR_REASON, X_ERROR_FIELD] {
        head.headers.remove(name);
    }
    head.headers.insert(CONTENT_TYPE, JSON);
    head.headers.insert(CONTENT_LENGTH, body.len().into());
    head.status = StatusCode::OK;
    Response::from_parts(head, ResponseBody::new(body))
}

/// Error object of a tool.
#[derive(Serialize)]
struct ToolError<'a> {
    #[serde(flatten)]
    object: &'a ErrorObject,
    reason: Option<&'a str>,
    field: Option<&'a str>,
}

/// Adds the reason and the field of an error, which the API sends in headers, to the error object.
fn with_reason_and_field(body: Bytes, headers: &HeaderMap) -> Bytes {
    let Ok(ErrorBody { error }) = serde_json::from_slice(&body) else {
        return body;
    };
    let text = |header| headers.get(header).and_then(|value| value.to_str().ok());
    let error =
        ToolError { object: &error, reason: text(X_ERROR_REASON), field: text(X_ERROR_FIELD) };
    serde_json::to_vec(&json!({ "error": error })).map_or(body, Bytes::from)
}

fn parse_error(error: &serde_json::Error, body: &[u8]) -> RpcError {
    let (code, text) = if error.is_data() {
        (RpcError::INVALID_REQUEST, "the message is not a request of JSON-RPC 2.0")
    } else if has_half_pair(body) {
        (RpcError::PARSE_ERROR, message::HALF_PAIR)
    } else {
        (RpcError::PARSE_ERROR, "the message is not JSON")
    };
    RpcError::new(code, text)
}
