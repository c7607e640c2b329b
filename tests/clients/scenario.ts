// Typical calls of a new application, through a client that is generated from the OpenAPI document.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { env } from "node:process";
import { setTimeout as pass } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { components, paths } from "./full.d.ts";

type ErrorBody = components["schemas"]["ErrorBody"];
type Thread = components["schemas"]["Thread"];

const baseUrl = env["API"] ?? "";
const guest = createClient<paths>({ baseUrl });
const board = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${env["TOKEN"]}` } });

interface Answer<T> {
    data?: T;
    error?: ErrorBody;
    response: Response;
}

function given<T>({ data, error }: Answer<T>): T {
    assert(data !== undefined, JSON.stringify(error));
    return data;
}

function refused({ error, response }: Answer<unknown>, status: number, code: string): Response {
    assert.equal(response.status, status);
    assert.equal(error?.error.code, code);
    assert.equal(error.error.requestId, response.headers.get("x-request-id"));
    return response;
}

// The token.
const me = given(await board.GET("/me"));
assert.equal(me.owner.username, "alice");
assert(me.scopes.includes("posts:write"));

// Forums: a guest sees fewer.
const seen = given(await board.GET("/forums")).items;
const open = given(await guest.GET("/forums")).items;
assert(open.length < seen.length);
const general = seen.find((forum) => forum.title === "General");
assert(general?.canStartThread);

// Threads, page by page.
const threads: Thread[] = [];
let after: string | null = null;
do {
    const query: { limit: number; after?: string } = after === null ? { limit: 3 } : { limit: 3, after };
    const path = { forumId: general.forumId };
    const page = given(await board.GET("/forums/{forumId}/threads", { params: { path, query } }));
    threads.push(...page.items);
    after = page.next;
} while (after !== null);
assert(threads.length > 3);
assert.equal(new Set(threads.map((thread) => thread.threadId)).size, general.threadCount);

// A vote.
const polled = threads.find((thread) => thread.pollId !== null);
assert(polled?.pollId);
const path = { threadId: polled.threadId };
const poll = given(await board.GET("/threads/{threadId}/poll", { params: { path } }));
const choice = poll.options[0];
assert(choice && poll.ownVote === null);
const vote = { params: { path: { pollId: polled.pollId } }, body: { optionIds: [choice.optionId] } };
const voted = given(await board.POST("/polls/{pollId}/votes", vote));
assert.deepEqual(voted.ownVote, [choice.optionId]);
assert(poll.totalVotes !== null);
assert.equal(voted.totalVotes, poll.totalVotes + 1);

// A reply to the first post that is sent twice and created once.
const header = { "Idempotency-Key": randomUUID() };
const answer = { body: "Marmalade, *obviously*.", inReplyTo: polled.firstPostId };
const reply = { params: { path, header }, body: answer };
const post = given(await board.POST("/threads/{threadId}/posts", reply));
const again = await board.POST("/threads/{threadId}/posts", reply);
assert.equal(again.response.headers.get("idempotency-replayed"), "true");
assert.deepEqual(given(again), post);
assert.deepEqual([post.inReplyTo, post.extra], [polled.firstPostId, null]);

// An update, and an update with a stale version.
const edit = {
    params: { path: { ...path, postId: post.postId } },
    body: { body: "Marmalade, of course.", expectedVersion: post.version },
};
const edited = given(await board.PATCH("/threads/{threadId}/posts/{postId}", edit));
assert.equal(edited.version, post.version + 1);
refused(await board.PATCH("/threads/{threadId}/posts/{postId}", edit), 409, "CONFLICT");

// The post is the thread's last post, and the search finds it.
const recent = { params: { path, query: { from: post.postId, body: "source" } } } as const;
const posts = given(await guest.GET("/threads/{threadId}/posts", recent));
assert.deepEqual(posts.items.map((item) => item.body), ["Marmalade, of course."]);
const search = { params: { query: { q: "marmalade", sort: "newest" } } } as const;
const found = given(await board.GET("/search", search));
assert.equal(found.items[0]?.postId, post.postId);

// The feed has both changes of the post.
const feed = given(await board.GET("/x/events", { params: { query: { since: post.createdAt } } }));
const versions = feed.items.flatMap(({ data }) => (data.post?.postId === post.postId ? [data.post.version] : []));
assert.deepEqual(versions, [1, 2]);

// Errors.
const unknown = { params: { path: { threadId: "unknown" } } };
refused(await board.GET("/threads/{threadId}", unknown), 404, "not_found");
refused(await board.POST("/threads/{threadId}/posts", { params: { path }, body: { body: " " } }), 422, "VALIDATION");

// The budget is exhausted. After the window has ended, requests succeed again.
let tired = await board.GET("/search", search);
for (let tries = 0; tries < 100 && !tired.error; tries += 1) {
    tired = await board.GET("/search", search);
}
const wait = Number(refused(tired, 429, "rate_limited").headers.get("retry-after"));
assert(wait >= 1);
await pass(wait * 1000);
given(await board.GET("/search", search));
