//! Operations of a host (`docs/protocol.md`, section 12.7): links of a thread, with a scope of their own.

use std::collections::BTreeMap;

use forum_api::host::MemberCaller;
use forum_api::model::{CursorPage, List, NewPost, Page, Post, ThreadId};
use forum_api::operation::{
    Body, ExtraOf, FieldError, FieldScope, Json, NoForum, Operation, OperationBuilder, PathParams,
    Query, Resource, Tag,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::idempotency::is_replay;
use crate::support::*;

const LINKS_WRITE: Scope = Scope::from_static("links:write", "Add links.");
const TAG: Tag = Tag::new("links", "Links of threads.");

#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Link {
    thread_id: ThreadId,
    position: usize,
    url: String,
}

impl Resource for Link {
    fn location(&self) -> Option<String> {
        Some(format!("/threads/{}/links/{}", self.thread_id, self.position))
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewLink {
    url: String,
    #[serde(default)]
    subscribe: bool,
}

impl Body for NewLink {
    fn example() -> Self {
        let url = "https://board.example".into();
        Self { url, subscribe: false }
    }

    fn check(&self) -> Result<(), FieldError> {
        if self.url.starts_with("https://") {
            return Ok(());
        }
        Err(FieldError::new("url", "an https address"))
    }

    fn field_scope() -> Option<FieldScope<Self>> {
        Some(FieldScope::new("subscribe", Scope::SUBSCRIPTIONS_WRITE, |link: &Self| link.subscribe))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LinkPath {
    thread_id: ThreadId,
    position: usize,
}

impl PathParams for LinkPath {
    fn resource(&self) -> ResourceRef<'_> {
        ResourceRef::Thread(&self.thread_id)
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct LinkFilter {
    prefix: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CountParams {
    min_length: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
struct Count {
    count: usize,
}

impl Resource for Count {}

/// Links of threads. A thread is in the forum at the start of its id.
#[derive(Default)]
struct Links(Mutex<Vec<Link>>);

fn forum(thread: &ThreadId) -> ForumId {
    let thread = thread.to_string();
    ForumId::parse(thread.split('-').next().unwrap()).unwrap()
}

impl Links {
    async fn add(&self, thread: ThreadId, new: NewLink) -> BoardResult<InForum<Link>> {
        let mut links = self.0.lock().unwrap();
        let link = Link { position: links.len() + 1, url: new.url, thread_id: thread };
        links.push(link.clone());
        Ok(InForum::new(forum(&link.thread_id), link))
    }

    async fn list(
        &self,
        thread: ThreadId,
        list: List<LinkFilter>,
    ) -> BoardResult<InForum<Page<Link>>> {
        let prefix = list.filter.prefix.clone().unwrap_or_default();
        let links = self
            .0
            .lock()
            .unwrap()
            .clone()
            .into_iter()
            .filter(|link| link.thread_id == thread && link.url.starts_with(&prefix));
        let page = list.page(links, |link| [link.position as i64])?;
        Ok(InForum::new(forum(&thread), page))
    }

    async fn remove(&self, path: LinkPath) -> BoardResult<()> {
        let is_other = |link: &Link| link.position != path.position;
        self.0.lock().unwrap().retain(is_other);
        Ok(())
    }

    async fn count(&self, min_length: usize) -> BoardResult<NoForum<Count>> {
        let links = self.0.lock().unwrap();
        let is_long = |link: &&Link| link.url.len() >= min_length;
        let count = links.iter().filter(is_long).count();
        Ok(NoForum(Count { count }))
    }
}

fn example() -> Link {
    Link { thread_id: ThreadId::from(17), position: 1, url: "https://board.example".into() }
}

/// Completes an operation that counts all links.
fn count(operation: OperationBuilder, links: &Arc<Links>) -> Operation {
    operation.tag(TAG).summary("Counts all links.").ok(
        links,
        |links, _: &Caller, (), ()| Box::pin(links.count(0)),
        || Count { count: 1 },
    )
}

fn operations(links: &Arc<Links>) -> Vec<Operation> {
    vec![
        Operation::post("/threads/{threadId}/bumps", "bumpThread", LINKS_WRITE)
            .tag(TAG)
            .summary("Adds a fixed link.")
            .created(
                links,
                |links, _: &MemberCaller, thread: ThreadId, ()| {
                    Box::pin(links.add(thread, NewLink::example()))
                },
                example,
            ),
        Operation::post("/threads/{threadId}/links", "addLink", LINKS_WRITE)
            .tag(TAG)
            .summary("Adds a link.")
            .cost(7)
            .created(
                links,
                |links, _: &MemberCaller, thread: ThreadId, Json(new)| {
                    Box::pin(links.add(thread, new))
                },
                example,
            ),
        Operation::get("/threads/{threadId}/links", "listLinks", Scope::THREADS_READ)
            .tag(TAG)
            .summary("Lists the links of a thread.")
            .ok(
                links,
                |links, _: &Caller, thread: ThreadId, list: List<LinkFilter>| {
                    Box::pin(links.list(thread, list))
                },
                || CursorPage::example([example()]),
            ),
        Operation::delete("/threads/{threadId}/links/{position}", "removeLink", LINKS_WRITE)
            .tag(TAG)
            .summary("Removes a link.")
            .no_content(links, |links, _: &MemberCaller, path: LinkPath, ()| {
                Box::pin(links.remove(path))
            }),
        Operation::get("/x/links", "countLinks", Scope::THREADS_READ)
            .tag(TAG)
            .summary("Counts all links.")
            .ok(
                links,
                |links, _: &Caller, (), Query(params): Query<CountParams>| {
                    Box::pin(links.count(params.min_length.unwrap_or_default()))
                },
                || Count { count: 1 },
            ),
    ]
}

pub(crate) fn server() -> Server {
    let environment = Environment::default().scope(LINKS_WRITE);
    server_in(environment, operations(&Arc::default()))
}

fn with_operations(operations: Vec<Operation>) -> Server {
    server_in(Environment::default(), operations)
}

fn server_in(environment: Environment, operations: Vec<Operation>) -> Server {
    let board = FullBoard::new();
    let stores = Stores::in_memory();
    Server::with_operations(environment, settings(), stores, &board, board.clone(), operations)
}

fn add(url: &str) -> Request {
    let body = format!(r#"{{"url":"{url}"}}"#);
    Request::post("/threads/open-1/links", &body)
}

#[tokio::test]
async fn an_operation_of_a_host_passes_the_pipeline() {
    let server = server();
    let alice = server.token_with("alice", &["links:write"]).await;
    let before = server.remaining(&alice, settings().token_budget).await;
    let request = add("https://a.example").bearer(&alice).key("x");
    let created = server.send(&request).await;
    assert_eq!(created.status, 201, "{created:?}");
    let location = created.header("location");
    assert_eq!(location, Some("/api/v1/threads/open-1/links/1"));
    let replay = server.send(&request).await;
    assert!(is_replay(&replay) && replay.body == created.body);
    let after = server.remaining(&alice, settings().token_budget).await;
    assert_eq!(before - after, 14);

    let links = |thread: &str| format!("/threads/{thread}/links");
    let open = links("open-1");
    for (request, expected) in [
        (add("https://a.example"), UNAUTHENTICATED),
        (Request::get(&links("staff-1")), PATH_NOT_FOUND),
        (Request::get(&(open.clone() + "?limit=101")), BAD_REQUEST),
        (Request::get(&(open.clone() + "?more=1")), BAD_REQUEST),
    ] {
        server.expect(request, expected).await;
    }
    let link = r#"{"url":"https://a"}"#;
    let followed = r#"{"url":"https://a","subscribe":true}"#;
    let unknown = r#"{"url":"https://a","more":1}"#;
    let remove = |thread: &str, link| Request::new("DELETE", &format!("{}/{link}", links(thread)));
    for (request, expected) in [
        (add("http://a.example"), BAD_REQUEST),
        (Request::post(&open, followed), MISSING_SCOPE),
        (Request::post(&open, unknown), BAD_REQUEST),
        (Request::post(&links("staff-1"), link), PATH_NOT_FOUND),
        (Request::post(&links("absent-1"), link), PATH_NOT_FOUND),
        (Request::get(&open), MISSING_SCOPE),
        (remove("staff-1", "1"), PATH_NOT_FOUND),
        (remove("open-1", "first"), PATH_NOT_FOUND),
        (remove("open%201", "1?x=1"), PATH_NOT_FOUND),
        (Request::new("PUT", &open), NO_SUCH_ROUTE),
        (remove("open-1", "1"), (204, None)),
    ] {
        server.expect(request.bearer(&alice), expected).await;
    }
    server.expect(Request::get("/x/links"), (200, None)).await;
    // A post without a body.
    let bump = Request::new("POST", "/threads/open-1/bumps").bearer(&alice);
    let first = server.send(&bump.clone().key("y")).await;
    let again = server.send(&bump.clone().key("y")).await;
    assert_eq!((first.status, is_replay(&again)), (201, true), "{first:?}");
    server.expect(bump.key(""), BAD_REQUEST).await;
    let plain = server.token_with("alice", &["threads:read"]).await;
    let link = add("https://a.example").bearer(&plain);
    server.expect(link, MISSING_SCOPE).await;
}

#[tokio::test]
async fn a_cursor_of_a_hosts_list_is_valid_for_its_path_and_its_filters() {
    let server = server();
    let alice = server.token_with("alice", &["links:write"]).await;
    for index in 0..3 {
        let link = add(&format!("https://{index}.example")).bearer(&alice);
        server.expect(link, (201, None)).await;
    }
    let path = "/threads/open-1/links?limit=2&prefix=https";
    let first = server.send(&Request::get(path)).await.json();
    assert_eq!(first["items"].as_array().unwrap().len(), 2);
    let next = first["next"].as_str().unwrap();
    let request = Request::get(&format!("/threads/open-1/links?prefix=https&after={next}"));
    let last = server.send(&request).await.json();
    assert_eq!(last["items"][0]["position"], 3);
    assert_eq!(last["next"], Value::Null);
    for path in ["/threads/open-1/links?after=", "/threads/open-2/links?prefix=https&after="] {
        let foreign = Request::get(&format!("{path}{next}"));
        server.expect(foreign, BAD_REQUEST).await;
    }
}

#[tokio::test]
async fn the_document_describes_the_operations_and_scopes_of_a_host() {
    let document = server().api.openapi();
    let add = &document["paths"]["/threads/{threadId}/links"]["post"];
    assert_eq!(add["operationId"], "addLink");
    assert_eq!(add["x-ratelimit-cost"], 7);
    assert_eq!(add["x-field-scopes"]["subscribe"], "subscriptions:write");
    assert!(add["responses"]["201"]["headers"]["location"].is_object());
    assert_eq!(document["info"]["x-scopes"]["links:write"], "Add links.");
    let remove = &document["paths"]["/threads/{threadId}/links/{position}"]["delete"];
    let names = |operation: &Value| -> Vec<_> {
        let parameters = operation["parameters"].as_array().unwrap().iter();
        let names = parameters.map(|one| resolve_ref(&document, one)["name"].clone());
        names.collect()
    };
    assert_eq!(names(remove), ["threadId", "position"]);
    let list = &document["paths"]["/threads/{threadId}/links"]["get"];
    assert_eq!(names(list), ["threadId", "prefix", "limit", "after", "If-None-Match"]);
    assert!(document["tags"].as_array().unwrap().iter().any(|tag| tag["name"] == "links"));
}

/// A body with the name of a schema of the library.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename = "Author", deny_unknown_fields)]
struct StarredAuthor {
    stars: u8,
}

impl Body for StarredAuthor {
    fn example() -> Self {
        Self { stars: 5 }
    }
}

/// A body that contains `Labels`, and a response that contains it.
#[derive(Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Labelled {
    labels: Labels,
}

#[derive(Default, Deserialize, Serialize, JsonSchema)]
struct Labels {
    #[serde(default)]
    names: Vec<String>,
}

impl Body for Labelled {
    fn example() -> Self {
        Self::default()
    }
}

impl Resource for Labelled {}

/// A response with the name that the schema of [`StarredAuthor`] would get.
#[derive(Default, Serialize, JsonSchema)]
#[serde(rename = "AuthorInput")]
struct StarCount {
    count: u8,
}

impl Resource for StarCount {}

#[tokio::test]
async fn a_schema_of_a_hosts_body_does_not_replace_a_schema_of_a_response() {
    let links = Arc::new(Links::default());
    let scope = Scope::THREADS_READ;
    let operations = vec![
        Operation::post("/x/stars", "addStars", scope)
            .summary("Adds stars.")
            .no_content(&links, |_, _: &Caller, (), Json(_): Json<StarredAuthor>| {
                Box::pin(async { Ok(()) })
            }),
        Operation::put("/x/labels", "setLabels", scope).summary("Sets the labels.").ok(
            &links,
            |_, _: &Caller, (), Json(labelled): Json<Labelled>| {
                Box::pin(async { Ok(NoForum(labelled)) })
            },
            Labelled::default,
        ),
        Operation::get("/x/stars", "countStars", scope).summary("Counts the stars.").ok(
            &links,
            |_, _: &Caller, (), ()| Box::pin(async { Ok(NoForum(StarCount::default())) }),
            StarCount::default,
        ),
    ];
    let plain = Server::new().api.openapi();
    let document = with_operations(operations).api.openapi();
    let schemas = &document["components"]["schemas"];
    assert_eq!(schemas["Author"], plain["components"]["schemas"]["Author"]);
    let stars = &document["paths"]["/x/stars"]["post"]["requestBody"]["content"]["application/json"]
        ["schema"]["$ref"];
    assert_eq!(stars, "#/components/schemas/AuthorInputInput");
    assert!(schemas["AuthorInputInput"]["properties"]["stars"].is_object());
    assert!(schemas["AuthorInput"]["properties"]["count"].is_object());
    assert_eq!(schemas["Labels"]["required"][0], "names");
    assert!(schemas["LabelsInput"].get("required").is_none());
    for (schema, labels) in [("LabelledInput", "LabelsInput"), ("Labelled", "Labels")] {
        let labels = format!("#/components/schemas/{labels}");
        assert_eq!(schemas[schema]["properties"]["labels"]["$ref"], labels);
    }
    assert!(!document.to_string().contains("#/components/inputs"));
}

/// Number of reads that ran.
#[derive(Default)]
struct Reads(AtomicUsize);

fn count_read(path: &'static str, id: &'static str, reads: &Arc<Reads>) -> Operation {
    Operation::get(path, id, Scope::THREADS_READ)
        .summary("Counts the requests for a thread.")
        .with_side_effects()
        .ok(
            reads,
            |reads, _: &Caller, thread: ThreadId, ()| {
                Box::pin(async move {
                    let count = reads.0.fetch_add(1, Ordering::Relaxed) + 1;
                    Ok(InForum::new(forum(&thread), Count { count }))
                })
            },
            || Count { count: 1 },
        )
}

#[tokio::test]
async fn a_get_with_side_effects_runs_neither_for_a_hidden_resource_nor_for_head() {
    let reads = Arc::new(Reads::default());
    let operation = count_read("/threads/{threadId}/reads", "countRead", &reads);
    let server = with_operations(vec![operation]);
    let path = |thread| format!("/threads/{thread}/reads");
    for thread in ["staff-1", "absent-1"] {
        let links = Request::get(&path(thread));
        server.expect(links, PATH_NOT_FOUND).await;
    }
    assert_eq!(reads.0.load(Ordering::Relaxed), 0);
    let outcome = server.outcome(Request::get(&path("open-1"))).await;
    assert_eq!((outcome, reads.0.load(Ordering::Relaxed)), ((200, None), 1));
    let head = Request::new("HEAD", &path("open-1"));
    assert_eq!(server.send(&head).await.status, 404);
    let calls = reads.0.load(Ordering::Relaxed);
    assert_eq!(calls, 1, "HEAD has no side effects");
}

#[test]
fn the_document_has_the_statuses_of_an_operation_of_a_host() {
    let links = Arc::new(Links::default());
    let scope = Scope::THREADS_READ;
    let operations = vec![
        Operation::get("/x/newest", "getNewestLink", scope).summary("Returns the newest link.").ok(
            &links,
            |links, _: &Caller, (), ()| Box::pin(links.add(ThreadId::from(17), Body::example())),
            example,
        ),
        Operation::post("/x/resets", "resetLinks", scope)
            .summary("Removes all links.")
            .no_content(&links, |_, _: &Caller, (), ()| Box::pin(async { Ok(()) })),
        count(Operation::post("/x/counts", "countAll", scope).board_errors(&[]), &links),
    ];
    let document = with_operations(operations).api.openapi();
    let newest = &document["paths"]["/x/newest"]["get"]["responses"]["404"];
    assert_eq!(newest["$ref"], "#/components/responses/NotFound");
    for (path, status) in [("/x/resets", "204"), ("/x/counts", "200")] {
        let response = &document["paths"][path]["post"]["responses"][status];
        assert_eq!(response["description"], "Success.");
    }
    let counts = &document["paths"]["/x/counts"]["post"]["responses"];
    let used_key = "#/components/responses/Conflict";
    assert_eq!(counts["409"]["$ref"], used_key, "the library returns it");
    assert!(counts["422"].is_null(), "{counts}");
    let resets = &document["paths"]["/x/resets"]["post"]["responses"];
    assert!(resets["422"].is_object(), "{resets}");
}

#[tokio::test]
async fn the_compact_surface_has_no_operation_of_a_host() {
    let environment = Environment::default().surface(Surface::Compact).scope(LINKS_WRITE);
    let server = server_in(environment, operations(&Arc::default()));
    server.expect(Request::get("/x/links"), NO_SUCH_ROUTE).await;
    assert!(!server.api.openapi().to_string().contains("links"));
}

#[tokio::test]
async fn an_omitted_operation_is_an_unknown_route_and_an_omitted_topic_is_unknown() {
    let omitted = ["getPoll", "vote", "updatePoll", "deletePost"];
    let environment =
        Environment::default().omit_operations(omitted).omit_topics([Topic::POLL_VOTED]);
    let server = Server::within(environment, settings());
    let alice = server.token("alice").await;
    let post = "/threads/open-1/posts/open-1-1";
    for (method, path) in [
        ("GET", "/threads/open-1/poll"),
        ("HEAD", "/threads/open-1/poll"),
        ("POST", "/polls/open-1/votes"),
        ("PATCH", "/polls/open-1"),
        ("DELETE", post),
    ] {
        let request = Request::new(method, path).json(r#"{"optionIds":["1"]}"#);
        let status = server.send(&request.bearer(&alice)).await.status;
        assert_eq!(status, 404, "{method} {path}");
        let outcome = server.outcome(Request::new(method, path)).await;
        if method != "HEAD" {
            assert_eq!(outcome, NO_SUCH_ROUTE, "{method} {path}");
        }
    }
    assert!(server.board.calls().is_empty());
    let edit = Request::new("PATCH", post).json(r#"{"body":"x"}"#);
    assert_eq!(server.send(&edit.bearer(&alice)).await.status, 200);

    let document = server.api.openapi();
    let paths = document["paths"].as_object().unwrap();
    assert!(!paths.keys().any(|path| path.contains("poll")), "{paths:?}");
    assert!(paths["/threads/{threadId}/posts/{postId}"]["delete"].is_null());
    let scopes = document["info"]["x-scopes"].as_object().unwrap();
    assert!(!scopes.contains_key("polls:write") && scopes.contains_key("posts:write"));
    let tags = document["tags"].as_array().unwrap();
    assert!(!tags.iter().any(|tag| tag["name"] == "polls"), "{tags:?}");
    let webhooks = document["webhooks"].as_object().unwrap();
    assert!(!webhooks.contains_key("poll.voted") && webhooks.contains_key("poll.updated"));
}

#[tokio::test]
async fn an_operation_of_a_host_can_replace_an_omitted_one() {
    let builder = Operation::get("/search", "search", Scope::SEARCH_READ);
    let search = count(builder, &Arc::default());
    let environment = Environment::default().omit_operations(["search"]).scope(Scope::SEARCH_READ);
    let api = ForumApi::builder(FullBoard::new(), Stores::in_memory())
        .environment(&environment)
        .operation(search)
        .build()
        .unwrap();
    let summary = &api.openapi()["paths"]["/search"]["get"]["summary"];
    assert_eq!(summary, "Counts all links");
}

#[test]
fn build_rejects_an_unknown_omitted_operation_or_topic() {
    let environment = Environment::default().omit_topics([Topic::PING]);
    let api = ForumApi::builder(FullBoard::new(), Stores::in_memory());
    let error = api.environment(&environment).build().unwrap_err();
    assert_eq!(error.setting(), "omit_topics");
    let expected = "invalid setting `omit_topics`: expected topics of the specification";
    assert_eq!(error.to_string(), expected);
    let environment = Environment::default().omit_operations(["getPolls"]);
    let api = ForumApi::builder(FullBoard::new(), Stores::in_memory());
    let error = api.environment(&environment).build().unwrap_err();
    assert_eq!(error.setting(), "omit_operations");
    let ids = "listForums, listThreads, getThread, getPoll, createThread, listPosts, createPost, updatePost, \
        deletePost, getMe, getMember, listMessages, openMessage, sendMessage, vote, updatePoll, rateMember, \
        listSubscriptions, subscribe, unsubscribe, search";
    let expected =
        format!("invalid setting `omit_operations`: expected one of {ids}, not \"getPolls\"");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn build_rejects_an_invalid_operation() {
    let count = |path: &'static str, id: &'static str, scope| {
        count(Operation::get(path, id, scope), &Arc::default())
    };
    let read = Scope::THREADS_READ;
    #[rustfmt::skip]
    let cases = [
        (count("/x/links", "getThread", read), "an id that no other operation has"),
        (count("/members/online", "online", read), "a path that matches no request of another operation; GET /members/{userId} does"),
        (count("/openapi.json", "document", read), "a path such as `/threads/{threadId}/links`"),
        (count("x/links", "links", read), "a path such as `/threads/{threadId}/links`"),
        (count("/x/links/", "links", read), "a path such as `/threads/{threadId}/links`"),
        (count("/x/{linkId}", "links", read), "a path with the variables of its handler ()"),
        (count("/{a}/{b}/{c}/{d}/{e}", "links", read), "a path with at most 4 variables"),
        (count("/x/links", "count links", read), "an id of letters and digits that begins with a letter"),
        (count("/x/links", "2links", read), "an id of letters and digits that begins with a letter"),
        (count("/x/links", "onPostCreated", read), "an id that does not begin with `on` and a capital letter, as ids of webhooks do"),
        (count("/x/links", "links", LINKS_WRITE), "a scope that `Environment::scope` adds"),
    ];
    for (operation, expected) in cases {
        assert_rejected(operation, expected);
    }
}

fn assert_rejected(operation: Operation, expected: &str) {
    let api = ForumApi::builder(FullBoard::new(), Stores::in_memory());
    let error = api.operation(operation).build().unwrap_err();
    assert_eq!(error.setting(), "operation");
    let begin = format!("invalid setting `operation`: expected {expected}, for ");
    assert!(error.to_string().starts_with(&begin), "{error}");
}

/// A body with a scope that the environment does not have.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Scoped {}

impl Body for Scoped {
    fn example() -> Self {
        Self {}
    }

    fn field_scope() -> Option<FieldScope<Self>> {
        Some(FieldScope::new("field", LINKS_WRITE, |_| true))
    }
}

/// Parameters that accept unknown ones.
#[derive(Deserialize, JsonSchema)]
struct LenientParams {}

/// A filter that every request of a list would set.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LimitFilter {
    limit: u8,
}

#[test]
fn build_rejects_an_operation_whose_types_contradict_its_description() {
    let links = Arc::new(Links::default());
    let scope = Scope::THREADS_READ;
    let get = |path| Operation::get(path, "links", scope).summary("Reads links.");
    let put = |path| Operation::put(path, "links", scope).summary("Changes links.");
    let count = || Count { count: 1 };
    #[rustfmt::skip]
    let cases = [
        (
            get("/x/links").created(&links, |links, _: &Caller, (), ()| Box::pin(links.count(0)), count),
            "the status 200 for GET",
        ),
        (
            get("/x/links").ok(&links, |links, _: &Caller, (), Json(_): Json<NewLink>| Box::pin(links.count(0)), count),
            "a body only for POST, PUT and PATCH",
        ),
        (
            get("/x/links").tag(Tag::new("webhooks", "Own.")).ok(&links, |links, _: &Caller, (), ()| Box::pin(links.count(0)), count),
            "a tag other than `webhooks`, which the webhooks have",
        ),
        (
            put("/x/links").ok(&links, |_, _: &Caller, (), ()| Box::pin(async { Ok(()) }), || ()),
            "a result with a body, or the status 204",
        ),
        (
            get("/x/{threadId}").ok(
                &links,
                |links, _: &Caller, thread: ThreadId, ()| Box::pin(links.list(thread, List::new(LinkFilter { prefix: None }))),
                || CursorPage::example([example()]),
            ),
            "a page as the result of a list, and only of a list",
        ),
        (
            get("/x/{threadId}").ok(
                &links,
                |links, _: &Caller, thread: ThreadId, list: List<LimitFilter>| {
                    let prefix = Some(list.filter.limit.to_string());
                    Box::pin(links.list(thread, List::new(LinkFilter { prefix })))
                },
                || CursorPage::example([example()]),
            ),
            "filters of a list without the names `limit` and `after`",
        ),
        (
            put("/threads/{id}").ok(&links, |links, _: &Caller, _: ThreadId, ()| Box::pin(links.count(0)), count),
            "the variables of the same path in /threads/{threadId}",
        ),
        (
            put("/x/{threadId}/{position}/{threadId}").no_content(&links, |links, _: &Caller, path: LinkPath, ()| Box::pin(links.remove(path))),
            "a path whose variables have different names",
        ),
        (
            put("/x/{threadId}").no_content(&links, |links, _: &Caller, path: LinkPath, ()| Box::pin(links.remove(path))),
            "a path with the variables of its handler (threadId, position)",
        ),
        (
            get("/x/links").ok(&links, |links, _: &Caller, (), Query(LenientParams {})| Box::pin(links.count(0)), count),
            "an input with `#[serde(deny_unknown_fields)]`",
        ),
        (
            get("/x/links").tag(Tag::new("threads", "Own.")).ok(&links, |links, _: &Caller, (), ()| Box::pin(links.count(0)), count),
            "the same description of its tag in all operations",
        ),
        (
            get("/x/links").summary("Reads links").ok(&links, |links, _: &Caller, (), ()| Box::pin(links.count(0)), count),
            "a summary that is a sentence with a period",
        ),
        (
            get("/x/links").cost(0).ok(&links, |links, _: &Caller, (), ()| Box::pin(links.count(0)), count),
            "a cost of 1 to 100 units",
        ),
        (
            get("/x/links").cost(101).ok(&links, |links, _: &Caller, (), ()| Box::pin(links.count(0)), count),
            "a cost of 1 to 100 units",
        ),
        (
            put("/x/links").ok(&links, |links, _: &Caller, (), Json(_): Json<Scoped>| Box::pin(links.count(0)), count),
            "a scope that `Environment::scope` adds",
        ),
    ];
    for (operation, expected) in cases {
        assert_rejected(operation, expected);
    }
}

#[test]
fn build_accepts_operations_at_the_bounds() {
    let links = Arc::new(Links::default());
    let dearest = Operation::get("/x/all-links_2", "onlineLinks2", Scope::THREADS_READ).cost(100);
    with_operations(vec![count(dearest, &links)]);
    let error = ForumApi::builder(FullBoard::new(), Stores::in_memory())
        .operation(count(Operation::post("/x/links", "onLinks", Scope::THREADS_READ), &links))
        .build()
        .unwrap_err();
    assert!(error.to_string().ends_with(", for onLinks POST /x/links"), "{error}");
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
struct LinkName(String);

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Colour {
    Red,
    Mixed { red: u8 },
}

/// A body and a query with fields of many types.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Sample {
    #[serde(skip_serializing_if = "Option::is_none")]
    small: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signed: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    large: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<LinkName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    colour: Option<Colour>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pair: Option<(u8, u8)>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    counts: BTreeMap<u32, u32>,
}

impl Resource for Sample {}

impl Body for Sample {
    fn example() -> Self {
        Self::default()
    }
}

#[derive(Deserialize, JsonSchema)]
struct SamplePath {
    name: LinkName,
    position: i32,
}

impl PathParams for SamplePath {
    fn resource(&self) -> ResourceRef<'_> {
        ResourceRef::Global
    }
}

/// Operations that return their input.
fn samples() -> Vec<Operation> {
    let links = Arc::new(Links::default());
    let scope = Scope::THREADS_READ;
    vec![
        Operation::post("/x/samples", "postSample", scope).summary("Returns the body.").ok(
            &links,
            |_, _: &Caller, (), Json(sample): Json<Sample>| Box::pin(async { Ok(NoForum(sample)) }),
            Sample::default,
        ),
        Operation::get("/x/samples", "querySample", scope).summary("Returns the query.").ok(
            &links,
            |_, _: &Caller, (), Query(sample): Query<Sample>| {
                Box::pin(async { Ok(NoForum(sample)) })
            },
            Sample::default,
        ),
        Operation::get("/x/samples/{name}/{position}", "getSample", scope)
            .summary("Returns the path.")
            .ok(
                &links,
                |_, _: &Caller, path: SamplePath, ()| {
                    Box::pin(async move {
                        Ok(NoForum(Sample {
                            name: Some(path.name),
                            signed: Some(path.position),
                            ..Sample::default()
                        }))
                    })
                },
                Sample::default,
            ),
    ]
}

#[tokio::test]
async fn types_of_a_host_have_fields_of_many_types() {
    let server = with_operations(samples());
    for body in [
        r#"{"small":255,"signed":-3,"large":18446744073709551615,"ratio":1.5}"#,
        r#"{"name":"a","colour":"red","pair":[1,2],"counts":{"7":8}}"#,
        r#"{"colour":{"mixed":{"red":1}}}"#,
    ] {
        let response = server.send(&Request::post("/x/samples", body)).await;
        let sent = (response.status, &*response.body);
        assert_eq!(sent, (200, body.as_bytes()), "{response:?}");
    }
    for (path, expected) in [
        (
            "/x/samples?small=3&signed=-3&large=18446744073709551615&ratio=-1.5&name=a",
            r#"{"small":3,"signed":-3,"large":18446744073709551615,"ratio":-1.5,"name":"a"}"#,
        ),
        ("/x/samples/a/-1", r#"{"signed":-1,"name":"a"}"#),
    ] {
        let response = server.send(&Request::get(path)).await;
        assert_eq!(&*response.body, expected.as_bytes(), "{path}");
    }
    let absent = Request::get("/x/samples/a/2147483648");
    server.expect(absent, PATH_NOT_FOUND).await;
}

#[tokio::test]
async fn a_guest_cannot_send_an_idempotency_key() {
    let server = with_operations(samples());
    let alice = server.token("alice").await;
    let keyed = Request::post("/x/samples", r#"{"small":1}"#).key("k");
    let refused = server.expect(keyed.clone(), BAD_REQUEST).await;
    assert_eq!(message(&refused), "idempotency-key: expected a request with a token");
    for is_repeated in [false, true] {
        let response = server.send(&keyed.clone().bearer(&alice)).await;
        assert_eq!((response.status, is_replay(&response)), (200, is_repeated));
    }
}

#[tokio::test]
async fn an_error_of_a_hosts_type_names_the_field_and_does_not_repeat_the_input() {
    let server = with_operations(samples());
    let long = "secret".repeat(20);
    for (body, expected) in [
        (format!(r#"{{"small":"{long}"}}"#), "small: expected a whole number"),
        (r#"{"small":256}"#.into(), "small: expected a number within the bounds of the field"),
        (r#"{"large":1e30}"#.into(), "large: expected a number within the bounds of the field"),
        (format!(r#"{{"ratio":"{long}"}}"#), "ratio: expected a number"),
        (r#"{"name":1}"#.into(), "name: expected text"),
        (format!(r#"{{"colour":"{long}"}}"#), "colour: expected one of red, mixed"),
        (r#"{"colour":{"mixed":{"red":"x"}}}"#.into(), "colour.mixed.red: expected a whole number"),
        (r#"{"pair":[1]}"#.into(), "pair: expected a tuple of size 2"),
        (format!(r#"{{"counts":{{"{long}":1}}}}"#), "counts: expected a whole number"),
        (r#"{"counts":{"7":1,"7":2}}"#.into(), "counts.7: given more than once"),
    ] {
        let response = server.send(&Request::post("/x/samples", &body)).await;
        assert_eq!(outcome(&response), BAD_REQUEST);
        assert_eq!(message(&response), expected);
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Tags {
    /// Tags of the post.
    tags: Vec<String>,
}

/// Fields with the name of a schema of the library.
#[derive(Deserialize, JsonSchema)]
#[serde(rename = "PostInput", deny_unknown_fields)]
struct Stars {
    #[expect(dead_code, reason = "only the schema is used")]
    stars: u8,
}

#[test]
fn extra_fields_can_have_the_name_of_a_schema_of_the_library() {
    let api = ForumApi::builder(FullBoard::new(), Stores::in_memory())
        .extra::<Stars>(ExtraOf::NewThread)
        .extra::<Stars>(ExtraOf::NewPost);
    let document = api.build().unwrap().openapi();
    for path in ["/forums/{forumId}/threads", "/threads/{threadId}/posts"] {
        let declared = &document["paths"][path]["post"]["requestBody"];
        let schema = &declared["content"]["application/json"]["schema"];
        let body = referenced(&document, schema);
        assert!(body["properties"]["body"].is_object(), "{path}");
        let extra = referenced(&document, &body["properties"]["extra"]);
        let fields: Vec<_> = extra["properties"].as_object().unwrap().keys().collect();
        assert_eq!(fields, ["stars"], "{path}");
    }
}

#[test]
fn extra_fields_belong_to_their_body() {
    let bodies = [
        (ExtraOf::NewThread, "/forums/{forumId}/threads", "post"),
        (ExtraOf::NewPost, "/threads/{threadId}/posts", "post"),
        (ExtraOf::PostUpdate, "/threads/{threadId}/posts/{postId}", "patch"),
        (ExtraOf::NewMessage, "/messages", "post"),
    ];
    for (of, ..) in bodies {
        let api = ForumApi::builder(FullBoard::new(), Stores::in_memory()).extra::<Stars>(of);
        let document = api.build().unwrap().openapi();
        let has_extra = |path: &str, method: &str| {
            let declared = &document["paths"][path][method]["requestBody"];
            let schema = &declared["content"]["application/json"]["schema"];
            referenced(&document, schema)["properties"].get("extra").is_some()
        };
        let with_extra = bodies.iter().filter(|(_, path, method)| has_extra(path, method));
        assert_eq!(with_extra.map(|(of, ..)| *of).collect::<Vec<_>>(), [of]);
    }
}

fn referenced<'a>(document: &'a Value, schema: &Value) -> &'a Value {
    let reference = schema["$ref"].as_str().unwrap();
    let pointer = reference.strip_prefix('#').unwrap();
    document.pointer(pointer).unwrap()
}

#[tokio::test]
async fn a_list_of_a_host_can_have_no_filters() {
    let list = Operation::get("/x/links", "listAllLinks", Scope::THREADS_READ)
        .summary("Lists all links.")
        .ok(
            &Arc::new(Links::default()),
            |_, _: &Caller, (), list: List<()>| {
                Box::pin(async move {
                    let links = (1..=3).map(|position| Link { position, ..example() });
                    Ok(NoForum(list.page(links, |link| [link.position as i64])?))
                })
            },
            || CursorPage::example([example()]),
        );
    let server = with_operations(vec![list]);
    let first = server.send(&Request::get("/x/links?limit=2")).await.json();
    let next = format!("/x/links?after={}", first["next"].as_str().unwrap());
    let last = server.send(&Request::get(&next)).await.json();
    assert_eq!(last["items"][0]["position"], 3);
    let unknown = server.send(&Request::get("/x/links?prefix=a")).await;
    assert_eq!(message(&unknown), "prefix: unknown field or parameter");
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FromFilter {
    from: Option<String>,
}

/// Only in the list of posts does `from` select the first page.
#[tokio::test]
async fn the_link_of_a_list_of_a_host_keeps_its_filter_from() {
    let list = Operation::get("/x/links", "listAllLinks", Scope::THREADS_READ)
        .summary("Lists all links.")
        .ok(
            &Arc::new(Links::default()),
            |_, _: &Caller, (), list: List<FromFilter>| {
                Box::pin(async move {
                    let links = (1..=3).map(|position| Link { position, ..example() });
                    Ok(NoForum(list.page(links, |link| [link.position as i64])?))
                })
            },
            || CursorPage::example([example()]),
        );
    let server = with_operations(vec![list]);
    let first = server.send(&Request::get("/x/links?limit=2&from=a")).await;
    let link = first.header("link").unwrap();
    assert!(link.contains("?limit=2&from=a&after="), "{link}");
    let next = Request::exact("GET", &link[1..link.find('>').unwrap()]);
    assert_eq!(server.send(&next).await.json()["items"][0]["position"], 3);
}

/// A board that keeps the `extra` of the last post.
#[derive(Default)]
struct TaggedBoard(Mutex<Option<Tags>>);

#[async_trait]
impl Board for TaggedBoard {
    async fn containing_forum(&self, _: &Caller, _: ResourceRef<'_>) -> BoardResult<ForumId> {
        Ok(ForumId::parse("open").unwrap())
    }

    async fn create_post(
        &self,
        _: &MemberCaller,
        _: ThreadId,
        new: NewPost,
    ) -> BoardResult<InForum<Post>> {
        let extra = new.extra.as_ref();
        *self.0.lock().unwrap() = extra.map(|extra| extra.downcast_ref::<Tags>().unwrap().clone());
        Err(BoardError::validation("body", "not written"))
    }
}

#[tokio::test]
async fn extra_fields_of_a_body_are_decoded_into_the_type_of_the_host() {
    let authorizer = FullBoard::new();
    let board = Arc::<TaggedBoard>::default();
    let stores = Stores::in_memory();
    let host = Host::new(authorizer, board.clone());
    let builder = ForumApi::builder(host, stores.clone()).settings(settings());
    let api = builder.extra::<Tags>(ExtraOf::NewPost).build().unwrap();
    let mut server = Server::new();
    (server.api, server.stores) = (api, stores);
    let alice = server.token("alice").await;
    let tagged = Tags { tags: vec!["tea".into()] };
    for (extra, expected) in [
        (r#","extra":{"tags":["tea"]}"#, Ok(Some(tagged))),
        ("", Ok(None)),
        (r#","extra":null"#, Ok(None)),
        (r#","extra":{"tags":[1]}"#, Err("extra.tags[0]: expected text")),
        (r#","extra":{"tag":"tea"}"#, Err("extra.tag: unknown field")),
        (r#","extra":{"tags":[]},"extra":null"#, Err("extra: given more than once")),
    ] {
        let body = format!(r#"{{"body":"x"{extra}}}"#);
        let request = Request::post("/threads/open-1/posts", &body);
        let response = server.send(&request.bearer(&alice)).await;
        match expected {
            Ok(tags) => assert_eq!((response.status, board.0.lock().unwrap().take()), (422, tags)),
            Err(text) => {
                assert_eq!(outcome(&response), BAD_REQUEST);
                assert!(message(&response).starts_with(text), "{response:?}");
            }
        }
    }
    let thread = r#"{"title":"x","body":"x","extra":{"tags":[]}}"#;
    let other = Request::post("/forums/open/threads", thread);
    server.expect(other.bearer(&alice), BAD_REQUEST).await;
    let schemas = &server.api.openapi()["components"]["schemas"];
    let extra = &schemas["PostInput"]["properties"]["extra"];
    assert_eq!(extra["$ref"], "#/components/schemas/Tags");
    assert!(schemas["ThreadInput"]["properties"].get("extra").is_none());
}
