// Typical calls through clients of five generators, with values of a later version in responses.

import assert from "node:assert/strict";
import { env } from "node:process";
import * as axios from "./axios";
import * as fetched from "./fetch";
import { client } from "./heyapi/client.gen";
import * as heyapi from "./heyapi/sdk.gen";
import * as orval from "./orval";
import { Api, SearchSort } from "./swagger";

interface Page {
    items: { postId: string }[];
    next?: string | null;
}

interface Events {
    items: { topic: string; data: { post?: { postId: string } | undefined } }[];
}

interface Client {
    owner(): Promise<string>;
    posts(threadId: string, after?: string): Promise<Page>;
    reply(threadId: string, body: string): Promise<{ postId: string; state: string; createdAt: string | Date }>;
    events(since: string): Promise<Events>;
    search(q: string): Promise<Page>;
    /** Returns status and code of the error. */
    unknownThread(threadId: string): Promise<[number, string]>;
}

const baseUrl = env["API"] ?? "";
const authorization = `Bearer ${env["TOKEN"]}`;
const headers = { authorization };

// @hey-api/openapi-ts, which checks requests and responses with zod.
client.setConfig({ baseUrl, headers, throwOnError: true });
const withZod: Client = {
    owner: async () => (await heyapi.getMe({ throwOnError: true })).data.owner.username,
    posts: async (threadId, after) =>
        (await heyapi.listPosts({ path: { threadId }, query: { limit: 3, ...(after && { after }) }, throwOnError: true })).data,
    reply: async (threadId, body) =>
        (await heyapi.createPost({ path: { threadId }, body: { body }, throwOnError: true })).data,
    events: async (since) => (await heyapi.listEvents({ query: { since }, throwOnError: true })).data,
    search: async (q) => (await heyapi.search({ query: { q, sort: "newest" }, throwOnError: true })).data,
    async unknownThread(threadId) {
        const { error, response } = await heyapi.getThread({ path: { threadId }, throwOnError: false });
        assert(error && response);
        return [response.status, error.error.code];
    },
};

// orval.
const withOrval: Client = {
    owner: async () => given(await orval.getMe({ headers })).owner.username,
    posts: async (threadId, after) => given(await orval.listPosts(threadId, { limit: 3, ...(after && { after }) }, { headers })),
    reply: async (threadId, body) => given(await orval.createPost(threadId, { body }, { headers })),
    events: async (since) => given(await orval.listEvents({ since }, { headers })),
    search: async (q) => given(await orval.search({ q, sort: "newest" }, { headers })),
    async unknownThread(threadId) {
        const answer = await orval.getThread(threadId, { headers });
        assert(answer.status === 404);
        return [answer.status, answer.data.error.code];
    },
};

function given<T extends { status: number; data: unknown }>(answer: T): Extract<T, { status: 200 | 201 }>["data"] {
    assert(answer.status === 200 || answer.status === 201, JSON.stringify(answer.data));
    return answer.data;
}

// swagger-typescript-api.
const api = new Api({ baseUrl, baseApiParams: { headers } });
const withSwagger: Client = {
    owner: async () => (await api.me.getMe()).data.owner.username,
    posts: async (threadId, after) => (await api.threads.listPosts(threadId, { limit: 3, ...(after && { after }) })).data,
    reply: async (threadId, body) => (await api.threads.createPost(threadId, { body })).data,
    events: async (since) => (await api.x.listEvents({ since })).data,
    search: async (q) => (await api.search.search({ q, sort: SearchSort.Newest })).data,
    unknownThread: (threadId) =>
        api.threads.getThread(threadId).then(
            () => assert.fail(),
            ({ status, error }) => [status, error.error.code],
        ),
};

// openapi-generator: typescript-axios.
const axiosConfiguration = new axios.Configuration({ basePath: baseUrl, accessToken: env["TOKEN"] ?? "" });
const axiosPosts = new axios.PostsApi(axiosConfiguration);
const axiosThreads = new axios.ThreadsApi(axiosConfiguration);
const withAxios: Client = {
    owner: async () => (await new axios.MeApi(axiosConfiguration).getMe()).data.owner.username,
    posts: async (threadId, after) => (await axiosPosts.listPosts(threadId, 3, after)).data,
    reply: async (threadId, body) => (await axiosPosts.createPost(threadId, { body })).data,
    events: async (since) => (await new axios.EventsApi(axiosConfiguration).listEvents(undefined, since)).data,
    search: async (q) => (await new axios.SearchApi(axiosConfiguration).search(q)).data,
    unknownThread: (threadId) =>
        axiosThreads.getThread(threadId).then(
            () => assert.fail(),
            ({ response }) => [response.status, response.data.error.code],
        ),
};

// openapi-generator: typescript-fetch.
const configuration = new fetched.Configuration({ basePath: baseUrl, accessToken: env["TOKEN"] ?? "" });
const fetchPosts = new fetched.PostsApi(configuration);
const fetchThreads = new fetched.ThreadsApi(configuration);
const withFetch: Client = {
    owner: async () => (await new fetched.MeApi(configuration).getMe()).owner.username,
    posts: (threadId, after) => fetchPosts.listPosts({ threadId, limit: 3, ...(after && { after }) }),
    reply: (threadId, body) => fetchPosts.createPost({ threadId, postInput: { body } }),
    events: (since) => new fetched.EventsApi(configuration).listEvents({ since: new Date(since) }),
    search: (q) => new fetched.SearchApi(configuration).search({ q, sort: "newest" }),
    unknownThread: (threadId) =>
        fetchThreads.getThread({ threadId }).then(
            () => assert.fail(),
            async ({ response }) => [response.status, (await response.json()).error.code],
        ),
};

for (const [name, client] of Object.entries({ withZod, withOrval, withSwagger, withAxios, withFetch })) {
    console.log(name);
    assert.equal(await client.owner(), "alice");
    const reply = await client.reply("16", `Sent ${name}.`);
    assert.equal(reply.state, "of_a_later_version");
    const events = (await client.events(new Date(reply.createdAt).toISOString())).items;
    assert(events.every(({ topic }) => topic === "of_a_later_version"));
    assert(events.some(({ data }) => data.post?.postId === reply.postId));
    const posts = new Set<string>();
    let after: string | undefined;
    do {
        const page = await client.posts("16", after);
        for (const { postId } of page.items) posts.add(postId);
        after = page.next ?? undefined;
    } while (after !== undefined);
    assert(posts.size > 3 && posts.has(reply.postId));
    assert((await client.search(name)).items.some(({ postId }) => postId === reply.postId));
    assert.deepEqual(await client.unknownThread("unknown"), [404, "not_found"]);
}
