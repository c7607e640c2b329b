//! Whether time tells a secret: `cargo bench -p forum-benches --bench timing`, in two minutes of an idle machine.
//!
//! As dudect does it: two classes of inputs stand in random order, each is timed alone, and Welch's t says whether their
//! means differ, over all of a million samples and over those that are left when the slowest are cut off. Below 4.5 they
//! do not: so it is for all pairs but known and unknown names. Named parts run alone: `tokens`, `secrets`, `signatures`.

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
        if measurements::is_wanted(part) {
            measure();
        }
    }
}
