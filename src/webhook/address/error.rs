//! Why nothing is sent to an address.

use std::fmt;

/// Why nothing is sent to an address. It prints as a sentence for an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// It is no URL, or holds what no URL should.
    Malformed,
    /// Its scheme is neither `https` nor `http`.
    Scheme,
    /// It names a user or a password.
    Credentials,
    /// It has a fragment, which would never be sent.
    Fragment,
    /// Nobody listens on port 0.
    Port,
    /// Its name leads to no address now.
    Unresolved(String),
    /// Its host is of this kind, and the setting `allow_private` would allow it.
    Private(String, &'static str),
    /// Its host is of this kind, and no setting allows it.
    Forbidden(String, &'static str),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("a URL is expected, as https://example.org/hook"),
            Self::Scheme => f.write_str("the URL begins neither with https: nor with http:"),
            Self::Credentials => f.write_str("the URL names a user or a password"),
            Self::Fragment => f.write_str("the URL has a fragment (#), which would never be sent"),
            Self::Port => f.write_str("the URL names port 0"),
            Self::Unresolved(name) => write!(f, "the name {name} does not resolve"),
            Self::Private(host, kind) => {
                write!(f, "the address {host} is {kind}, and allow_private is off")
            }
            Self::Forbidden(host, kind) => write!(f, "the address {host} is {kind}"),
        }
    }
}

impl std::error::Error for Refused {}
