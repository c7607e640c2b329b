//! Scopes of tokens, and the surfaces that define them ([protocol](crate::guide::protocol), sections 1.3 and 3.5).

use std::sync::Arc;

use self::Surface::{Compact, Full};
use crate::error::{ParseError, impl_as_str, impl_from_str};

/// Scope of a token. Scopes restrict the permissions of the token's owner and never extend them.
///
/// The constants are the scopes of the library. A host adds its own with
/// [`Environment::scope`](crate::Environment::scope). Two scopes are equal if they have the same name.
///
/// ```
/// use forum_api::scope::Scope;
///
/// const VOTES_WRITE: Scope = Scope::from_static("votes:write", "Vote for posts.");
/// assert!(!VOTES_WRITE.is_read_only());
/// ```
#[derive(Clone, Copy, Debug)]
#[doc(alias = "permission")]
pub struct Scope {
    name: &'static str,
    description: &'static str,
}

impl Scope {
    /// List forums.
    pub const FORUMS_READ: Self = Self::from_static("forums:read", "List forums.");
    /// List and read threads and their polls.
    pub const THREADS_READ: Self =
        Self::from_static("threads:read", "List and read threads and their polls.");
    /// Start threads.
    pub const THREADS_WRITE: Self = Self::from_static("threads:write", "Start threads.");
    /// Read posts.
    pub const POSTS_READ: Self = Self::from_static("posts:read", "Read posts.");
    /// Reply to threads; edit and delete posts.
    pub const POSTS_WRITE: Self =
        Self::from_static("posts:write", "Reply to threads; edit and delete posts.");
    /// Read the owner's account and members' profiles.
    pub const MEMBERS_READ: Self =
        Self::from_static("members:read", "Read the owner's account and members' profiles.");
    /// Read private messages; opening one marks it as read and can send a receipt.
    pub const MESSAGES_READ: Self = Self::from_static(
        "messages:read",
        "Read private messages; opening one marks it as read and can send a receipt.",
    );
    /// Send private messages.
    pub const MESSAGES_WRITE: Self = Self::from_static("messages:write", "Send private messages.");
    /// Vote in polls and edit them.
    pub const POLLS_WRITE: Self = Self::from_static("polls:write", "Vote in polls and edit them.");
    /// Rate members.
    pub const REPUTATION_WRITE: Self = Self::from_static("reputation:write", "Rate members.");
    /// List subscriptions to threads and forums.
    pub const SUBSCRIPTIONS_READ: Self =
        Self::from_static("subscriptions:read", "List subscriptions to threads and forums.");
    /// Add and remove subscriptions to threads and forums.
    pub const SUBSCRIPTIONS_WRITE: Self = Self::from_static(
        "subscriptions:write",
        "Add and remove subscriptions to threads and forums.",
    );
    /// Search threads and posts.
    pub const SEARCH_READ: Self = Self::from_static("search:read", "Search threads and posts.");
    /// No endpoint requires this scope.
    pub const ADMIN_READ: Self =
        Self::from_static("admin:read", "No endpoint requires this scope.");

    /// The scopes with their surfaces and the ids of the operations that require them, in the order of the document.
    #[rustfmt::skip]
    const STANDARD: &'static [(Self, &'static [Surface], &'static [&'static str])] = &[
        (Self::FORUMS_READ, &[Full, Compact], &["listForums"]),
        (Self::THREADS_READ, &[Full, Compact], &["listThreads", "getThread", "getPoll"]),
        (Self::THREADS_WRITE, &[Full, Compact], &["createThread"]),
        (Self::POSTS_READ, &[Full, Compact], &["listPosts"]),
        (Self::POSTS_WRITE, &[Full, Compact], &["createPost", "updatePost", "deletePost"]),
        (Self::MEMBERS_READ, &[Full, Compact], &["getMe", "getMember"]),
        (Self::MESSAGES_READ, &[Full], &["listMessages", "openMessage"]),
        (Self::MESSAGES_WRITE, &[Full], &["sendMessage"]),
        (Self::POLLS_WRITE, &[Full], &["vote", "updatePoll"]),
        (Self::REPUTATION_WRITE, &[Full], &["rateMember"]),
        (Self::SUBSCRIPTIONS_READ, &[Full], &["listSubscriptions"]),
        (Self::SUBSCRIPTIONS_WRITE, &[Full], &["subscribe", "unsubscribe"]),
        (Self::SEARCH_READ, &[Full, Compact], &["search"]),
        (Self::ADMIN_READ, &[Compact], &[]),
    ];

    /// Creates a scope. `name` is `[a-z_]+:[a-z_]+` with at most 64 characters. `description` is one sentence about the
    /// permitted operations.
    ///
    /// # Panics
    /// If the name has another form. In a constant, the compiler reports it.
    pub const fn from_static(name: &'static str, description: &'static str) -> Self {
        assert!(is_scope_name(name), "a scope is `[a-z_]+:[a-z_]+`");
        Self { name, description }
    }

    /// Parses the name of a scope of the library, on any surface. [`Scopes::parse`] also knows the scopes of a host.
    ///
    /// # Errors
    /// [`ParseError`] if the library has no such scope.
    pub fn parse(name: &str) -> Result<Self, ParseError> {
        let mut scopes = Self::STANDARD.iter().map(|(scope, ..)| *scope);
        scopes.find(|scope| scope.name == name).ok_or(PARSE_ERROR)
    }

    /// Returns the ids of the operations of the specification, each with its scope.
    pub(crate) fn operations() -> impl Iterator<Item = (&'static str, Self)> {
        let standard = Self::STANDARD.iter();
        standard.flat_map(|(scope, _, ids)| ids.iter().map(|id| (*id, *scope)))
    }

    /// Returns `true` if operations of the specification require the scope, and `omitted` contains all of them.
    fn is_omitted(self, omitted: &[String]) -> bool {
        let mut operations = Self::operations().filter(|(_, scope)| *scope == self).peekable();
        operations.peek().is_some() && operations.all(|(id, _)| omitted.iter().any(|one| one == id))
    }

    /// Returns the name, such as `forums:read`.
    pub const fn as_str(&self) -> &'static str {
        self.name
    }

    /// Returns a one-sentence description of the permitted operations.
    pub const fn description(&self) -> &'static str {
        self.description
    }

    /// Returns `true` if the name ends with `:read`: the scope permits only operations that do not change content.
    /// `messages:read` is read-only, although opening a message marks it as read and can send a receipt.
    pub fn is_read_only(&self) -> bool {
        self.name.ends_with(":read")
    }
}

const PARSE_ERROR: ParseError = ParseError::new("a scope, for example forums:read");

/// Returns `true` if a name is `[a-z_]+:[a-z_]+` of at most 64 characters.
const fn is_scope_name(name: &str) -> bool {
    let mut rest = name.as_bytes();
    let mut word_len = 0;
    let mut words = 1;
    while let [byte, others @ ..] = rest {
        match *byte {
            b'a'..=b'z' | b'_' => word_len += 1,
            b':' if word_len > 0 && words == 1 => {
                word_len = 0;
                words = 2;
            }
            _ => return false,
        }
        rest = others;
    }
    name.len() <= 64 && words == 2 && word_len > 0
}

impl PartialEq for Scope {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Scope {}

impl_from_str!(Scope);
impl_as_str!(Scope);

/// The scopes that the tokens of a service can carry: those of its surface, in the order of the document, and those of
/// the host.
///
/// [`Environment::scopes`](crate::Environment::scopes) returns it. A [`Surface`] converts to its own scopes.
#[derive(Clone, Debug)]
pub struct Scopes(Arc<[Scope]>);

impl Scopes {
    /// Maximum number of scopes.
    pub(crate) const MAX_LEN: usize = u64::BITS as usize;

    /// Returns the scopes of a service without the `omitted` operations.
    pub(crate) fn new(surface: Surface, own: &[Scope], omitted: &[String]) -> Self {
        let served = surface.scopes().filter(|scope| !scope.is_omitted(omitted));
        Self(served.chain(own.iter().copied()).collect())
    }

    /// Returns the scopes.
    pub fn iter(&self) -> impl Iterator<Item = Scope> {
        self.0.iter().copied()
    }

    /// Returns `true` if tokens can carry the scope. Other scopes are rejected when a token is issued, and ignored when
    /// it is used.
    pub fn contains(&self, scope: Scope) -> bool {
        self.0.contains(&scope)
    }

    /// Parses the name of one of the scopes.
    ///
    /// # Errors
    /// [`ParseError`] if none of the scopes has this name.
    pub fn parse(&self, name: &str) -> Result<Scope, ParseError> {
        let mut scopes = self.iter();
        scopes.find(|scope| scope.name == name).ok_or(PARSE_ERROR)
    }

    /// Returns the set of those scopes that have one of the names.
    pub(crate) fn set<'a>(&self, names: impl IntoIterator<Item = &'a String>) -> ScopeSet {
        let index = |name: &String| self.0.iter().position(|scope| scope.name == name);
        let bits = names.into_iter().filter_map(index);
        ScopeSet { known: self.clone(), bits: bits.fold(0, |set, index| set | 1 << index) }
    }
}

impl From<Surface> for Scopes {
    fn from(surface: Surface) -> Self {
        Self::new(surface, &[], &[])
    }
}

/// Set of known scopes.
#[derive(Clone, Debug)]
pub(crate) struct ScopeSet {
    known: Scopes,
    bits: u64,
}

impl ScopeSet {
    pub(crate) fn contains(&self, scope: Scope) -> bool {
        self.iter().any(|one| one == scope)
    }

    /// Returns the scopes of the set, in the order of [`Scopes::iter`].
    pub(crate) fn iter(&self) -> impl Iterator<Item = Scope> {
        let has_bit = |index: usize| self.bits & 1 << index != 0;
        let scopes = self.known.iter().enumerate();
        scopes.filter_map(move |(index, scope)| has_bit(index).then_some(scope))
    }
}

/// API surface: the set of endpoints and scopes that a service has ([protocol](crate::guide::protocol), section 1.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Surface {
    /// All endpoints, and all scopes except `admin:read`.
    #[default]
    Full,
    /// A subset of the endpoints, with 8 scopes. Only this surface has `admin:read`.
    Compact,
}

impl Surface {
    /// Returns the scopes of this surface.
    pub fn scopes(self) -> impl Iterator<Item = Scope> {
        let standard = Scope::STANDARD.iter();
        standard.filter_map(move |(scope, surfaces, _)| surfaces.contains(&self).then_some(*scope))
    }
}
