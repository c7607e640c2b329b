//! Number of allocations of a request, in a program with a counting allocator. Writes a row of the table of results.

use allocation_counter::measure;
use forum_benches::measurements::{Goal, Row, Samples};
use forum_benches::static_board::BenchFixture;

/// Maximum for a whole request, including the board's.
const MAX_ALLOCATIONS: u64 = 21;

#[test]
fn a_request_makes_at_most_21_allocations() {
    let fixture = BenchFixture::new();
    let ask = || {
        let request = fixture.request();
        let counted = measure(|| assert_eq!(fixture.answer(request).status(), 200));
        counted.count_total
    };
    // Warm-up: the first request allocates data that later requests reuse.
    let (_, second, third) = (ask(), ask(), ask());
    Row {
        what: "request in process, 300-byte response",
        unit: "allocations",
        baseline: "none",
        goal: Goal::AtMost(MAX_ALLOCATIONS as f64),
        cause: "",
    }
    .write(&Samples::from_iter([second as f64]));
    assert_eq!(second, third);
    assert!(second <= MAX_ALLOCATIONS, "{second} times");
}
