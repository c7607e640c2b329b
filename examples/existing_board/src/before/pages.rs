//! The board's pages.

use axum::Router;
use axum::extract::{Path, RawForm, State};
use axum::http::header::{COOKIE, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use url::form_urlencoded;

use super::{Club, ReplyError, members, reply, topics};

/// Returns the routes of the pages.
pub fn routes(club: Club) -> Router {
    Router::new()
        .route("/", get(index))
        .route("/topics/{id}", get(topic).post(submit))
        .route("/in/{session}", get(sign_in))
        .with_state(club)
}

/// Lists the topics that the visitor sees.
async fn index(State(club): State<Club>, headers: HeaderMap) -> Result<Html<String>, ReplyError> {
    let rank = rank(&club, &headers).await?;
    let topics = topics::all(&club.pool.get().await?, rank).await?;
    let lines = topics.iter().map(|topic| {
        let section = escaped(&topic.section_title);
        let subject = escaped(&topic.subject);
        let id = topic.id;
        format!("<li>{section}: <a href=\"/topics/{id}\">{subject}</a>")
    });
    let list: String = lines.collect();
    Ok(page("Topics", &format!("<ul>{list}</ul>")))
}

/// Shows a topic with its entries and a form for replies.
async fn topic(
    State(club): State<Club>,
    Path(id): Path<i64>,
    headers: HeaderMap,
) -> Result<Html<String>, ReplyError> {
    let rank = rank(&club, &headers).await?;
    let client = club.pool.get().await?;
    let topic = topics::find(&client, id, rank).await?.ok_or(ReplyError::NoTopic)?;
    let found = topics::entries(&client, id).await?;
    let entries = found.iter().map(|entry| {
        let name = escaped(&entry.writer.name);
        let body = html(&entry.body);
        let number = entry.number;
        format!("<article id=\"{number}\"><h2>{name}</h2>{body}</article>")
    });
    let is_open = topic.accepts_entries_of(rank);
    let form = if is_open { FORM } else { "" };
    let entries: String = entries.collect();
    Ok(page(&topic.subject, &format!("{entries}{form}")))
}

const FORM: &str = "<form method=post><textarea name=body></textarea><button>Reply</button></form>";

/// Handles the form.
async fn submit(
    State(club): State<Club>,
    Path(id): Path<i64>,
    headers: HeaderMap,
    RawForm(form): RawForm,
) -> Result<Response, ReplyError> {
    let Some(member) = session(&club, &headers).await? else {
        let sign_in = page("Please sign in", "Follow the link that you were sent.");
        return Ok((StatusCode::UNAUTHORIZED, sign_in).into_response());
    };
    let body = form_urlencoded::parse(&form)
        .find(|(name, _)| name == "body")
        .map(|(_, body)| body)
        .unwrap_or_default();
    let (_, entry) = reply::reply(&club, member, id, &body, None).await?;
    Ok(Redirect::to(&format!("/topics/{id}#{}", entry.number)).into_response())
}

/// Handles the sign-in link.
async fn sign_in(Path(session): Path<String>) -> Response {
    let cookie = format!("session={session}; Path=/; HttpOnly; SameSite=Lax");
    ([(SET_COOKIE, cookie)], Redirect::to("/")).into_response()
}

/// Returns the visitor's rank, 0 for a guest.
async fn rank(club: &Club, headers: &HeaderMap) -> Result<i16, ReplyError> {
    let member = match session(club, headers).await? {
        Some(member) => members::find(&club.pool.get().await?, member).await?,
        None => None,
    };
    Ok(member.map_or(0, |member| member.rank))
}

/// Returns the id of the member who is signed in.
async fn session(club: &Club, headers: &HeaderMap) -> Result<Option<i64>, ReplyError> {
    let header = headers.get(COOKIE).and_then(|value| value.to_str().ok());
    let mut cookies = header.unwrap_or_default().split("; ");
    match cookies.find_map(|cookie| cookie.strip_prefix("session=")) {
        Some(session) => members::signed_in(&club.pool.get().await?, session).await,
        None => Ok(None),
    }
}

impl IntoResponse for ReplyError {
    fn into_response(self) -> Response {
        (self.status(), page("Error", &escaped(&self.to_string()))).into_response()
    }
}

fn page(title: &str, content: &str) -> Html<String> {
    let title = escaped(title);
    Html(format!("<!doctype html><title>{title}</title><h1>{title}</h1>{content}"))
}

/// Converts an entry's plain text to HTML.
pub fn html(body: &str) -> String {
    format!("<p>{}</p>", escaped(body).replace('\n', "<br>"))
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}
