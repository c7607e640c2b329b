//! CPU time of a process.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// Number of clock ticks per second in `/proc` on Linux.
const TICKS: u32 = 100;

/// CPU time in user and kernel mode of the process of this directory in `/proc`, to 10 ms.
pub fn cpu_time(process: &Path) -> Duration {
    let status = fs::read_to_string(process.join("stat")).unwrap();
    // The name of the program is in parentheses, and may contain blanks.
    let (_, fields) = status.rsplit_once(')').unwrap();
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: u32 = ticks.map(|ticks| ticks.parse::<u32>().unwrap()).sum();
    Duration::from_secs(1) * ticks / TICKS
}
