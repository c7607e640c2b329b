//! SQLite at fault beneath the real server: one 500 that says nothing, reads that go on where they can, nothing lost of
//! what was answered, and a next request that works.
//!
//! | fault | answer | test |
//! |---|---|---|
//! | the files become read-only | writes 500, reads 200 | [`sqlite::files_that_cannot_be_written_any_more_are_read`] |
//! | the disk is read-only at the start | one sentence, exit 1 | [`sqlite::a_disk_that_is_read_only_is_refused_at_the_start`] |
//! | the disk is full | writes 500, reads 200; when there is room they work | [`sqlite::a_full_disk_keeps_what_was_answered`] |
//! | another process has it locked for long | writes 500 after 5 s, reads 200 | [`sqlite::a_file_that_is_locked_for_long_is_read`] |
//! | a page is corrupt | 500 where it is read, and nowhere else | [`corrupt::a_corrupt_page_costs_what_is_on_it_and_no_more`] |
//! | a write panics, its group is lost | 500 to those | `stores::group` |
//! | Postgres away, killed in mid-transaction, cut off | 500, `/health` 503; nothing lost | `nodes::outage`, `nodes::killed`, `stores::postgres::faults` |
//! | Redis away, slow, full | none: each node meters by itself, within its patience | `stores::redis::away`, `nodes::outage` |
//! | a store that fails, panics, hangs | 500 `internal_error` | `api::faults` |
//! | a board that panics, fails, hangs | 500 `internal_error`; a write goes on | `api::faults`, `api::interrupted` |
//! | a board that answers what is hidden | 404, or left out; logged | `api::visibility`, `api::incidents` |
//! | a board that answers nonsense | what it said, as lawful JSON | `api::nonsense` |
//! | a receiver that is slow, endless, wrong | the attempt fails, nobody else waits | `webhooks::transport`, `webhooks::worker` |

mod corrupt;
mod disk;
mod sqlite;
