//! The endpoints in process: transcripts of requests to the demo board.
//!
//! The board is in SQLite; with `FORUM_API_BACKEND=postgres` it is in Postgres, and with `FORUM_API_BACKEND=redis` its
//! rate limits are in Redis as well.

mod fixture;
mod transcripts;
