//! What every store must do, on each backend, and what a backend promises beside.

mod backend;
mod budgets;
mod database;
mod faults;
mod group;
mod pool;
mod postgres;
mod redis;
mod restart;
mod schema_status;
mod unreadable;
mod webhooks;
mod window;
