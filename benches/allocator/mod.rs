//! The example server's allocator: both sides of a bench have it, as they are to differ in what they do.

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
