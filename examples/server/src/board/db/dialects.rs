//! Values that differ between the databases.

/// A value for each database, such as a statement.
#[derive(Clone, Copy, Debug)]
pub struct Dialects<T> {
    pub sqlite: T,
    pub postgres: T,
}

impl<T> Dialects<T> {
    pub fn map<U>(self, convert: impl Fn(T) -> U) -> Dialects<U> {
        Dialects { sqlite: convert(self.sqlite), postgres: convert(self.postgres) }
    }
}
