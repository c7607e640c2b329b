//! The board follows the rules of the conformance suite.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forum_api::conformance::{TestFailure, board_tests, rules, run};
use forum_api::host::{BoardError, BoardResult, InForum, MemberCaller, ResourceRef};
use forum_api::model::{PostPath, ThreadId};
use forum_api::operation::{NoForum, Operation, PathParams, Resource, Tag};
use forum_api::scope::Scope;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::added::votes::vote_post;
use crate::before::Club;
use crate::fixture::{ClubFactory, CreateOperations, run_with_postgres};

const FACTORY: ClubFactory = ClubFactory { operations: |club| vec![vote_post(club)] };

board_tests!(FACTORY, run_with_postgres);

/// A path of a thread whose forum the library does not check.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct UncheckedPath {
    #[expect(dead_code, reason = "only the schema is used")]
    thread_id: ThreadId,
}

impl PathParams for UncheckedPath {
    fn resource(&self) -> ResourceRef<'_> {
        ResourceRef::Global
    }
}

#[derive(Serialize, JsonSchema)]
struct Done {}

impl Resource for Done {}

const TAG: Tag = Tag::new("faults", "Operations that break a rule.");

fn leaking(club: &Arc<Club>) -> Vec<Operation> {
    let builder = Operation::get("/x/threads/{threadId}", "leak", Scope::THREADS_READ).tag(TAG);
    vec![builder.summary("Leaks.").ok(
        club,
        |_, _: &MemberCaller, _: UncheckedPath, ()| Box::pin(async { Ok(NoForum(Done {})) }),
        || Done {},
    )]
}

fn refusing(club: &Arc<Club>) -> Vec<Operation> {
    let builder = Operation::post("/x/done", "refuse", Scope::THREADS_WRITE).tag(TAG);
    vec![builder.summary("Refuses.").created(
        club,
        |_, _: &MemberCaller, (), ()| {
            Box::pin(async { Err::<NoForum<Done>, _>(BoardError::forbidden("No.")) })
        },
        || Done {},
    )]
}

/// Returns an operation that succeeds once.
fn single(_: &Arc<Club>) -> Vec<Operation> {
    let builder = Operation::post("/x/done", "doOnce", Scope::THREADS_WRITE).tag(TAG);
    vec![builder.summary("Succeeds once.").created(
        &Arc::new(AtomicBool::default()),
        |is_done, _: &MemberCaller, (), ()| {
            Box::pin(async {
                if is_done.swap(true, Ordering::Relaxed) {
                    Err(BoardError::conflict("Done."))
                } else {
                    Ok(NoForum(Done {}))
                }
            })
        },
        || Done {},
    )]
}

/// Returns an operation for members who did not write the post, and one for its author.
fn by_role(club: &Arc<Club>) -> Vec<Operation> {
    let builder = |path, id| {
        let builder = Operation::post(path, id, Scope::THREADS_WRITE).tag(TAG);
        builder.summary("Depends on the author.")
    };
    vec![
        builder("/x/threads/{threadId}/posts/{postId}/likes", "like").created(
            club,
            |club, member: &MemberCaller, post, ()| {
                Box::pin(check_author(club, member, post, false))
            },
            || Done {},
        ),
        builder("/x/threads/{threadId}/posts/{postId}/accept", "accept").created(
            club,
            |club, member: &MemberCaller, post, ()| {
                Box::pin(check_author(club, member, post, true))
            },
            || Done {},
        ),
    ]
}

async fn check_author(
    club: &Club,
    member: &MemberCaller,
    post: PostPath,
    must_be_author: bool,
) -> BoardResult<InForum<Done>> {
    let query = "
        SELECT section, writer FROM entry JOIN topic ON topic.id = topic
        WHERE entry.id = $1 AND topic = $2";
    let client = club.pool.get().await?;
    let (post, thread) = (post.post_id.to_i64()?, post.thread_id.to_i64()?);
    let found = client.query_opt(query, &[&post, &thread]).await?;
    let row = found.ok_or(BoardError::PathNotFound)?;
    let is_author = row.get::<_, i64>("writer") == member.user_id().to_i64()?;
    if is_author != must_be_author {
        return Err(BoardError::forbidden("No."));
    }
    Ok(InForum::new(row.get::<_, i64>("section").into(), Done {}))
}

#[test]
fn an_operation_can_succeed_only_once_or_for_some_members() {
    run_with_postgres(async {
        for operations in [single as CreateOperations, by_role] {
            for rule in rules::operations::RULES {
                let result = run(rule, &ClubFactory { operations }).await;
                assert!(result.is_ok(), "{rule}: {result:?}");
            }
        }
    });
}

#[test]
fn an_operation_that_breaks_a_rule_fails_it() {
    let faults: [(CreateOperations, &str); 3] = [
        (leaking, "operations::an_operation_does_not_find_hidden_resources"),
        (refusing, "operations::an_operation_accepts_its_example_and_charges_its_cost"),
        (refusing, "operations::an_operation_takes_effect_once_for_an_idempotency_key"),
    ];
    run_with_postgres(async {
        for (operations, rule) in faults {
            let result = run(rule, &ClubFactory { operations }).await;
            let Err(TestFailure::Failed(message)) = result else {
                panic!("{rule}: {result:?}");
            };
            let refused = message.contains(": 403 {") && message.contains("\"No.\"");
            assert!(rule.contains("hidden") || refused, "{rule}: {message}");
        }
    });
}
