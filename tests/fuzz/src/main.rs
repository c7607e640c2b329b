//! The fuzzer of the property that `TARGET` names; `tests/fuzz/run` starts it.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

use forum_api_fuzz as targets;

static TARGET: LazyLock<targets::Target> = LazyLock::new(|| {
    let name = std::env::var("TARGET").unwrap_or_default();
    let named = targets::ALL.iter().find(|(known, _)| *known == name);
    named.expect("TARGET names a target").1
});

fuzz_target!(|data: &[u8]| TARGET(data));
