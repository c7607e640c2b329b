// The reference page: copy buttons, samples, search, the current entry of the contents, and requests. The page is readable
// without this script.

// Duration of a confirmation, in milliseconds.
const CONFIRMATION_MS = 2000;

const UNREACHABLE = "the server cannot be reached. Check the connection, then try again.";

const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const base = location.origin + document.body.dataset.api;

function element(tag, text, properties = {}) {
    return Object.assign(document.createElement(tag), { textContent: text }, properties);
}

/* Base URL */

for (const shown of all(".base")) shown.textContent = base;

/* Copy buttons */

for (const block of all(".copyable")) {
    const button = element("button", "Copy", { type: "button", className: "copy" });
    block.append(button);
    button.addEventListener("click", async () => {
        const source = block.querySelector("code");
        button.textContent = (await copy(source, unmasked(source.textContent))) ? "Copied" : "Selected";
        setTimeout(() => (button.textContent = "Copy"), CONFIRMATION_MS);
    });
}

/* Languages of samples: a choice applies to all operations. */

addEventListener("change", ({ target }) => {
    if (!target.matches(".samples > input")) return;
    const top = target.getBoundingClientRect().top;
    for (const input of all(`.samples > input[value="${target.value}"]`)) input.checked = true;
    scrollBy(0, target.getBoundingClientRect().top - top);
});

/* Contents and search */

const menu = document.getElementById("page-menu");
const search = document.getElementById("page-search");
const matches = document.getElementById("page-matches");
const nav = document.querySelector(".side nav");
const links = all("a", nav);
const results = element("ul", "", { hidden: true });

nav.prepend(results);
search.parentElement.hidden = false;
search.addEventListener("input", showResults);
search.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && search.value) {
        event.preventDefault();
        search.value = "";
        showResults();
    } else if (event.key === "Enter") {
        (results.querySelector("a") ?? (search.value ? null : links[0]))?.click();
    }
});

addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input:not([type=radio]), select, textarea");
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    event.preventDefault();
    menu.checked = true;
    search.focus();
    search.select();
});

/** Shows the results of the search instead of the contents. */
function showResults() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const isSearch = words.length > 0;
    const found = isSearch ? find(words) : [];
    for (const part of all(".part", nav)) part.hidden = isSearch;
    results.hidden = !isSearch;
    results.replaceChildren(...found.map(({ item }) => item));
    matches.textContent = isSearch ? `${found.length} ${found.length === 1 ? "match" : "matches"}` : "";
}

let index;

/** Returns the entries that contain each word, in order of relevance. */
function find(words) {
    index ??= [...all("[id^=error-]").map(codeEntry), ...links.map(linkEntry)];
    const tests = words.map(test);
    const ranked = index.map((entry) => ({ entry, ranks: tests.map((test) => entry.texts.findIndex(test)) }));
    const found = ranked.filter(({ ranks }) => !ranks.includes(-1));
    const sum = ({ ranks }) => ranks.reduce((one, other) => one + other);
    return found.sort((one, other) => sum(one) - sum(other)).map(({ entry }) => entry);
}

/** Returns a test whether a text contains a word, or if no entry contains it, the word with one typo. */
function test(word) {
    const contains = (text) => text.includes(word);
    if (word.length < 4 || index.some(({ texts }) => texts.some(contains))) return contains;
    const letters = [...word].map((letter) => letter.replace(/\W/, "\\$&"));
    const variants = letters.flatMap((letter, number) => {
        const [before, after] = [letters.slice(0, number).join(""), letters.slice(number + 1)];
        const [next = "", ...rest] = after;
        return [`${before}.${letter}${after.join("")}`, `${before}.?${after.join("")}`, before + next + letter + rest.join("")];
    });
    const similar = new RegExp(`\\b(${variants.join("|")})`);
    return (text) => similar.test(text);
}

/** Returns the entry of an error code, with the row of its table. */
function codeEntry(target) {
    const code = (target.querySelector("code") ?? target).textContent;
    const shown = [element("span", code), element("small", "Error code")];
    return entry(`#${target.id}`, shown, [target.closest("tr").textContent]);
}

/** Returns the entry of a link of the contents. */
function linkEntry(link) {
    const target = document.getElementById(link.hash.slice(1));
    const part = link.closest(".part").firstElementChild.textContent;
    const texts = (selector) => all(selector, target).map((found) => found.textContent).join(" ");
    const shown = [...link.children].map((child) => child.cloneNode(true));
    if (shown.length < 2) shown.push(element("small", part));
    const fields = texts("h3, th code");
    const rest = target.matches(".operation") ? texts(".description, .responses") : target.textContent;
    return entry(link.hash, shown, [`${part} ${link.parentElement.dataset.keywords}`, fields, rest]);
}

/** Returns an entry with its link, and its texts in order of relevance. */
function entry(hash, shown, texts) {
    const item = element("li", "");
    const link = element("a", "", { href: hash });
    link.append(...shown);
    item.append(link);
    return { item, texts: [shown[0].textContent, ...texts].map((text) => text.toLowerCase()) };
}

nav.addEventListener("click", ({ target }) => {
    if (target.closest("a")) menu.checked = false;
});

/* Targets in closed sections, and the current entry */

addEventListener("hashchange", () => showTarget(false));

/** Returns the decoded fragment of the address, or the fragment itself if it cannot be decoded. */
function fragment() {
    const text = location.hash.slice(1);
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

/** Opens the section of the fragment, if it is closed, and scrolls to it. With `always`, scrolls to an open one, too. */
function showTarget(always) {
    const target = document.getElementById(fragment());
    const closed = target?.closest("details:not([open])");
    if (closed) closed.open = true;
    if (closed || always) target?.scrollIntoView();
}

const sections = links.map((link) => document.getElementById(link.hash.slice(1))).filter(Boolean);
let current;

/** Marks the entry of the last section whose start is above the middle of the upper half of the window. */
function markCurrent() {
    const line = innerHeight / 4;
    let section;
    for (const candidate of sections) {
        if (candidate.getBoundingClientRect().top > line) break;
        section = candidate;
    }
    const link = links.find((link) => link.hash === `#${section?.id}`);
    if (link === current) return;
    current?.removeAttribute("aria-current");
    current = link;
    current?.setAttribute("aria-current", "true");
    if (matchMedia("(min-width: 52.01rem)").matches) current?.scrollIntoView({ block: "nearest" });
}

let isScheduled = false;
addEventListener("scroll", () => {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(() => {
        isScheduled = false;
        markCurrent();
    });
}, { passive: true });

/* Token: all fields have the same value, which only this page's memory contains. The samples show it without its secret;
   copies of them have it whole. */

let token = "";

function masked() {
    return token.replace(/[^_]+$/, "••••••••");
}

function unmasked(text) {
    return token ? text.replaceAll(masked(), token) : text;
}

document.addEventListener("copy", (event) => {
    const selected = getSelection().toString();
    if (unmasked(selected) === selected) return;
    event.clipboardData.setData("text/plain", unmasked(selected));
    event.preventDefault();
});

document.querySelector(".token-box")?.removeAttribute("hidden");
const tokenFields = all(".token-field");
const exported = all(".prose pre code").find((code) => code.textContent.startsWith("export FORUM_TOKEN="));
const exportedExample = exported?.textContent;
for (const field of tokenFields) {
    field.value = "";
    field.addEventListener("input", () => {
        for (const other of tokenFields) other.value = field.value;
        token = field.value.trim();
        if (exported) exported.textContent = token ? `export FORUM_TOKEN=${shell(masked())}\n` : exportedExample;
        all(".try-it form").forEach(showSamples);
    });
}

/* Requests */

for (const box of all(".try-it")) {
    box.hidden = false;
    const form = box.querySelector("form");
    form.addEventListener("input", () => showSamples(form));
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        send(form, box.querySelector(".result"));
    });
}

for (const field of all("[name=Idempotency-Key]")) {
    const button = element("button", "New key", { type: "button", className: "new-key" });
    button.addEventListener("click", () => {
        field.value = Array.from(crypto.getRandomValues(new Uint32Array(4)), (number) => number.toString(36)).join("-");
        showSamples(field.form);
    });
    field.after(button);
}

/** Reads the request of a form, with this text as the token. */
function requestOf(form, token) {
    const { method, path } = form.dataset;
    const query = [];
    const headers = [];
    let url = base + path;
    let body;
    for (const field of all("[data-in]", form)) {
        const { name, value } = field;
        const place = field.dataset.in;
        if (place === "path") url = url.replace(`{${name}}`, () => encoded(value));
        else if (value === "") continue;
        else if (place === "query") query.push(`${name}=${encoded(value)}`);
        else if (place === "header") headers.push([name, value]);
        else if (place === "body") body = value;
    }
    if (query.length > 0) url += `?${query.join("&")}`;
    if (token) headers.unshift(["Authorization", `Bearer ${token}`]);
    if (body !== undefined) headers.push(["Content-Type", "application/json"]);
    return { method, url, headers, body };
}

/** Encodes a variable of a path or the value of a parameter, as the samples of the page do. */
function encoded(value) {
    return encodeURI(value).replace(/[#&'+/?]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Sends the request of a form and shows the response. */
async function send(form, result) {
    const button = form.querySelector("[type=submit]");
    if (button.ariaDisabled) return;
    button.ariaDisabled = "true";
    button.textContent = "Sending…";
    try {
        const { url, ...options } = requestOf(form, token);
        options.headers.push(["Accept", "application/json"]);
        const began = performance.now();
        const request = new Request(url, { ...options, cache: "no-store", credentials: "omit" });
        const response = await fetch(request).catch(() => { throw new Error(UNREACHABLE); });
        const text = await response.text();
        show(result, response, text, performance.now() - began);
    } catch (error) {
        result.replaceChildren(element("p", `The request failed: ${error.message}`, { className: "alert" }));
    } finally {
        button.ariaDisabled = null;
        button.textContent = "Send request";
    }
}

function show(result, response, text, milliseconds) {
    const line = element("p", "");
    const status = `${response.status} ${response.statusText}`.trim();
    line.append(
        element("span", status, { className: `status of-${Math.floor(response.status / 100)}` }),
        element("span", `${Math.round(milliseconds)} ms`),
        element("span", `${new Blob([text]).size} bytes`),
    );
    const headers = element("details", "");
    const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`);
    headers.append(element("summary", "Response headers"), block(lines.join("\n")));
    const parts = [line, headers];
    const wait = response.headers.get("retry-after");
    if (wait) parts.splice(1, 0, element("p", advice(response.status, wait), { className: "alert" }));
    if (text) parts.push(block(...highlighted(formatted(text))));
    result.replaceChildren(...parts);
    line.scrollIntoView({ block: "nearest" });
}

function advice(status, seconds) {
    const unit = seconds === "1" ? "second" : "seconds";
    const reason = { 409: "The first request is in progress.", 429: "A limit is exceeded.", 503: "The board did not run the request." };
    return `${reason[status] ?? ""} Retry after ${seconds} ${unit}.`.trim();
}

function block(...content) {
    const pre = element("pre", "", { tabIndex: 0 });
    const code = element("code", "");
    code.append(...content);
    pre.append(code);
    return pre;
}

/** Marks the names and the texts of JSON, as the examples of the page do. */
function highlighted(json) {
    return json.split(/("(?:[^"\\]|\\.)*")(?=(:?))/).map((part, number, parts) => {
        if (number % 3 === 1) return element(parts[number + 1] ? "b" : "i", part);
        return number % 3 === 0 ? part : "";
    });
}

function formatted(text) {
    try {
        return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
        return text;
    }
}

/* Samples of the request of a form. Without input they are equal to those of the page. */

const FORUM_TOKEN = {
    curl: "Bearer $FORUM_TOKEN",
    typescript: "`Bearer ${process.env.FORUM_TOKEN}`",
    python: "f\"Bearer {os.environ['FORUM_TOKEN']}\"",
    import: "import os\n",
};
const NEW_KEY = {
    curl: "$(date +%s%N)-$$",
    typescript: "crypto.randomUUID()",
    python: "str(uuid.uuid4())",
    import: "import uuid\n",
};

/** Writes the request of a form in each language. A header that is not entered and that the operation needs has an expression. */
function showSamples(form) {
    const request = requestOf(form, masked());
    const { headers } = request;
    const isMissing = (name) => !headers.some(([other]) => other === name);
    if (form.querySelector("[name=Idempotency-Key]") && isMissing("Idempotency-Key")) {
        const position = isMissing("Authorization") ? 0 : 1;
        headers.splice(position, 0, ["Idempotency-Key", NEW_KEY]);
    }
    const needsToken = form.querySelector(".token-field").placeholder === "required";
    if (needsToken && isMissing("Authorization")) headers.unshift(["Authorization", FORUM_TOKEN]);
    request.returnsBody = "returns" in form.dataset;
    try {
        request.json = JSON.parse(request.body);
    } catch {
        // The body is sent as it is.
    }
    const texts = [curl(request), typescript(request), python(request)];
    const codes = all(".samples .code code", form.closest(".examples"));
    codes.forEach((code, number) => (code.textContent = texts[number]));
}

function curl({ method, url, headers, body, json }) {
    const lines = [method === "GET" ? "curl" : `curl -X ${method}`, shell(url)];
    for (const [name, value] of headers) {
        lines.push(`-H ${value.curl ? `"${name}: ${value.curl}"` : shell(`${name}: ${value}`)}`);
    }
    if (body !== undefined) lines.push(`-d ${shell(json === undefined ? body : indented(json, "  "))}`);
    return lines.join(" \\\n  ");
}

function typescript({ method, url, headers, body, json, returnsBody }) {
    const options = [];
    if (method !== "GET") options.push(`method: "${method}"`);
    if (headers.length > 0) {
        const lines = headers.map(([name, value]) => {
            const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
            return `    ${key}: ${value.typescript ?? JSON.stringify(value)},\n`;
        });
        options.push(`headers: {\n${lines.join("")}  }`);
    }
    if (json !== undefined) options.push(`body: JSON.stringify(${indented(json, "  ")})`);
    else if (body !== undefined) options.push(`body: ${JSON.stringify(body)}`);
    const second = options.length > 0 ? `, {\n  ${options.join(",\n  ")},\n}` : "";
    const data = returnsBody ? "\nconst data = await response.json();" : "";
    return `const url =
  ${JSON.stringify(url)};
const response = await fetch(url${second});
if (!response.ok) throw new Error(await response.text());${data}`;
}

function python({ method, url, headers, body, json, returnsBody }) {
    // With `json` the library sends the header itself.
    if (json !== undefined) headers = headers.filter(([name]) => name !== "Content-Type");
    const imports = headers.map(([, value]) => value.import ?? "").join("");
    const parameters = [JSON.stringify(url)];
    if (headers.length > 0) {
        const lines = headers.map(([name, value]) => {
            return `        ${JSON.stringify(name)}: ${value.python ?? JSON.stringify(value)},\n`;
        });
        parameters.push(`headers={\n${lines.join("")}    }`);
    }
    if (json !== undefined) parameters.push(`json=${pythonLiteral(json, "    ")}`);
    else if (body !== undefined) parameters.push(`data=${JSON.stringify(body)}.encode()`);
    const data = returnsBody ? "\ndata = response.json()" : "";
    return `${imports}${imports && "\n"}import requests

response = requests.${method.toLowerCase()}(
    ${parameters.join(",\n    ")},
)
response.raise_for_status()${data}`;
}

function pythonLiteral(value, indent) {
    if (value === null) return "None";
    if (typeof value === "boolean") return value ? "True" : "False";
    if (typeof value !== "object" || Object.keys(value).length === 0) return JSON.stringify(value);
    const lines = Object.entries(value).map(([name, member]) => {
        const key = Array.isArray(value) ? "" : `${JSON.stringify(name)}: `;
        return `${indent}    ${key}${pythonLiteral(member, `${indent}    `)},\n`;
    });
    const [open, close] = Array.isArray(value) ? "[]" : "{}";
    return `${open}\n${lines.join("")}${indent}${close}`;
}

function indented(json, indent) {
    return JSON.stringify(json, null, 2).replaceAll("\n", `\n${indent}`);
}

/** Quotes a text for a shell. */
function shell(text) {
    return `'${text.replaceAll("'", "'\\''")}'`;
}

/* The script has moved the content. After a reload the browser restores the position itself. */

if (performance.getEntriesByType("navigation")[0]?.type === "navigate") showTarget(true);
markCurrent();
