//! Timing side channels of secrets: `cargo bench -p forum-benches --bench timing`. Takes two minutes on an idle
//! machine.
//!
//! Works like dudect: times inputs of two classes in random order and compares their means with Welch's t-test, over a
//! million samples and over the samples below several percentiles. Below 4.5 the classes do not differ. This holds for
//! all pairs except known and unknown lookups. Parts: `tokens`, `secrets`, `signatures`.

use forum_benches::{measurements, static_board};

mod constant_store;
mod dudect;
mod signatures;
mod tokens;

fn main() {
    for (part, measure) in [
        ("tokens", tokens::lookups as fn()),
        ("secrets", tokens::secrets),
        ("signatures", signatures::measure),
    ] {
        if measurements::is_selected(part) {
            measure();
        }
    }
}
