//! Values of options.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use forum_api::IpNet;
use forum_api::model::Timestamp;
use http::HeaderValue;
use percent_encoding::percent_decode_str;

/// Parses an address with a port, a port, or `localhost` with a port.
pub fn listen_address(text: &str) -> Result<SocketAddr, &'static str> {
    let mut ports = ["localhost:", ":", ""].into_iter();
    let port = ports.find_map(|prefix| text.strip_prefix(prefix)?.parse().ok());
    port.map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
        .or_else(|| text.parse().ok())
        .ok_or("expected an address and a port, for example 127.0.0.1:8080, or a port")
}

/// Parses a whole number.
pub fn whole<const MIN: u64, const MAX: u64, N: TryFrom<u64>>(text: &str) -> Result<N, String> {
    within(text, MIN..=MAX)
        .and_then(|number| N::try_from(number).ok())
        .ok_or_else(|| format!("expected a whole number from {MIN} to {MAX}"))
}

/// Parses a number of connections, whose upper bound is below that of the semaphore that counts them, or of items.
pub fn count(text: &str) -> Result<usize, String> {
    whole::<1, 1_000_000, _>(text)
}

/// Parses a number from 1 to 4294967295.
pub fn number(text: &str) -> Result<u32, String> {
    whole::<1, 4_294_967_295, _>(text)
}

/// Parses a number of days.
pub fn days(text: &str) -> Result<Duration, &'static str> {
    within(text, 0..=36_500_u64)
        .map(|days| Duration::from_secs(days * 24 * 60 * 60))
        .ok_or("expected a whole number of days from 0 to 36500")
}

/// Parses a time: a date, or a date and a time of day, in UTC unless the text has an offset.
pub fn time(text: &str) -> Result<Timestamp, &'static str> {
    let forms = ["", "Z", ":00Z", "T00:00:00Z"].map(|rest| format!("{text}{rest}"));
    forms
        .iter()
        .find_map(|form| Timestamp::parse(form).ok())
        .ok_or("expected a time, for example 2026-01-31 or 2026-01-31T12:00")
}

/// Parses the URL of a database. A path without a scheme is that of a SQLite database.
pub fn database(text: &str) -> Result<String, Infallible> {
    let is_path = text.starts_with(['/', '.']) || !text.contains([':', '=']);
    Ok(if is_path && !text.is_empty() { format!("sqlite:{text}") } else { text.into() })
}

/// Checks that a URL of SQLite is not in a form of other programs, which would name another file here.
///
/// # Errors
/// If it is. The error names the form of this program.
pub fn check_sqlite_form(url: &str) -> Result<(), String> {
    match own_form(url) {
        Some(own) => Err(format!("unsupported database URL \"{url}\": use {own}")),
        None => Ok(()),
    }
}

/// Returns the URL of this program for the file that a URL names in other programs: with two slashes before a relative
/// path (sqlx) or three (SQLAlchemy), with `file:`, with parameters, or with one colon at `memory`.
fn own_form(url: &str) -> Option<String> {
    let path = url.strip_prefix("sqlite:")?;
    let is_parameter = |text: &str| {
        let name = text.split_once('=').map_or("", |(name, _)| name);
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    let split = path.split_once('?').filter(|(_, rest)| is_parameter(rest));
    let without_parameters = split.map_or(path, |(start, _)| start);
    let without_slashes = match without_parameters.strip_prefix("//") {
        Some(rest) => match rest.strip_prefix('/') {
            Some(name) if !name.contains('/') => name,
            Some(_) => without_parameters,
            None => rest,
        },
        None => without_parameters,
    };
    let file = match without_slashes.strip_prefix("file:").unwrap_or(without_slashes) {
        ":memory" | "memory:" => ":memory:",
        file => file,
    };
    (file != path && !file.is_empty()).then(|| format!("sqlite:{file}"))
}

fn within<N: FromStr + PartialOrd>(text: &str, range: RangeInclusive<N>) -> Option<N> {
    text.parse().ok().filter(|number| range.contains(number))
}

/// Parses seconds, with or without a fraction, from a millisecond to a year.
pub fn seconds(text: &str) -> Result<Duration, &'static str> {
    within(text, 0.001..=31_536_000.0)
        .map(Duration::from_secs_f64)
        .ok_or("expected a number of seconds from 0.001 to 31536000")
}

/// Parses seconds, with or without a fraction, or 0.
pub fn delay(text: &str) -> Result<Duration, &'static str> {
    within(text, 0.0..=3600.0)
        .map(Duration::from_secs_f64)
        .ok_or("expected a number of seconds from 0 to 3600")
}

/// Parses hours, with or without a fraction, or 0.
pub fn hours(text: &str) -> Result<Duration, &'static str> {
    within(text, 0.0..=87_600.0)
        .map(|hours| Duration::from_secs_f64(hours * 3600.0))
        .ok_or("expected a number of hours from 0 to 87600")
}

/// Parses an HTTP URL without credentials, path, query and fragment. Removes trailing slashes.
pub fn base_url(text: &str) -> Result<String, &'static str> {
    let expected = "expected http://… or https://… without username, path, query or fragment";
    let url = text.trim_end_matches('/');
    let parsed: http::Uri = url.parse().map_err(|_| expected)?;
    let is_web = url.starts_with("http://") || url.starts_with("https://");
    let is_valid = |authority: &http::uri::Authority| {
        let has_valid_port = authority.port().is_some() || authority.as_str() == authority.host();
        has_valid_port && !authority.host().is_empty()
    };
    let has_valid_authority = parsed.authority().is_some_and(is_valid);
    let is_origin = parsed.path() == "/" && !url.contains(['?', '#', '@']);
    if !is_web || !has_valid_authority || !is_origin {
        return Err(expected);
    }
    Ok(url.into())
}

/// Parses a colour.
pub fn color(text: &str) -> Result<String, &'static str> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6);
    let is_hex = digits.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    if !is_hex {
        return Err("expected a colour such as #1f55b5");
    }
    Ok(text.into())
}

/// Parses an origin in the form in which a browser sends it, or `*`. A browser compares the whole text: an origin in
/// another form, such as with a pattern or with the default port of its scheme, would never match.
pub fn origin(text: &str) -> Result<HeaderValue, &'static str> {
    if text.len() > 1 && text.contains('*') {
        return Err("expected a whole origin without a pattern, one for each subdomain, or *");
    }
    let parsed = text.parse().unwrap_or_else(|_| http::Uri::default());
    let default_port = match parsed.scheme_str() {
        Some("http") => Some(80),
        Some("https") => Some(443),
        _ => None,
    };
    let scheme = parsed.scheme_str().unwrap_or_default();
    let port = match parsed.port_u16() {
        Some(port) if Some(port) != default_port => format!(":{port}"),
        _ => String::new(),
    };
    let written =
        parsed.host().map(|host| format!("{scheme}://{}{port}", host.to_ascii_lowercase()));
    let is_origin = text == "*" || written.as_deref() == Some(text);
    HeaderValue::from_str(text).ok().filter(|_| is_origin).ok_or(
        "expected an origin as a browser sends it, for example https://board.example:8443, or *",
    )
}

/// Parses a network, or a single address.
pub fn network(text: &str) -> Result<IpNet, &'static str> {
    let single = || IpAddr::from_str(text).map(IpNet::from);
    IpNet::from_str(text)
        .or_else(|_| single())
        .map_err(|_| "expected an IP address, or a network, for example 10.0.0.0/8")
}

/// Replaces the passwords in the URL of a database or of Redis, so that the URL can be shown. Shows only the scheme if an `@`
/// follows a `?`, because the text between them can be a part of a password.
pub fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.into();
    };
    let (address, query) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
    if query.contains('@') {
        return format!("{scheme}://***");
    }
    let hidden = address.rsplit_once('@').and_then(|(credentials, hosts)| {
        let (user, _) = credentials.split_once(':')?;
        Some(format!("{user}:***@{hosts}"))
    });
    let parameters: Vec<_> = query.split('&').map(parameter_without_password).collect();
    format!("{scheme}://{}{}", hidden.as_deref().unwrap_or(address), parameters.join("&"))
}

/// Replaces the value of a parameter that is a password. The first parameter of a URL begins with `?`.
fn parameter_without_password(parameter: &str) -> String {
    let Some((name, _)) = parameter.split_once('=') else {
        return parameter.into();
    };
    let decoded = percent_decode_str(name.trim_start_matches('?')).decode_utf8_lossy();
    match &*decoded {
        "pass" | "password" | "sentinel_password" => format!("{name}=***"),
        _ => parameter.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_to_listen_on_can_be_a_port() {
        for (text, expected) in [
            ("8080", Some("127.0.0.1:8080")),
            (":8080", Some("127.0.0.1:8080")),
            ("localhost:8080", Some("127.0.0.1:8080")),
            ("0.0.0.0:1", Some("0.0.0.0:1")),
            ("[::1]:1", Some("[::1]:1")),
            ("localhost", None),
            ("localhost8080", None),
            ("65536", None),
            ("", None),
            ("board.example:80", None),
        ] {
            let parsed = listen_address(text).ok().map(|address| address.to_string());
            assert_eq!(parsed.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_time_can_be_a_date() {
        for text in
            ["2026-01-31", "2026-01-31T00:00", "2026-01-31T00:00:00", "2026-01-31T01:00:00+01:00"]
        {
            let expected = Timestamp::parse("2026-01-31T00:00:00Z").unwrap();
            assert_eq!(time(text), Ok(expected), "{text}");
        }
        for text in ["", "yesterday", "2026-02-30", "2026-01-31T", "12:00"] {
            assert!(time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_have_the_unit_of_their_option() {
        assert_eq!(seconds("0.25"), Ok(Duration::from_millis(250)));
        assert_eq!(delay("1.5"), Ok(Duration::from_millis(1_500)));
        assert_eq!(hours("0.5"), Ok(Duration::from_secs(1_800)));
        assert_eq!(days("2"), Ok(Duration::from_secs(172_800)));
    }

    #[test]
    fn the_url_of_a_server_is_an_origin() {
        for (text, expected) in [
            ("http://localhost:8080", Some("http://localhost:8080")),
            ("https://board.example//", Some("https://board.example")),
            ("https://[::1]:1", Some("https://[::1]:1")),
            ("ftp://board.example", None),
            ("board.example", None),
            ("https://board.example/forum", None),
            ("https://board.example?", None),
            ("https://board.example#", None),
            ("https://user@board.example", None),
            ("https://board.example:", None),
            ("https://board.example:65536", None),
            ("https://", None),
            ("", None),
        ] {
            assert_eq!(base_url(text).ok().as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_colour_has_six_hexadecimal_digits() {
        for valid in ["#1f55b5", "#ABCDEF", "#000000"] {
            assert_eq!(color(valid).as_deref(), Ok(valid));
        }
        for invalid in ["1f55b5", "#1f55b", "#1f55b55", "#1f55bg", "#fff", "red", ""] {
            assert!(color(invalid).is_err(), "{invalid}");
        }
    }

    #[test]
    fn a_path_is_the_url_of_a_sqlite_database() {
        for path in ["forum.db", "./a:b=c", "/srv/forum.db", "../x"] {
            assert_eq!(database(path), Ok(format!("sqlite:{path}")));
        }
        for url in [
            "",
            "sqlite:forum.db",
            "sqlite::memory:",
            "postgres://h/db",
            "host=h user=u",
            "mysql:1",
        ] {
            assert_eq!(database(url), Ok(url.into()));
        }
    }

    #[test]
    fn forms_of_other_programs_are_recognized() {
        for (url, expected) in [
            ("sqlite:forum.db", None),
            ("sqlite:/srv/forum.db", None),
            ("sqlite:///srv/forum.db", None),
            ("sqlite:what?.db", None),
            ("sqlite:///", None),
            ("sqlite::memory:", None),
            ("postgres:///forum?host=/run/postgresql", None),
            ("sqlite://forum.db", Some("sqlite:forum.db")),
            ("sqlite:///forum.db", Some("sqlite:forum.db")),
            ("sqlite://data/forum.db?mode=rwc", Some("sqlite:data/forum.db")),
            ("sqlite:file:forum.db", Some("sqlite:forum.db")),
            ("sqlite:file:/srv/forum.db?cache=shared", Some("sqlite:/srv/forum.db")),
            ("sqlite:/srv/forum.db?mode=ro", Some("sqlite:/srv/forum.db")),
            ("sqlite::memory:?cache=shared", Some("sqlite::memory:")),
            ("sqlite://:memory:", Some("sqlite::memory:")),
            ("sqlite::memory", Some("sqlite::memory:")),
            ("sqlite:memory:", Some("sqlite::memory:")),
            ("sqlite://memory:", Some("sqlite::memory:")),
            ("sqlite:memory", None),
        ] {
            assert_eq!(own_form(url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn urls_are_shown_without_passwords() {
        for (url, shown) in [
            ("sqlite:forum.db", "sqlite:forum.db"),
            ("postgres://forum@h/db", "postgres://forum@h/db"),
            ("postgres://forum:s3/cret@h/db?x=1", "postgres://forum:***@h/db?x=1"),
            ("postgres://forum:s3@h:1,[::1]:2/db", "postgres://forum:***@h:1,[::1]:2/db"),
            ("postgres://h/db?x=1&password=s3", "postgres://h/db?x=1&password=***"),
            ("redis://:s3@h:1/0", "redis://:***@h:1/0"),
            (
                "redis+sentinel://u:s3@h:1,[::1]/board?sentinel_password=s3&x=1",
                "redis+sentinel://u:***@h:1,[::1]/board?sentinel_password=***&x=1",
            ),
            ("redis+cluster://:s3@h:1,i:1", "redis+cluster://:***@h:1,i:1"),
            ("postgres://u:s3@x@h/db", "postgres://u:***@h/db"),
            ("postgres://u@h:1/db?password=s3@x&y=1", "postgres://***"),
            ("postgres://u:s3@h/db?password=s3?x&y=1", "postgres://u:***@h/db?password=***&y=1"),
            ("postgres://u:s3@h/db?options=a@b", "postgres://***"),
            ("postgres://u:s3@x/y?z=@h/db", "postgres://***"),
            ("postgres://u:s3?x@h/db", "postgres://***"),
            ("redis://u:s3@x?y@h", "redis://***"),
            ("redis+unix:///run/redis?pass=s3", "redis+unix:///run/redis?pass=***"),
            ("postgres://h/db?p%61ssword=s3", "postgres://h/db?p%61ssword=***"),
            ("postgres://h/db?", "postgres://h/db?"),
            ("redis+sentinel://u:s3@x@h:1/board?sentinel_password=s3@x", "redis+sentinel://***"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}
