//! How long the stores of webhooks take by themselves: `cargo bench -p forum-benches --bench queue`, or with `-- claims` (`settlements`) a
//! part of it. Three minutes and 2 GB of disk are enough.

use forum_benches::figures;

mod claims;
mod fixture;
mod settlements;

use figures::is_wanted;

#[tokio::main]
async fn main() {
    if is_wanted("claims") {
        claims::run().await;
    }
    if is_wanted("settlements") {
        settlements::run().await;
    }
}
