//! The conformance rules on each backend, and what each backend guarantees in addition.

mod backends;
mod database;
mod faults;
mod fixture;
mod group_commit;
mod migrations;
mod pending_events;
mod pool;
mod postgres;
mod query_plans;
mod rate_limits;
mod redis;
mod sql;
mod sql_fixture;
