//! An event as one statement of SQL, for a host that writes it within its own transaction.

use super::Event;

impl Event {
    /// Adds an event to the outbox, once however often it is run. SQLite and PostgreSQL both take it, with
    /// [`parameters`](Self::parameters) in their order.
    ///
    /// A host runs it in the transaction of the change that caused the event, with whatever driver it has. So there
    /// is no change without its event, and no event without its change:
    ///
    /// ```
    /// # use forum_api::store::sqlite::rusqlite;
    /// use forum_api::webhook::Event;
    /// use rusqlite::{Connection, params_from_iter};
    ///
    /// fn edit(connection: &mut Connection, text: &str, updated: &Event) -> rusqlite::Result<()> {
    ///     let transaction = connection.transaction()?;
    ///     transaction.execute("UPDATE posts SET text = ?1", [text])?;
    ///     transaction.execute(Event::INSERT, params_from_iter(updated.parameters()))?;
    ///     transaction.commit()
    /// }
    /// ```
    pub const INSERT: &'static str = "
        INSERT INTO forum_api_events (id, topic, occurred_at, forum, body)
        VALUES ($1, $2, CAST(CAST($3 AS TEXT) AS BIGINT), NULLIF($4, ''), $5)
        ON CONFLICT (id) DO NOTHING";

    /// What is bound to `$1` to `$5` of [`INSERT`](Self::INSERT), as text.
    pub fn parameters(&self) -> [String; 5] {
        let forum = self.forum.as_ref();
        [
            self.id.to_string(),
            self.topic.to_string(),
            self.occurred_at.as_millis().to_string(),
            forum.map(ToString::to_string).unwrap_or_default(),
            self.body.clone(),
        ]
    }
}
