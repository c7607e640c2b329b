//! The example server: see the library `forum_server`.

use std::process::ExitCode;

/// The thread that reads a page allocates its data, and the thread that responds frees it. The allocator of the C library
/// has contention in this case.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    forum_server::main()
}
