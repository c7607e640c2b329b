//! The page: contents, introduction, authentication, operations, webhooks, shared responses and schemas.

use std::collections::BTreeSet;

use maud::{Markup, html};
use serde_json::Value;

use super::code;
use super::document::{Document, Operation, entries, slug, unique_fragment, words};
use super::markdown::{
    HeadingLevel, code_fragment, inline_markdown, markdown, markdown_with_anchors, sections,
};
use super::operation::{codes, method, operation, responses, status, webhook};
use super::schema::{example, header_table, parameter_table, schema_fragment, schema_table};
use crate::html::{self, Frame};

/// An entry of the contents.
struct Entry {
    fragment: String,
    title: String,
    method: String,
    /// Words besides the title that the search finds.
    keywords: String,
}

/// A part of the page with its entries in the contents.
struct Part {
    title: String,
    entries: Vec<Entry>,
    /// `true` if the contents show only the title until the reader opens the part.
    is_folded: bool,
    content: Markup,
}

/// URLs that the page contains.
#[derive(Debug)]
pub(super) struct Links<'a> {
    pub(super) style: &'a str,
    pub(super) script: &'a str,
    pub(super) api_base_path: &'a str,
    pub(super) frame: Frame<'a>,
}

/// Renders the page.
pub(super) fn page(root: &Value, links: &Links<'_>) -> Markup {
    let document = Document::new(root);
    let stated = document.text(document.get("/info"), "title");
    let title = if stated.is_empty() { "API reference" } else { stated };
    let version = document.text(document.get("/info"), "version");
    let base_url = base_url(&document, links.api_base_path);
    let document_url = format!("{}/openapi.json", links.api_base_path);
    let parts = parts(&document, &base_url);
    let body = html! {
        body data-api=(links.api_base_path) {
            a.skip href="#page-main" { "Skip to content" }
            @if links.frame.is_given() { header { (links.frame.header("API reference", html! {})) } }
            aside.side aria-label="Reference" {
                div.brand {
                    p.title { a href="#page-main" { (title) } }
                    input.visually-hidden id="page-menu" type="checkbox";
                    label.menu for="page-menu" { "Contents" }
                }
                div.contents {
                    div.search role="search" hidden {
                        label.visually-hidden for="page-search" { "Search the reference" }
                        input id="page-search" type="search" placeholder="Search" autocomplete="off" aria-keyshortcuts="/";
                        kbd aria-hidden="true" { "/" }
                    }
                    p.visually-hidden id="page-matches" role="status" {}
                    nav aria-label="Contents" { @for part in &parts { (contents(part)) } }
                }
            }
            main id="page-main" tabindex="-1" {
                h1 { (title) }
                p.summary {
                    @if !version.is_empty() { "Version " (version) " · " }
                    a href=(document_url) { "OpenAPI document" }
                }
                p.base-url.copyable { span { "Base URL" } " " code.base { (base_url) } }
                @for part in &parts { (part.content) }
            }
        }
    };
    let title = format!("{title} · Reference");
    let icon = links.frame.icon_url();
    html::document(&title, links.style, links.script, &icon, body)
}

/// Returns the URL of the first server. If this URL is not absolute, returns the URL of `api_base_path` on an example
/// host.
fn base_url(document: &Document<'_>, api_base_path: &str) -> String {
    let url = document.text(document.get("/servers/0"), "url");
    if url.starts_with("http://") || url.starts_with("https://") {
        url.trim_end_matches('/').into()
    } else {
        format!("https://forum.example{api_base_path}")
    }
}

fn contents(part: &Part) -> Markup {
    let list = html! {
        ul {
            @for entry in &part.entries {
                li data-keywords=(entry.keywords) {
                    a href={ "#" (entry.fragment) } {
                        span { (entry.title) }
                        @if !entry.method.is_empty() { (method(&entry.method)) }
                    }
                }
            }
        }
    };
    html! {
        @if part.is_folded {
            details.part { summary { (part.title) } (list) }
        } @else {
            div.part { p { (part.title) } (list) }
        }
    }
}

fn parts<'a>(document: &Document<'a>, base_url: &str) -> Vec<Part> {
    let mut codes: BTreeSet<_> =
        entries(document.get("/info/x-errors")).map(|(code, _)| code).collect();
    let mut fragments = document.fragments.clone();
    let mut parts = vec![introduction(document, &mut codes, &mut fragments, base_url)];
    for group in &document.groups {
        let title = if group.name.is_empty() { "Operations".into() } else { words(group.name) };
        let id = unique_fragment(format!("group-{}", slug(&title)), &mut fragments);
        let content = html! {
            section.group id=(id) {
                h2 { (title) }
                (markdown(group.description, HeadingLevel::H3))
            }
            @for one in &group.operations { (operation(document, one, base_url)) }
        };
        let entries = group.operations.iter().map(|one| entry(one, one.method));
        parts.push(Part { title, entries: entries.collect(), is_folded: false, content });
    }
    parts.extend(webhooks(document));
    parts.push(shared(document, &codes, &mut fragments));
    parts.extend(schemas(document, &mut fragments));
    parts
}

fn entry(operation: &Operation<'_>, method: &str) -> Entry {
    let parameters = operation.parameters.iter();
    let names = parameters.filter_map(|one| one.get("name")?.as_str());
    let (summary, scope) = (operation.text("summary"), operation.text("x-scope"));
    let mut keywords = vec![operation.path, &operation.id, summary, scope];
    keywords.extend(names);
    Entry {
        fragment: operation.id.clone(),
        title: operation.title.clone(),
        method: method.into(),
        keywords: keywords.join(" "),
    }
}

fn plain_entry(fragment: impl Into<String>, title: impl Into<String>) -> Entry {
    Entry {
        fragment: fragment.into(),
        title: title.into(),
        method: String::new(),
        keywords: String::new(),
    }
}

/// Renders the description of the document, and the authentication after its first section.
fn introduction<'a>(
    document: &Document<'a>,
    codes: &mut BTreeSet<&'a str>,
    fragments: &mut BTreeSet<String>,
    base_url: &str,
) -> Part {
    let sections = sections(document.text(document.get("/info"), "description"));
    let schemes: Vec<_> = entries(document.get("/components/securitySchemes")).collect();
    let mut entries = Vec::new();
    let mut contents = Vec::new();
    for (title, text) in &sections {
        let text = markdown_with_anchors(text, codes, base_url);
        if title.is_empty() {
            contents.push(html! { div.prose { (text) } });
            continue;
        }
        let id = unique_fragment(format!("about-{}", slug(title.to_lowercase())), fragments);
        contents.push(html! { section.prose id=(id) { h2 { (title) } (text) } });
        entries.push(plain_entry(id, title));
    }
    if !schemes.is_empty() {
        let position = contents.len().min(2);
        contents.insert(position, authentication(document, &schemes));
        let authentication = plain_entry("about-authentication", "Authentication");
        entries.insert(entries.len().min(1), authentication);
    }
    Part {
        title: "Introduction".into(),
        entries,
        is_folded: false,
        content: html! { @for content in contents { (content) } },
    }
}

fn authentication<'a>(document: &Document<'a>, schemes: &[(&'a str, &'a Value)]) -> Markup {
    html! {
        section.prose id="about-authentication" {
            h2 { "Authentication" }
            @for (_, scheme) in schemes { (markdown(document.text(scheme, "description"), HeadingLevel::H3)) }
            div.token-box hidden {
                label for="page-token" { "Token for requests from this page" }
                input.token-field id="page-token" type="password" autocomplete="off" spellcheck="false";
                p { "The page keeps the token in memory. The samples show it without its secret, and copies of them have it whole. Reload the page to remove it." }
            }
            noscript { p.note { "The forms that send requests need JavaScript." } }
        }
    }
}

/// Renders the webhooks. Parameters and responses that all of them share come first.
fn webhooks(document: &Document<'_>) -> Option<Part> {
    let first = document.webhooks.first()?;
    let mut others = document.webhooks.iter();
    let shares_parameters = others.all(|other| other.parameters == first.parameters);
    let mut others = document.webhooks.iter();
    let shares_responses = others.all(|other| other.responses == first.responses);
    let content = html! {
        section.group id="group-webhooks" {
            h2 { "Webhooks" }
            div.prose { (markdown(document.tag_description(first.tag()), HeadingLevel::H3)) }
            div.columns {
                @if shares_parameters && !first.parameters.is_empty() {
                    div {
                        h3 { "Headers of a delivery" }
                        (parameter_table(document, &first.parameters))
                    }
                }
                @if shares_responses && !first.responses.is_empty() {
                    div {
                        h3 { "Responses of your endpoint" }
                        (responses(document, first))
                    }
                }
            }
        }
        @for one in &document.webhooks { (webhook(document, one, shares_parameters, shares_responses)) }
    };
    let entries = document.webhooks.iter().map(|one| entry(one, ""));
    let receiving = plain_entry("group-webhooks", "Receiving webhooks");
    Some(Part {
        title: "Webhooks".into(),
        entries: std::iter::once(receiving).chain(entries).collect(),
        is_folded: false,
        content,
    })
}

/// Renders the headers of responses and the errors of every operation. `codes` are the errors that the introduction does not
/// contain.
fn shared<'a>(
    document: &Document<'a>,
    codes_left: &BTreeSet<&'a str>,
    fragments: &mut BTreeSet<String>,
) -> Part {
    let headers: Vec<_> = entries(document.get("/components/headers")).collect();
    let (common, others): (Vec<_>, Vec<_>) =
        headers.into_iter().partition(|(name, _)| document.common_headers.contains(name));
    let mut contents = Vec::new();
    if !common.is_empty() {
        let id = unique_fragment("about-common-headers".into(), fragments);
        contents.push((id, "Headers of every response", header_table(document, &common)));
    }
    if !others.is_empty() {
        let table = header_table(document, &others);
        contents.push(("about-headers".into(), "Headers of some responses", table));
    }
    if !document.common_errors.is_empty() {
        let table = common_errors(document);
        contents.push(("about-common-errors".into(), "Errors of every operation", table));
    }
    if !codes_left.is_empty() {
        let table = code_table(document, codes_left);
        let id = unique_fragment("about-error-codes".into(), fragments);
        contents.push((id, "Error codes", table));
    }
    Part {
        title: "Responses".into(),
        entries: contents.iter().map(|(id, title, _)| plain_entry(id, *title)).collect(),
        is_folded: false,
        content: html! {
            @for (id, title, content) in contents {
                section.prose id=(id) { h2 { (title) } (content) }
            }
        },
    }
}

fn common_errors(document: &Document<'_>) -> Markup {
    let operations = document.groups.iter().flat_map(|group| &group.operations);
    let first = operations.into_iter().next();
    let responses = first.into_iter().flat_map(|operation| &operation.responses);
    html! {
        table.responses {
            thead { tr { th scope="col" { "Status" } th scope="col" { "Meaning" } } }
            tbody {
                @for response in responses {
                    @if let Some(shared) = document.common_errors.get(response.status) {
                        @let text = document.text(response.value, "description");
                        tr {
                            th scope="row" { (status(response.status)) }
                            td {
                                @if !shared.iter().any(|code| text.contains(code)) { (codes(shared)) }
                                (inline_markdown(text))
                            }
                        }
                    }
                }
            }
        }
    }
}

fn code_table(document: &Document<'_>, codes: &BTreeSet<&str>) -> Markup {
    html! {
        table.responses {
            thead { tr { th scope="col" { "Code" } th scope="col" { "Status" } th scope="col" { "Meaning" } } }
            tbody {
                @for (code, error) in entries(document.get("/info/x-errors")).filter(|(code, _)| codes.contains(code)) {
                    tr id=(code_fragment(code)) {
                        th scope="row" { code { (code) } }
                        td { @if let Some(number) = error.get("status") { (status(&number.to_string())) } }
                        td { (inline_markdown(document.text(error, "meaning"))) }
                    }
                }
            }
        }
    }
}

fn schemas(document: &Document<'_>, fragments: &mut BTreeSet<String>) -> Option<Part> {
    let named: Vec<_> = entries(document.get("/components/schemas")).collect();
    if named.is_empty() {
        return None;
    }
    let id = unique_fragment("schemas".into(), fragments);
    let content = html! {
        section.group id=(id) { h2 { "Schemas" } }
        @for (name, schema) in &named {
            details.schema id=(schema_fragment(name)) {
                summary { code { (name) } }
                div.operation {
                    div.description {
                        (markdown(document.text(schema, "description"), HeadingLevel::H3))
                        (schema_table(document, schema))
                    }
                    div.examples {
                        figure.code.copyable {
                            figcaption { "Example" }
                            (code::json(document, schema, &example(document, schema)))
                        }
                    }
                }
            }
        }
    };
    let entries = named.iter().map(|(name, _)| plain_entry(schema_fragment(name), *name));
    Some(Part { title: "Schemas".into(), entries: entries.collect(), is_folded: true, content })
}
