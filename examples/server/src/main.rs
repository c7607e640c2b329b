//! The example server: see the library `forum_server`.

use std::process::ExitCode;

/// What a page is made of is allocated by the thread that reads it and freed by the one that answers: with the allocator
/// of the C library these wait for each other.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    forum_server::main()
}
