//! The table of endpoints, in the order of the specification.

use http::Method;

use super::endpoint::{ApiEndpoint, Handler, Privacy};
use super::error::ErrorCode;
use super::extract::params::{NoParams, OpenMessage};
use crate::host::{Caller, MemberCaller};
use crate::model::NewSubscription;
use crate::scope::Scope::*;
use crate::scope::Surface::{self, Compact, Full};

/// The endpoints of a surface.
pub(super) fn endpoints(surface: Surface) -> impl Iterator<Item = &'static ApiEndpoint> {
    let is_served = move |endpoint: &&ApiEndpoint| endpoint.surfaces.contains(&surface);
    ENDPOINTS.iter().filter(is_served)
}

/// Routing, access, rate limits, decoding, responses and the OpenAPI document all read these rows.
#[rustfmt::skip]
static ENDPOINTS: &[ApiEndpoint] = &[
    ApiEndpoint {
        method: Method::GET, path: "/me", operation_id: "getMe", tag: "me",
        summary: "Returns the token's owner and the scopes that the token carries.",
        notes: "Begin with it: it tells what the token may be used for.",
        scope: MembersRead, field_scope: None, cost: 1, surfaces: &[Full, Compact],
        privacy: Privacy::NoStore, has_side_effects: false, board_errors: &[],
        handler: &Handler::ok(|b, m: &MemberCaller, (), NoParams {}| b.get_me(m)),
    },
    ApiEndpoint {
        method: Method::GET, path: "/forums", operation_id: "listForums", tag: "forums",
        summary: "Lists the forums that the caller sees, each with its parent's id.",
        notes: "",
        scope: ForumsRead, field_scope: None, cost: 1, surfaces: &[Full, Compact],
        privacy: Privacy::Client, has_side_effects: false, board_errors: &[],
        handler: &Handler::ok(|b, c: &Caller, (), NoParams {}| b.list_forums(c)),
    },
    ApiEndpoint {
        method: Method::GET, path: "/forums/{forumId}/threads", operation_id: "listThreads", tag: "forums",
        summary: "Lists the threads of a forum, newest activity first.",
        notes: "Pinned threads are not lifted: `pinned` says which ones they are.",
        scope: ThreadsRead, field_scope: None, cost: 1, surfaces: &[Full, Compact],
        privacy: Privacy::Client, has_side_effects: false, board_errors: &[],
        handler: &Handler::ok(|b, c: &Caller, at, list| b.list_threads(c, at, list)),
    },
    ApiEndpoint {
        method: Method::POST, path: "/forums/{forumId}/threads", operation_id: "startThread", tag: "forums",
        summary: "Starts a thread.",
        notes: "With `poll` it carries one from the start. The `state` of the answer says whether the thread awaits \
            approval.",
        scope: ThreadsWrite, field_scope: Some(("subscribe", SubscriptionsWrite)), cost: 10, surfaces: &[Full],
        privacy: Privacy::Client, has_side_effects: true, board_errors: ErrorCode::BOARD,
        handler: &Handler::created(|b, m: &MemberCaller, at, new| b.create_thread(m, at, new)),
    },
    ApiEndpoint {
        method: Method::GET, path: "/threads/{threadId}", operation_id: "getThread", tag: "threads",
        summary: "Returns one thread's metadata.",
        notes: "",
        scope: ThreadsRead, field_scope: None, cost: 1, surfaces: &[Full, Compact],
        privacy: Privacy::Client, has_side_effects: false, board_errors: &[],
        handler: &Handler::ok(|b, c: &Caller, at, NoParams {}| b.get_thread(c, at)),
    },
    ApiEndpoint {
        method: Method::GET, path: "/threads/{threadId}/posts", operation_id: "listPosts", tag: "threads",
        summary: "Lists the posts of a thread, oldest first.",
        notes: "To read what is new, send the time of the last post that you have as `since`; to start at a post \
            that somebody linked to, its id as `from`.",
        scope: PostsRead, field_scope: None, cost: 1, surfaces: &[Full, Compact],
        privacy: Privacy::Client, has_side_effects: false, board_errors: &[],
        handler: &Handler::ok(|b, c: &Caller, at, list| b.list_posts(c, at, list)),
    },
    ApiEndpoint {
        method: Method::POST, path: "/threads/{threadId}/posts", operation_id: "reply", tag: "threads",
        summary: "Posts a reply.",
        notes: "The `state` of the answer says whether the post awaits approval.",
        scope: PostsWrite, field_scope: Some(("subscribe", SubscriptionsWrite)), cost: 5, surfaces: &[Full, Compact],
        privacy: Privacy::Client, has_side_effects: true, board_errors: ErrorCode::BOARD,
        handler: &Handler::created(|b, m: &MemberCaller, at, reply| b.create_post(m, at, reply)),
    },
    ApiEndpoint {
        method: Method::PATCH, path: "/threads/{threadId}/posts/{postId}", operation_id: "editPost", tag: "threads",
        summary: "Edits a post.",
        notes: "`canEdit` of the post says whether the caller may. Send the `version` that you read as \
            `expectedVersion`: should somebody else have changed the post meanwhile, the answer is a 409, and \
            nothing is lost.",
        scope: PostsWrite, field_scope: None, cost: 5, surfaces: &[Full],
        privacy: Privacy::Client, has_side_effects: true, board_errors: ErrorCode::BOARD,
        handler: &Handler::ok(|b, m: &MemberCaller, at, edit| b.update_post(m, at, edit)),
    },
    ApiEndpoint {
        method: Method::DELETE, path: "/threads/{threadId}/posts/{postId}", operation_id: "deletePost", tag: "threads",
        summary: "Soft-deletes a post; the first one with its whole thread.",
        notes: "`canDelete` of the post says whether the caller may. A moderator can bring it back, but not through \
            this API. Once it is gone it is a 404 to delete it again, and a 409 for who still sees it.",
        scope: PostsWrite, field_scope: None, cost: 5, surfaces: &[Full],
        privacy: Privacy::Client, has_side_effects: true, board_errors: ErrorCode::BOARD,
        handler: &Handler::no_content(|b, m: &MemberCaller, at, NoParams {}| b.delete_post(m, at)),
    },
    ApiEndpoint {
        method: Method::GET, path: "/members/{userId}", operation_id: "getMember", tag: "members",
        summary: "Returns a member's public profile.",
        notes: "",
        scope: MembersRead, field_scope: None, cost: 1, surfaces: &[Full],
        privacy: Privacy::Client, has_side_effects: false, board_errors: &[],
        handler: &Handler::ok(|b, c: &Caller, at, NoParams {}| b.get_member(c, at)),
    },
    ApiEndpoint {
        method: Method::POST, path: "/members/{userId}/reputation", operation_id: "rateMember", tag: "members",
        summary: "Rates a member, optionally against one of their posts.",
        notes: "The board's settings bound `points`, and say whether they may be negative and the comment empty. 0 \
            points are a 422, and so is what the settings refuse.",
        scope: ReputationWrite, field_scope: None, cost: 5, surfaces: &[Full],
        privacy: Privacy::Client, has_side_effects: true, board_errors: ErrorCode::BOARD,
        handler: &Handler::created(|b, m: &MemberCaller, at, rating| b.rate_member(m, at, rating)),
    },
    ApiEndpoint {
        method: Method::GET, path: "/messages", operation_id: "listMessages", tag: "messages",
        summary: "Lists one folder of the caller's private messages. Marks nothing read.",
        notes: "",
        scope: MessagesRead, field_scope: None, cost: 1, surfaces: &[Full],
        privacy: Privacy::NoStore, has_side_effects: false, board_errors: &[],
        handler: &Handler::ok(|b, m: &MemberCaller, (), list| b.list_messages(m, list)),
    },
    ApiEndpoint {
        method: Method::POST, path: "/messages", operation_id: "sendMessage", tag: "messages",
        summary: "Sends a private message.",
        notes: "The answer is the sender's own copy. Each party has one, with an id of its own.",
        scope: MessagesWrite, field_scope: None, cost: 10, surfaces: &[Full],
        privacy: Privacy::NoStore, has_side_effects: true, board_errors: ErrorCode::BOARD,
        handler: &Handler::created(|b, m: &MemberCaller, (), new| b.send_message(m, new)),
    },
    ApiEndpoint {
        method: Method::GET, path: "/messages/{messageId}", operation_id: "openMessage", tag: "messages",
        summary: "Opens a private message: marks it read, and sends the receipt that was asked for.",
        notes: "It is carried out each time, so it has no `etag`. HEAD marks nothing read.",
        scope: MessagesRead, field_scope: None, cost: 1, surfaces: &[Full],
        privacy: Privacy::NoStore, has_side_effects: true, board_errors: &[],
        handler: &Handler::ok(|b, m: &MemberCaller, at, params: OpenMessage| b.open_message(m, at, params.opening)),
    },
    ApiEndpoint {
        method: Method::GET, path: "/threads/{threadId}/poll", operation_id: "getPoll", tag: "threads",
        summary: "Returns a thread's poll with running totals and the caller's own vote.",
        notes: "A thread without a poll is a 404.",
        scope: ThreadsRead, field_scope: None, cost: 1, surfaces: &[Full],
        privacy: Privacy::Client, has_side_effects: false, board_errors: &[],
        handler: &Handler::ok(|b, c: &Caller, at, NoParams {}| b.get_poll(c, at)),
    },
    ApiEndpoint {
        method: Method::POST, path: "/polls/{pollId}/votes", operation_id: "vote", tag: "polls",
        summary: "Votes in a thread's poll.",
        notes: "Voting again is a 409, unless `canChangeVote`. In a closed poll it is a 403; with no options, the \
            same one twice or more than `maxChoices` a 422; with one that is not there a 404.",
        scope: PollsWrite, field_scope: None, cost: 5, surfaces: &[Full],
        privacy: Privacy::Client, has_side_effects: true, board_errors: ErrorCode::BOARD,
        handler: &Handler::created(|b, m: &MemberCaller, at, vote| b.vote(m, at, vote)),
    },
    ApiEndpoint {
        method: Method::PATCH, path: "/polls/{pollId}", operation_id: "editPoll", tag: "polls",
        summary: "Edits a poll that the caller wrote or moderates.",
        notes: "What is left out stays; naming no change at all is a 400. The options may be changed by the poll's \
            writer while nobody has voted (a 409 afterwards), and by a moderator always. Fewer than two, doubled \
            texts, or a `maxChoices` above their number are a 422. A `closesAt` in the past closes the poll. Send \
            the `version` that you read as `expectedVersion`, so as not to undo somebody else's edit.",
        scope: PollsWrite, field_scope: None, cost: 5, surfaces: &[Full],
        privacy: Privacy::Client, has_side_effects: true, board_errors: ErrorCode::BOARD,
        handler: &Handler::ok(|b, m: &MemberCaller, at, edit| b.update_poll(m, at, edit)),
    },
    ApiEndpoint {
        method: Method::GET, path: "/subscriptions", operation_id: "listSubscriptions", tag: "subscriptions",
        summary: "Lists what the caller follows in forums that they still see, newest first.",
        notes: "What the caller may not see now is left out, and comes back when they may.",
        scope: SubscriptionsRead, field_scope: None, cost: 1, surfaces: &[Full],
        privacy: Privacy::Client, has_side_effects: false, board_errors: &[],
        handler: &Handler::ok(|b, m: &MemberCaller, (), list| b.list_subscriptions(m, list)),
    },
    ApiEndpoint {
        method: Method::POST, path: "/subscriptions", operation_id: "follow", tag: "subscriptions",
        summary: "Follows a thread or a forum.",
        notes: "201 for a new subscription; 200 with the one that was there. A target that is absent or hidden is a \
            404.",
        scope: SubscriptionsWrite, field_scope: None, cost: 2, surfaces: &[Full],
        privacy: Privacy::Client, has_side_effects: true, board_errors: ErrorCode::BOARD,
        handler: &Handler::created(|b, m: &MemberCaller, (), follow: NewSubscription| b.subscribe(m, follow.into())),
    },
    ApiEndpoint {
        method: Method::DELETE, path: "/subscriptions/{target}/{targetId}", operation_id: "unfollow", tag: "subscriptions",
        summary: "Stops following a thread or a forum.",
        notes: "It works even where the target is hidden by now. What is not followed is a 404.",
        scope: SubscriptionsWrite, field_scope: None, cost: 2, surfaces: &[Full],
        privacy: Privacy::Client, has_side_effects: true, board_errors: ErrorCode::BOARD,
        handler: &Handler::no_content(|b, m: &MemberCaller, at, NoParams {}| b.unsubscribe(m, at)),
    },
    ApiEndpoint {
        method: Method::GET, path: "/search", operation_id: "search", tag: "search",
        summary: "Searches what the caller may read.",
        notes: "All words of `q` are required; those of `\"a phrase\"` side by side, and those of `-word` must be \
            absent. A forum or member that is absent or hidden gives no hits.",
        scope: SearchRead, field_scope: None, cost: 10, surfaces: &[Full, Compact],
        privacy: Privacy::Client, has_side_effects: false, board_errors: &[],
        handler: &Handler::ok(|b, c: &Caller, (), search| b.search(c, search)),
    },
];

#[cfg(test)]
mod tests {
    use schemars::SchemaGenerator;

    use super::ENDPOINTS;

    #[test]
    fn a_path_has_the_variables_of_its_handler_and_no_two_rows_match_the_same_request() {
        let is_variable = |segment: &&str| segment.starts_with('{');
        let mut shapes = Vec::new();
        for endpoint in ENDPOINTS {
            let mut generator = SchemaGenerator::default();
            let schemas = endpoint
                .handler
                .describe(&mut generator.clone(), &mut generator);
            let names = schemas
                .path_params
                .iter()
                .map(|(name, _)| format!("{{{name}}}"));
            let segments = endpoint.path.split('/');
            let variables: Vec<_> = segments.clone().filter(is_variable).collect();
            assert_eq!(variables, names.collect::<Vec<_>>(), "{}", endpoint.path);
            let shape = segments.map(|part| if is_variable(&part) { "{}" } else { part });
            let shape = (&endpoint.method, shape.collect::<Vec<_>>());
            assert!(!shapes.contains(&shape), "{}", endpoint.path);
            shapes.push(shape);
        }
    }
}
