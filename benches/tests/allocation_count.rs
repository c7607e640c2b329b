//! Number of allocations of a request, in a program with a counting allocator.

use forum_benches::static_board;

use std::sync::Arc;

use allocation_counter::measure;
use static_board::{BenchFixture, SMALL, StaticBoard};

/// Maximum for a whole request, including the board's.
const MAX_ALLOCATIONS: u64 = 20;

#[test]
fn a_request_makes_at_most_20_allocations() {
    let fixture = BenchFixture::over(Arc::new(StaticBoard::default()));
    let ask = || {
        let request = fixture.request(SMALL);
        let counted = measure(|| assert_eq!(fixture.answer(request).status(), 200));
        counted.count_total
    };
    // Warm-up: the first request allocates data that later requests reuse.
    let (_, second, third) = (ask(), ask(), ask());
    assert_eq!(second, third);
    assert!(second <= MAX_ALLOCATIONS, "{second} times");
}
