//! The names that most files of these tests use.

pub use std::collections::{BTreeMap, BTreeSet};
pub use std::io::{Read, Write};
pub use std::net::TcpStream;
pub use std::path::{Path, PathBuf};
pub use std::process::Command;
pub use std::sync::Arc;
pub use std::sync::atomic::Ordering;
pub use std::time::{Duration, Instant};
pub use std::{fs, thread};

pub use rusqlite::Connection;
pub use serde_json::{Value, json};

pub use crate::client::{Response, get, read_response, send, split_url};
pub use crate::copy::{wait_for_status, wait_until};
pub use crate::deliveries::{ALLOW_PRIVATE, add_endpoint, endpoint_id, endpoint_secret, reply};
pub use crate::panel::sign_in;
pub use crate::postgres::Database;
pub use crate::program::{
    ExitedProcess, Server, ServerDirectory, signal, start, wait, wait_for_end,
};
pub use crate::program::{run, server_path, wait_for_line};
pub use crate::receiver::Receiver;
