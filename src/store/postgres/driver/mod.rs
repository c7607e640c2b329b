//! Stores over tokio-postgres and deadpool.

mod values;
