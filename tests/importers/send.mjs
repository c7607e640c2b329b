// Imports the OpenAPI document of a server with an importer, and sends all GET requests and two POST requests as they were
// imported. Only what a user sets after an import is added: the token, the variables of a path if the importer has no
// values for them, and parameters without which the request fails.
//
// usage: node send.mjs postman|bruno|insomnia

import assert from "node:assert/strict";
import { argv, env } from "node:process";
import { openApiToBruno } from "@usebruno/converters";
import { convert } from "insomnia-importers";
import postman from "openapi-to-postmanv2";

const text = await (await fetch(`${env.API}/openapi.json`)).text();
const document = JSON.parse(text);

function resolved(part) {
    const keys = part.$ref?.split("/").slice(1) ?? [];
    return keys.length === 0 ? part : keys.reduce((value, key) => value[key], document);
}

// Path, method and parameters of each operation by its summary, which is the name of the imported request.
const operations = new Map();
for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
        const parameters = (operation.parameters ?? []).map(resolved);
        operations.set(operation.summary, { id: operation.operationId, method: method.toUpperCase(), path, parameters });
    }
}

// A parameter without which the request fails.
const isNeeded = ({ required, schema }) => required || schema["x-required-unless"] !== undefined;

// Returns the switched-on parameters, and those that are needed.
function switchedOn(parameters, { parameters: declared }) {
    const needed = declared.filter(isNeeded).map(({ name }) => name);
    return parameters.filter(({ name, isOn }) => isOn || needed.includes(name)).map(({ name, value }) => [name, value]);
}

// The option `parametersResolution` takes the examples of the document. Without the other option, the importer invents
// values for parameters without an example.
async function* importPostman() {
    const options = { parametersResolution: "Example", enableOptionalParameters: false };
    const [{ data: collection }] = await new Promise((resolve, reject) => {
        postman.convertV2({ type: "json", data: document }, options, (error, { result, reason, output }) =>
            error || !result ? reject(error ?? new Error(reason)) : resolve(output),
        );
    });
    const base = collection.variable.find(({ key }) => key === "baseUrl").value;
    const requests = (items) => items.flatMap((item) => (item.request ? [item] : requests(item.item)));
    for (const { name, request } of requests(collection.item)) {
        const { method, url, header, body } = request;
        const operation = operations.get(name);
        const listed = (list) => (list ?? []).map(({ key, value, disabled }) => ({ name: key, value, isOn: !disabled }));
        const variables = new Map((url.variable ?? []).map(({ key, value }) => [key, value]));
        const path = url.path.map((part) => (part.startsWith(":") ? variables.get(part.slice(1)) : part));
        yield {
            operation,
            method,
            url: `${base}/${path.map(encodeURIComponent).join("/")}`,
            query: switchedOn(listed(url.query), operation),
            headers: switchedOn(listed(header), operation),
            body: body?.raw,
        };
    }
}

async function* importBruno() {
    const collection = await openApiToBruno(document);
    const base = collection.environments[0].variables.find(({ name }) => name === "baseUrl").value;
    const requests = (items) => items.flatMap((item) => (item.request ? [item] : requests(item.items)));
    for (const { name, request } of requests(collection.items)) {
        const operation = operations.get(name);
        const listed = (list) => list.map((one) => ({ ...one, isOn: one.enabled }));
        const isIn = (place) => request.params.filter(({ type }) => type === place);
        const path = isIn("path").reduce(
            (path, { name, value }) => path.replace(`:${name}`, encodeURIComponent(value)),
            request.url.replace("{{baseUrl}}", ""),
        );
        yield {
            operation,
            method: request.method,
            url: base + path,
            query: switchedOn(listed(isIn("query")), operation),
            headers: switchedOn(listed(request.headers), operation),
            body: request.body.json ?? undefined,
        };
    }
}

// The importer accepts version 3.0 only, with a warning for a later one. It has no values for variables of paths, and
// invents all others.
async function* importInsomnia() {
    const { log } = console;
    console.log = () => {};
    const { resources } = (await convert(text)).data;
    console.log = log;
    const { base_path, host, scheme } = resources.find(({ name }) => name === "OpenAPI env").data;
    for (const { name, method, url, parameters, headers, body } of resources.filter(({ _type }) => _type === "request")) {
        const operation = operations.get(name);
        const listed = (list) => list.map((one) => ({ ...one, isOn: !one.disabled }));
        const path = operation.parameters.reduce(
            (path, { name, example }) => path.replace(`{{ ${name} }}`, encodeURIComponent(example)),
            url.replace("{{ base_url }}", ""),
        );
        // A user writes the body that the importer does not find behind a reference.
        const example = document.paths[operation.path].post?.requestBody?.content["application/json"].example;
        yield {
            operation,
            method,
            url: `${scheme}://${host}${base_path}${path}`,
            query: switchedOn(listed(parameters), operation),
            headers: switchedOn(listed(headers), operation),
            body: method === "POST" ? JSON.stringify(example) : undefined,
        };
    }
}

const importers = { postman: importPostman, bruno: importBruno, insomnia: importInsomnia };
const sent = [];
for await (const { operation, method, url, query, headers, body } of importers[argv[2]]()) {
    assert.equal(method, operation.method);
    const isSent = method === "GET" || ["createThread", "createPost"].includes(operation.id);
    if (!isSent) continue;
    const target = new URL(url);
    query.forEach(([name, value]) => target.searchParams.append(name, value));
    const all = new Headers(headers);
    all.set("authorization", `Bearer ${env.TOKEN}`);
    if (body !== undefined) all.set("content-type", "application/json");
    const response = await fetch(target, { method, headers: all, body });
    const expected = method === "GET" ? 200 : 201;
    assert.equal(response.status, expected, `${method} ${target} ${body}: ${await response.text()}`);
    sent.push(operation.id);
}
const expected = [...operations.values()].filter(({ method }) => method === "GET").map(({ id }) => id);
assert.deepEqual(sent.sort(), [...expected, "createThread", "createPost"].sort());
console.log(`${argv[2]}: ${sent.length} requests`);
