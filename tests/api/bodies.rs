//! Strict decoding of bodies (`docs/protocol.md`, section 5.4).

use crate::support::*;

const THREAD: &str = "POST /forums/open/threads";
const REPLY: &str = "POST /threads/open-1/posts";
const EDIT: &str = "PATCH /threads/open-1/posts/open-1-1";
const RATE: &str = "POST /members/bob/reputation";
const SEND: &str = "POST /messages";
const VOTE: &str = "POST /polls/open-1/votes";
const POLL: &str = "PATCH /polls/open-1";
const FOLLOW: &str = "POST /subscriptions";

pub(crate) fn request(endpoint: &str, body: &str) -> Request {
    let (method, path) = endpoint.split_once(' ').unwrap();
    Request::new(method, path).json(body)
}

#[rustfmt::skip]
pub(crate) const REJECTED: &[(&str, &str, &str)] = &[
    (REPLY, "", "body: expected a request body in JSON"),
    (REPLY, "{", "body: expected a request body in JSON"),
    (REPLY, "{}x", "body: expected a request body in JSON"),
    (REPLY, "{} {}", "body: expected a request body in JSON"),
    (REPLY, "{'body':'x'}", "body: expected a request body in JSON"),
    (REPLY, r#"{"body":"x",}"#, "body: expected a request body in JSON"),
    (REPLY, r#"{"body":"a\ud83db"}"#, "body: expected texts without half of a surrogate pair"),
    (REPLY, r#"{"body":"\udf75\ud83c"}"#, "body: expected texts without half of a surrogate pair"),
    (REPLY, r#"{"\ud83c\u0041":1}"#, "body: expected texts without half of a surrogate pair"),
    (REPLY, r#"{"body":"\\ud800"#, "body: expected a request body in JSON"),
    (REPLY, r#"{"body":"\ud83c\udf75\ud8"#, "body: expected a request body in JSON"),
    (REPLY, r#"{"body":NaN}"#, "body: expected a request body in JSON"),
    (REPLY, r#"{"body":1e400}"#, "body: expected a request body in JSON"),
    (REPLY, "\u{feff}{}", "body: expected a request body in JSON"),
    (REPLY, "null", "body: expected an object"),
    (REPLY, "[]", "body: expected an object"),
    (REPLY, r#"["x",false]"#, "body: expected an object"),
    (REPLY, r#""x""#, "body: expected an object"),
    (REPLY, "5", "body: expected an object"),
    (REPLY, r#"{"body":null}"#, "body: expected text"),
    (REPLY, r#"{"body":5}"#, "body: expected text"),
    (REPLY, r#"{"body":["x"]}"#, "body: expected text"),
    (REPLY, r#"{"body":"a\u0000b"}"#, "body: expected text without U+0000 or a byte-order mark"),
    (REPLY, r#"{"body":"\ufeffb"}"#, "body: expected text without U+0000 or a byte-order mark"),
    (REPLY, r#"{"body":"x","body":"y"}"#, "body: given more than once"),
    (REPLY, r#"{"body":"x","\u0062ody":"y"}"#, "body: given more than once"),
    (REPLY, r#"{"body":"x","html":"y"}"#, "html: unknown field or parameter"),
    (REPLY, r#"{"Body":"x"}"#, "Body: unknown field or parameter"),
    (REPLY, r#"{"body":"x","subscribe":"true"}"#, "subscribe: expected true or false"),
    (REPLY, r#"{"body":"x","subscribe":1}"#, "subscribe: expected true or false"),
    (REPLY, r#"{"body":"x","subscribe":null,"subscribe":true}"#, "subscribe: given more than once"),
    (THREAD, r#"{"poll":{"options":[],"maxChoices":null,"maxChoices":2}}"#, "poll.maxChoices: given more than once"),
    (REPLY, r#"{"body":"x","html":null}"#, "html: unknown field or parameter"),
    (REPLY, r#"{"$schema":"x"}"#, "$schema: unknown field or parameter"),
    (THREAD, r#"{"poll":[]}"#, "poll: expected an object"),
    (THREAD, r#"{"poll":{"question":"?"}}"#, "poll.options: required"),
    (THREAD, r#"{"poll":{"options":{}}}"#, "poll.options: expected a list"),
    (THREAD, r#"{"poll":{"options":["a",null]}}"#, "poll.options[1]: expected text"),
    (THREAD, r#"{"poll":{"options":[],"votes":1}}"#, "poll.votes: unknown field or parameter"),
    (THREAD, r#"{"poll":{"options":[],"maxChoices":"1"}}"#, "poll.maxChoices: expected a whole number"),
    (THREAD, r#"{"poll":{"options":[],"maxChoices":1.5}}"#, "poll.maxChoices: expected a whole number"),
    (THREAD, r#"{"poll":{"options":[],"closesAt":5}}"#, "poll.closesAt: expected text"),
    (THREAD, r#"{"poll":{"options":[],"closesAt":"soon"}}"#, "poll.closesAt: expected an RFC 3339 time, for example 2026-01-31T12:00:00Z"),
    (EDIT, "{}", "body: expected at least one change"),
    (EDIT, r#"{"reason":"typo","expectedVersion":1}"#, "body: expected at least one change"),
    (EDIT, r#"{"body":null,"title":null}"#, "body: expected at least one change"),
    (EDIT, r#"{"title":["x"]}"#, "title: expected text"),
    (REPLY, r#"{"body":"x","inReplyTo":5}"#, "inReplyTo: expected text"),
    (EDIT, r#"{"expectedVersion":1}"#, "body: expected at least one change"),
    (EDIT, r#"{"body":"x","expectedVersion":"1"}"#, "expectedVersion: expected a whole number"),
    (EDIT, r#"{"body":"x","expectedVersion":true}"#, "expectedVersion: expected a whole number"),
    (RATE, "{}", "points: required"),
    (RATE, r#"{"points":null}"#, "points: expected a whole number"),
    (RATE, r#"{"points":"1"}"#, "points: expected a whole number"),
    (RATE, r#"{"points":1,"postId":5}"#, "postId: expected text"),
    (SEND, "{}", "to: required"),
    (SEND, r#"{"to":"bob"}"#, "to: expected a list"),
    (SEND, r#"{"to":{"0":"bob"}}"#, "to: expected a list"),
    (SEND, r#"{"to":["bob",5]}"#, "to[1]: expected text"),
    (SEND, r#"{"to":["bob"],"requestReceipt":"yes"}"#, "requestReceipt: expected true or false"),
    (VOTE, "{}", "optionIds: required"),
    (VOTE, r#"{"optionIds":null}"#, "optionIds: expected a list"),
    (VOTE, r#"{"optionIds":[1]}"#, "optionIds[0]: expected text"),
    (POLL, "{}", "body: expected at least one change"),
    (POLL, r#"{"expectedVersion":1}"#, "body: expected at least one change"),
    (POLL, r#"{"question":null}"#, "body: expected at least one change"),
    (POLL, r#"{"options":[{"optionId":"1"}]}"#, "options[0].text: required"),
    (POLL, r#"{"options":[{"text":"a","votes":1}]}"#, "options[0].votes: unknown field or parameter"),
    (POLL, r#"{"options":["a"]}"#, "options[0]: expected an object"),
    (FOLLOW, "{}", "target: required"),
    (FOLLOW, r#"{"target":"thread"}"#, "targetId: required"),
    (FOLLOW, r#"{"target":"post","targetId":"1"}"#, "target: expected one of thread, forum"),
    (FOLLOW, r#"{"target":5,"targetId":"1"}"#, "target: expected text"),
    (FOLLOW, r#"{"target":{"thread":5},"targetId":"1"}"#, "target.thread: expected text"),
    (FOLLOW, r#"{"target":"thread","targetId":1}"#, "targetId: expected text"),
];

#[tokio::test]
async fn an_invalid_body_is_a_400_whose_message_names_the_field() {
    let (server, alice) = Server::with_alice().await;
    let nested = format!(r#"{{"body":{}{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
    let cases = REJECTED.iter().copied();
    for (endpoint, body, expected) in
        cases.chain([(REPLY, &*nested, "body: expected a request body in JSON")])
    {
        let response = server.send(&request(endpoint, body).bearer(&alice)).await;
        assert_eq!(outcome(&response), BAD_REQUEST, "{endpoint} {body}");
        assert_eq!(message(&response), expected, "{endpoint} {body}");
    }
    for row in ROWS.iter().filter(|row| !row.body.is_empty()) {
        for field in ["userId", "state", "isAdmin", "version", "__proto__"] {
            let body = format!(r#"{},"{field}":"admin"}}"#, row.body.trim_end_matches('}'));
            let request = Request::new(row.method, row.path).json(&body);
            server.expect(request.bearer(&alice), BAD_REQUEST).await;
        }
    }
    assert!(server.board.calls().is_empty());
}

#[rustfmt::skip]
const ACCEPTED: &[(&str, &str, &str)] = &[
    (THREAD, "{}", r#"NewThread { title: "", body: "", poll: None, subscribe: false, extra: None }"#),
    (THREAD, r#"{"poll":null}"#, "poll: None"),
    (THREAD, r#"{"poll":{"options":[]}}"#, r#"NewPoll { question: "", options: [], max_choices: 1, can_change_vote: false, closes_at: None }"#),
    (THREAD, r#"{"poll":{"options":[],"closesAt":null,"maxChoices":-5}}"#, "max_choices: -5, can_change_vote: false, closes_at: None"),
    (REPLY, "{}", r#"NewPost { body: "", in_reply_to: None, subscribe: false, extra: None }"#),
    (REPLY, r#"{"body":"x","inReplyTo":null}"#, "in_reply_to: None"),
    (REPLY, r#"{"body":"x","inReplyTo":"40"}"#, "in_reply_to: Some(PostId(40))"),
    (REPLY, r#"{"body":"x","inReplyTo":"a/b"}"#, "in_reply_to: Some(PostId())"),
    (RATE, r#"{"points":2.0}"#, "points: 2,"),
    (RATE, r#"{"points":2e1}"#, "points: 20,"),
    (EDIT, r#"{"body":"x","expectedVersion":10e-1}"#, "expected_version: Some(1)"),
    (POLL, r#"{"maxChoices":-0.0}"#, "max_choices: Some(0)"),
    (REPLY, " \n{\"body\" : \"\\n\\ud83c\\udf75\"}\t", r#"body: "\n🍵""#),
    (EDIT, r#"{"body":"","reason":null,"expectedVersion":null}"#, r#"PostUpdate { body: Some(""), title: None, reason: None, expected_version: None, extra: None }"#),
    (EDIT, r#"{"title":""}"#, r#"PostUpdate { body: None, title: Some(""), "#),
    (EDIT, r#"{"body":"x","expectedVersion":99999999999999999999}"#, "expected_version: Some(9223372036854775807)"),
    (RATE, r#"{"points":-1e30}"#, "points: -9223372036854775808"),
    (RATE, r#"{"points":0,"postId":null}"#, r#"NewRating { points: 0, comment: "", post_id: None }"#),
    (RATE, r#"{"points":1,"postId":"no id"}"#, "post_id: Some(PostId())"),
    (SEND, r#"{"to":[]}"#, r#"NewMessage { to: [], subject: "", body: "", request_receipt: false, extra: None }"#),
    (SEND, r#"{"to":["@bob","bob","no id","@"]}"#, r#"to: [Name("bob"), Id(UserId(bob)), Id(UserId()), Id(UserId())]"#),
    (VOTE, r#"{"optionIds":[]}"#, "option_ids: []"),
    (VOTE, r#"{"optionIds":["","1","007"]}"#, "option_ids: [OptionId(), OptionId(1), OptionId(007)]"),
    (POLL, r#"{"closesAt":null}"#, "closes_at: Clear"),
    (POLL, r#"{"closesAt":"1970-01-01T00:00:01Z"}"#, "closes_at: Set(Timestamp(1000))"),
    (POLL, r#"{"options":[{"optionId":null,"text":"a"},{"optionId":"1","text":"b"}]}"#, r#"[PollOptionUpdate { option_id: None, text: "a" }, PollOptionUpdate { option_id: Some(OptionId(1)), text: "b" }]"#),
    (FOLLOW, r#"{"target":"forum","targetId":"../x"}"#, "Forum(ForumId())"),
];

#[tokio::test]
async fn a_valid_body_reaches_the_board() {
    let (server, alice) = Server::with_alice().await;
    for (endpoint, body, expected) in ACCEPTED {
        let response = server.send(&request(endpoint, body).bearer(&alice)).await;
        let text = message(&response);
        assert_ne!(response.status, 400, "{endpoint} {body} {text}");
        let call = server.board.last_call();
        assert!(call.contains(expected), "{endpoint} {body} {call}");
    }
}

#[tokio::test]
async fn a_body_has_at_most_10000_values() {
    let (server, alice) = Server::with_alice().await;
    let vote = |count: usize| format!(r#"{{"optionIds":["1"{}]}}"#, r#", "1""#.repeat(count - 3));
    let send = async |endpoint: &str, body: &str| {
        let response = server.send(&request(endpoint, body).bearer(&alice)).await;
        (response.status, message(&response))
    };
    let reply = format!(r#"{{"body":"{}"}}"#, "[1,".repeat(30_000));
    assert_eq!(send(REPLY, &reply).await.0, 201);
    let accepted = send(VOTE, &vote(10_000)).await;
    assert_ne!(accepted.0, 400, "{}", accepted.1);
    let expected = (400, "body: expected at most 10,000 JSON values".to_owned());
    let nested = format!(r#"{{"unknown":[[0]{}"#, ",[0]".repeat(5_000));
    for (endpoint, body) in [(VOTE, vote(10_001)), (FOLLOW, nested)] {
        assert_eq!(send(endpoint, &body).await, expected, "{endpoint}");
    }
}

/// A body with one field that is null, and the same body without the field.
pub(crate) struct NullCase {
    pub(crate) field: String,
    pub(crate) is_required: bool,
    pub(crate) null: Value,
    pub(crate) omitted: Value,
}

/// Returns a case for each field of a schema, also of objects in it, in which null does not remove a value. `root`
/// contains the schemas to which others refer.
pub(crate) fn null_cases(schema: &Value, root: &Value, body: &Value) -> Vec<NullCase> {
    let schema = resolve(schema, root);
    let required = schema["required"].as_array();
    let fields = schema["properties"].as_object().into_iter().flatten();
    let mut cases = Vec::new();
    for (name, field) in fields.filter(|(_, field)| field.get("x-null-removes").is_none()) {
        let with = |value: Value| {
            let mut body = body.clone();
            body[name] = value;
            body
        };
        let mut omitted = body.clone();
        omitted.as_object_mut().unwrap().remove(name);
        cases.push(NullCase {
            field: name.clone(),
            is_required: required.is_some_and(|names| names.contains(&json!(name))),
            null: with(Value::Null),
            omitted,
        });
        let field = resolve(field, root);
        let is_list = field["type"] == "array";
        let items = &field["items"];
        let item = if is_list { resolve(items, root) } else { field };
        let inner = null_cases(item, root, &example(item, root));
        let wrap = |value| with(if is_list { json!([value]) } else { value });
        cases.extend(inner.into_iter().map(|case| NullCase {
            field: format!("{name}.{}", case.field),
            null: wrap(case.null),
            omitted: wrap(case.omitted),
            ..case
        }));
    }
    cases
}

fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let choices = schema["anyOf"].as_array().into_iter().flatten();
    let choice = choices.into_iter().find(|choice| choice["type"] != "null");
    let schema = choice.unwrap_or(schema);
    match schema["$ref"].as_str() {
        Some(reference) => root.pointer(&reference[1..]).unwrap(),
        None => schema,
    }
}

/// Returns a value with the required fields of a schema.
fn example(schema: &Value, root: &Value) -> Value {
    let schema = resolve(schema, root);
    match schema["type"].as_str() {
        Some("object") => {
            let required = schema["required"].as_array().unwrap().iter();
            let fields = required.map(|name| {
                let name = name.as_str().unwrap();
                (name.to_owned(), example(&schema["properties"][name], root))
            });
            Value::Object(fields.collect())
        }
        Some("array") => json!([example(&schema["items"], root)]),
        Some("integer") => json!(1),
        _ => json!("x"),
    }
}

#[tokio::test]
async fn null_in_an_optional_field_is_an_omitted_field() {
    let (server, alice) = Server::with_alice().await;
    let document = server.api.openapi();
    let mut fields = Vec::new();
    for row in ROWS.iter().filter(|row| !row.body.is_empty()) {
        let operation = &document["paths"][row.template][row.method.to_lowercase()];
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        let body = serde_json::from_str(row.body).unwrap();
        for case in null_cases(schema, &document, &body) {
            let send = async |body: &Value| {
                let request = Request::new(row.method, row.path).json(&body.to_string());
                let response = server.send(&request.bearer(&alice)).await;
                (response.status, server.board.last_call())
            };
            let null = send(&case.null).await;
            if case.is_required {
                assert_eq!(null.0, 400, "{row:?} {}", case.field);
            } else {
                assert_eq!(null, send(&case.omitted).await, "{row:?} {}", case.field);
                fields.push(case.field);
            }
        }
    }
    for field in ["subscribe", "poll.canChangeVote", "requestReceipt", "options.optionId"] {
        assert!(fields.iter().any(|one| one == field), "{field}: {fields:?}");
    }
}

#[tokio::test]
async fn a_malformed_or_unknown_id_in_a_body_is_not_found() {
    let (server, alice) = Server::with_alice().await;
    for (endpoint, body) in [
        (SEND, r#"{"to":["no id"],"subject":"x"}"#),
        (SEND, r#"{"to":["@unknown"],"subject":"x"}"#),
        (RATE, r#"{"points":1,"postId":"no id"}"#),
        (RATE, r#"{"points":1,"postId":"absent-1-1"}"#),
        (VOTE, r#"{"optionIds":["no id"]}"#),
        (VOTE, r#"{"optionIds":["2"]}"#),
        (FOLLOW, r#"{"target":"thread","targetId":"no id"}"#),
        (FOLLOW, r#"{"target":"thread","targetId":"absent-1"}"#),
    ] {
        server.expect(request(endpoint, body).bearer(&alice), NOT_FOUND).await;
    }
}

#[tokio::test]
async fn the_content_type_of_a_body_is_json_and_given_once() {
    let (server, alice) = Server::with_alice().await;
    for row in ROWS.iter().filter(|row| !row.body.is_empty()) {
        let request = Request::new(row.method, row.path).body(row.body);
        let response = server.send(&request.bearer(&alice)).await;
        assert_eq!(outcome(&response), BAD_REQUEST, "{row:?}");
        let text = message(&response);
        assert_eq!(text, "content-type: expected application/json");
    }
    for (types, status) in [
        (&["application/json"][..], 201),
        (&["Application/JSON; charset=utf-8"], 201),
        (&["application/json;"], 201),
        (&["application/json; x=\"é\""], 201),
        (&["text/plain"], 400),
        (&["application/json-patch+json"], 400),
        (&["application/x-www-form-urlencoded"], 400),
        (&[""], 400),
        (&["text/plain, application/json"], 400),
        (&["application/json", "application/json"], 400),
    ] {
        let plain = Request::new("POST", "/threads/open-1/posts").body(r#"{"body":"x"}"#);
        let add = |request: Request, value: &&str| request.header("content-type", value);
        let request = types.iter().fold(plain.bearer(&alice), add);
        assert_eq!(server.send(&request).await.status, status, "{types:?}");
    }
}
