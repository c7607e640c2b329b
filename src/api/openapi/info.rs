//! Descriptions of the document and of its security scheme.

use http::StatusCode;

use crate::api::{ApiSettings, BoardDescription};
use crate::environment::Environment;
use crate::model::ErrorCode;
use crate::model::error_reason::{ERROR_REASONS, ErrorReason};
use crate::rate_limit::Budget;
use crate::scope::{Scopes, Surface};

const INTRODUCTION: &str = include_str!("introduction.md");
const AUTHENTICATION: &str = include_str!("authentication.md");

/// Returns the description of the document, with requests to `server`, a table of errors, the budgets, and the limit and
/// the timeout of request bodies.
pub(super) fn introduction(settings: &ApiSettings, surface: Surface, server: &str) -> String {
    let errors = ErrorCode::of(surface).map(|code| {
        let status = code.status();
        let name = format!("`{}`", code.as_str());
        [status.as_str().to_owned(), name, code.meaning(status).into()]
    });
    let reasons = reasons(surface).map(|reason| {
        let code = format!("`{}`", reason.code);
        [format!("`{}`", reason.name), code, reason.meaning.into()]
    });
    let budgets = format!(
        "A token has {}. Requests without a token share {} per IP prefix (IPv4 /{}, IPv6 /{}).",
        budget(settings.token_budget),
        budget(settings.guest_budget),
        settings.ipv4_prefix_len,
        settings.ipv6_prefix_len,
    );
    let origin = if server.contains("://") { "" } else { "https://forum.example" };
    let chapter = match &*this_board(&settings.board) {
        "" => String::new(),
        text => format!("## This board\n\n{text}\n\n"),
    };
    INTRODUCTION
        .trim_end()
        .replace("{base_url}", &format!("{origin}{server}"))
        .replace("{errors}", &table(["status", "code", "meaning"], errors))
        .replace("{reasons}", &table(["reason", "code", "meaning"], reasons))
        .replace("{budgets}", &budgets)
        .replace("{body_limit}", &settings.body_limit.to_string())
        .replace("{timeout}", &settings.request_timeout.as_secs_f64().to_string())
        .replace("{overloaded}", ErrorCode::InternalError.meaning(StatusCode::SERVICE_UNAVAILABLE))
        .replace("{this_board}", &chapter)
}

/// Returns the reasons of the codes that `surface` documents.
pub(super) fn reasons(surface: Surface) -> impl Iterator<Item = &'static ErrorReason> {
    let is_documented = move |code| ErrorCode::of(surface).any(|one| one == code);
    ERROR_REASONS.iter().filter(move |reason| is_documented(reason.code))
}

/// Texts with the maximum length of a title, and of a body.
const TITLES: &str = "Titles, subjects, questions and options of polls, and reasons of edits";
const BODIES: &str = "Posts, messages and comments of ratings";

/// Returns sentences about the board; an empty text if the host states nothing.
pub(crate) fn this_board(board: &BoardDescription) -> String {
    let mut text = String::new();
    if !board.markup.is_empty() {
        text += &format!("Texts are {}. ", board.markup);
    }
    for (texts, max) in [(TITLES, board.title_max), (BODIES, board.body_max)] {
        if let Some(max) = max {
            text += &format!("{texts} have at most {max} characters. ");
        }
    }
    if let Some(interval) = board.post_interval {
        let seconds = interval.as_secs();
        text += &format!("The time between two posts of a member is at least {seconds} s. ");
    }
    (text + &board.notes).trim_end().to_owned()
}

/// Note after the table of scopes of an API without some operations of the specification. The descriptions of the scopes
/// are the same as for all operations.
const PARTIAL_API: &str = "\n\nThe table also names operations that this API does not have. This document lists all operations of this API.";

/// Way to get a token on a board whose host does not state one.
const TOKEN_SOURCE: &str = "The board's administrators issue tokens in the control panel under API tokens. If you are not an administrator, ask one of them for a token.";

/// Returns the description of the security scheme, with a table of scopes.
pub(super) fn authentication(
    board: &BoardDescription,
    environment: &Environment,
    scopes: &Scopes,
) -> String {
    let rows = scopes.iter().map(|scope| [format!("`{scope}`"), scope.description().into()]);
    let mut scopes = table(["scope", "allows"], rows);
    if environment.surface == Surface::Compact || !environment.omitted_operations.is_empty() {
        scopes += PARTIAL_API;
    }
    let token_source = match &*board.token_source {
        "" => TOKEN_SOURCE,
        stated => stated,
    };
    let text = AUTHENTICATION.trim_end().replace("{scopes}", &scopes);
    text.replace("{token_source}", token_source)
}

fn budget(budget: Budget) -> String {
    let seconds = budget.window.as_secs();
    format!("{} units in {seconds} seconds", budget.units)
}

/// Formats a Markdown table.
fn table<const N: usize>(heads: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut table = format!("| {} |\n|{}", heads.join(" | "), "---|".repeat(N));
    for cells in rows {
        table += &format!("\n| {} |", cells.join(" | "));
    }
    table
}
