//! Caching policy of responses ([protocol](crate::guide::protocol), section 2.7).

/// Caching policy of an endpoint's successful responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CachePolicy {
    /// The client may store a response and must revalidate it: `private, no-cache`.
    PrivateNoCache,
    /// A response must not be stored: `no-store`.
    NoStore,
}
