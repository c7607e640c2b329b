//! Thread pool of a SQLite database: reader threads, and one writer thread that commits waiting writes together.

mod checkpoint;
mod connection;
mod database;
mod database_path;
mod error;
mod job_queue;
mod reader;
mod settings;
mod thread;
mod thread_pool;
mod write_scheduler;
mod writer;

pub use database::Database;
pub use database_path::DatabasePath;
pub use error::SqliteError;
pub use settings::DatabaseSettings;
pub(super) use thread_pool::Priority;
