//! The OWASP API Security Top 10 of 2023: the attacks of each entry at every endpoint that they could concern.
//!
//! What is held at length elsewhere is asked here in its shortest form:
//!
//! - 1: `visibility`, `incidents`, `tests/board/model`; 2: `authentication`, `tokens`, `benches/timing`
//! - 3: `bodies`, `documents`; 4: `budgets`, `interrupted`, `tests/server/{wire,idle}.rs`, `tests/flood.rs`
//! - 5: `endpoints`, `tests/endpoints`; 6: `keys`, `tests/board/flood.rs`; 7: `tests/webhooks/{addresses,ranges}.rs`
//! - 8: `headers`, `leaks`, `tests/server/{serving,leaks}.rs`; 9: `documents`; 10: `tests/webhooks/transport.rs`

mod access;
mod amounts;
mod outside;
mod surface;

use crate::support::{ROWS, Row};

/// Rows whose commands change something.
fn writes() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(|row| row.method != "GET")
}
