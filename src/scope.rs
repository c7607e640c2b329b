//! Scopes of tokens, and the surfaces that define them (`docs/protocol.md`, sections 1.3 and 3.5).

use crate::error::{ParseError, impl_as_str, impl_from_str, impl_serde_str};

macro_rules! scopes {
    ($($name:ident $text:literal [$($surface:ident),+] $description:literal)+) => {
        /// Scope of a token. Scopes restrict the permissions of the token's owner and never extend them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Scope {
            $(#[doc = concat!("`", $text, "`: ", $description)] $name,)+
        }

        impl Scope {
            const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// Returns the name, such as `forums:read`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// Returns a one-sentence description of the permitted operations.
            pub const fn description(self) -> &'static str {
                match self { $(Self::$name => $description,)+ }
            }

            /// Returns the surfaces that define the scope.
            const fn surfaces(self) -> &'static [Surface] {
                match self { $(Self::$name => &[$(Surface::$surface),+],)+ }
            }
        }
    };
}

scopes! {
    ForumsRead "forums:read" [Full, Compact] "List forums."
    ThreadsRead "threads:read" [Full, Compact] "List and read threads and their polls."
    ThreadsWrite "threads:write" [Full, Compact] "Start threads."
    PostsRead "posts:read" [Full, Compact] "Read posts."
    PostsWrite "posts:write" [Full, Compact] "Reply to threads; edit and delete posts."
    MembersRead "members:read" [Full, Compact] "Read the owner's account and members' profiles."
    MessagesRead "messages:read" [Full] "Read private messages; opening one marks it as read and can send a receipt."
    MessagesWrite "messages:write" [Full] "Send private messages."
    PollsWrite "polls:write" [Full] "Vote in polls and edit them."
    ReputationWrite "reputation:write" [Full] "Rate members."
    SubscriptionsRead "subscriptions:read" [Full] "List subscriptions to threads and forums."
    SubscriptionsWrite "subscriptions:write" [Full] "Add and remove subscriptions to threads and forums."
    SearchRead "search:read" [Full, Compact] "Search threads and posts."
    AdminRead "admin:read" [Compact] "No endpoint requires this scope."
}

impl Scope {
    /// Parses the name of a scope of any surface.
    ///
    /// # Errors
    /// [`ParseError`] if the library has no such scope.
    pub fn parse(name: &str) -> Result<Self, ParseError> {
        let mut scopes = Self::ALL.iter().copied();
        let scope = scopes.find(|scope| scope.as_str() == name);
        scope.ok_or(ParseError::new("a scope, for example forums:read"))
    }

    /// Returns the bit of the scope in a [`ScopeSet`].
    const fn bit(self) -> u16 {
        const { assert!(Self::ALL.len() <= u16::BITS as usize) };
        1 << self as u16
    }

    /// Returns `true` if the scope permits only operations that do not change content. `messages:read` is read-only,
    /// although opening a message marks it as read and can send a receipt.
    pub const fn is_read_only(self) -> bool {
        match self {
            Self::ForumsRead
            | Self::ThreadsRead
            | Self::PostsRead
            | Self::MembersRead
            | Self::MessagesRead
            | Self::SubscriptionsRead
            | Self::SearchRead
            | Self::AdminRead => true,
            Self::ThreadsWrite
            | Self::PostsWrite
            | Self::MessagesWrite
            | Self::PollsWrite
            | Self::ReputationWrite
            | Self::SubscriptionsWrite => false,
        }
    }
}

impl_from_str!(Scope);
impl_as_str!(Scope);
impl_serde_str!(Scope);

/// Set of scopes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ScopeSet(u16);

impl ScopeSet {
    pub(crate) fn contains(self, scope: &Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// Returns the scopes in the order of [`Surface::scopes`].
    pub(crate) fn iter(self) -> impl Iterator<Item = Scope> {
        let scopes = Scope::ALL.iter().copied();
        scopes.filter(move |scope| self.contains(scope))
    }
}

impl FromIterator<Scope> for ScopeSet {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        let bits = scopes.into_iter().map(Scope::bit);
        Self(bits.fold(0, |set, bit| set | bit))
    }
}

/// API surface: the set of endpoints and scopes that a service has (`docs/protocol.md`, section 1.3).
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
    /// Returns the scopes of this surface. Other scopes are rejected when a token is issued, and ignored when it is used.
    pub fn scopes(self) -> impl Iterator<Item = Scope> {
        Scope::ALL
            .iter()
            .copied()
            .filter(move |scope| self.has_scope(*scope))
    }

    /// Returns `true` if this surface defines the scope.
    pub fn has_scope(self, scope: Scope) -> bool {
        scope.surfaces().contains(&self)
    }
}

#[cfg(test)]
mod tests {
    use super::{Scope, Surface};

    #[test]
    fn the_full_surface_has_13_scopes_and_the_compact_surface_8() {
        assert_eq!(Surface::Full.scopes().count(), 13);
        assert_eq!(Surface::Compact.scopes().count(), 8);
        let admin: Scope = "admin:read".parse().unwrap();
        assert!(Surface::Compact.has_scope(admin) && !Surface::Full.has_scope(admin));
        assert!(Scope::parse("admin:write").is_err());
    }
}
