//! Step 1: which row a path names. It is judged as it was sent: nothing is decoded, joined or cut.

use http::Method;

use super::row::{Row, Verb};
use crate::api::endpoints::TABLE;
use crate::api::extract::path::Vars;
use crate::scope::Surface;

/// The path of the document, below the mount.
pub(super) const DOCUMENT: &str = "/openapi.json";

/// What a request is for.
pub(super) enum Route<'a> {
    Endpoint(&'static Row, Vars<'a>),
    Document,
}

/// `None` for what is no route: an unknown path, or a known one with a method that it does not declare.
pub(super) fn find<'a>(
    surface: Surface,
    mount: &str,
    method: &Method,
    path: &'a str,
) -> Option<Route<'a>> {
    let verb = verb(method)?;
    let below = path.strip_prefix(mount)?;
    if below == DOCUMENT {
        return (verb == Verb::Get).then_some(Route::Document);
    }
    let mut served = rows(surface).filter(|row| row.verb == verb);
    served.find_map(|row| {
        let (start, template) = row.parts;
        let rest = below.strip_prefix(start)?;
        matches(template, rest).map(|vars| Route::Endpoint(row, vars))
    })
}

/// The rows of a surface.
pub(super) fn rows(surface: Surface) -> impl Iterator<Item = &'static Row> {
    TABLE
        .iter()
        .filter(move |row| surface == Surface::Full || row.compact)
}

fn verb(method: &Method) -> Option<Verb> {
    match *method {
        Method::GET | Method::HEAD => Some(Verb::Get),
        Method::POST => Some(Verb::Post),
        Method::PATCH => Some(Verb::Patch),
        Method::DELETE => Some(Verb::Delete),
        _ => None,
    }
}

fn matches<'a>(mut template: &str, mut path: &'a str) -> Option<Vars<'a>> {
    let mut vars = Vars::default();
    let mut places = vars.0.iter_mut();
    loop {
        let (words, rest) = before(b'{', template);
        path = path.strip_prefix(words)?;
        if rest.is_empty() {
            return path.is_empty().then_some(vars);
        }
        let (segment, after) = before(b'/', path);
        *places.next()? = variable(segment)?;
        let (_, closed) = before(b'}', rest);
        (template, path) = (closed.strip_prefix('}')?, after);
    }
}

fn variable(segment: &str) -> Option<&str> {
    let slash = segment
        .as_bytes()
        .windows(3)
        .any(|three| three.eq_ignore_ascii_case(b"%2f"));
    (!segment.is_empty() && !slash).then_some(segment)
}

/// What stands in a path before such a character, and the rest.
#[expect(
    clippy::indexing_slicing,
    reason = "slices have no `get` in a `const fn`"
)]
pub(super) const fn before(end: u8, path: &str) -> (&str, &str) {
    let (mut at, bytes) = (0, path.as_bytes());
    while at < bytes.len() && bytes[at] != end {
        at += 1;
    }
    path.split_at(at)
}

/// Whether the variables of a path have these names, in this order.
#[expect(clippy::indexing_slicing, reason = "it runs at compile time")]
pub(super) const fn has_variables(path: &str, names: &[&str]) -> bool {
    let path = path.as_bytes();
    let (mut at, mut found) = (0, 0);
    while at < path.len() {
        if path[at] == b'{' {
            if found == names.len() || !stands_at(path, at + 1, names[found].as_bytes()) {
                return false;
            }
            found += 1;
        }
        at += 1;
    }
    found == names.len()
}

/// Whether `name` and a closing brace stand in `path` from `start` on.
#[expect(clippy::indexing_slicing, reason = "it runs at compile time")]
const fn stands_at(path: &[u8], start: usize, name: &[u8]) -> bool {
    let mut at = 0;
    while at < name.len() {
        if start + at >= path.len() || path[start + at] != name[at] {
            return false;
        }
        at += 1;
    }
    start + at < path.len() && path[start + at] == b'}'
}

/// Whether two paths have the same shape: the same words at the same places, and variables elsewhere.
#[expect(clippy::indexing_slicing, reason = "it runs at compile time")]
pub(super) const fn same_shape(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let (mut i, mut k) = (0, 0);
    while i < one.len() && k < other.len() {
        if one[i] != other[k] {
            return false;
        }
        if one[i] == b'{' {
            i = closing_brace(one, i);
            k = closing_brace(other, k);
        }
        i += 1;
        k += 1;
    }
    i == one.len() && k == other.len()
}

#[expect(clippy::indexing_slicing, reason = "it runs at compile time")]
const fn closing_brace(path: &[u8], mut at: usize) -> usize {
    while path[at] != b'}' {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::{before, has_variables, matches, same_shape};

    #[test]
    fn segments_are_compared_as_they_were_sent() {
        let (start, template) = before(b'{', "/threads/{threadId}/posts");
        assert_eq!((start, template), ("/threads/", "{threadId}/posts"));
        for (path, var) in [
            ("/threads/1/posts", Some("1")),
            ("/threads/%31/posts", Some("%31")),
            ("/threads/../posts", Some("..")),
            ("/threads//posts", None),
            ("/threads/1/posts/", None),
            ("/threads/1%2Fposts/posts", None),
            ("/threads/1%2f/posts", None),
            ("/Threads/1/posts", None),
            ("/thre%61ds/1/posts", None),
            ("/threads/1/posts/2", None),
            ("threads/1/posts", None),
            ("", None),
        ] {
            let found = path.strip_prefix(start);
            let found = found.and_then(|rest| matches(template, rest));
            assert_eq!(found.map(|vars| vars.0[0]), var, "{path}");
        }
    }

    #[test]
    fn names_and_shapes() {
        assert!(has_variables("/a/{b}/{cd}", &["b", "cd"]));
        for names in [
            &["b"][..],
            &["b", "c"],
            &["b", "cde"],
            &["b", "cd", "e"],
            &[],
        ] {
            assert!(!has_variables("/a/{b}/{cd}", names), "{names:?}");
        }
        assert!(same_shape("/a/{b}/c", "/a/{other}/c"));
        assert!(!same_shape("/a/{b}/c", "/a/{b}/d"));
        assert!(!same_shape("/a/{b}", "/a/{b}/c"));
    }
}
