//! Invariants of a board after a drill.

pub mod budgets;
pub mod deliveries;
pub mod events;
pub mod figures;
pub mod keys;
pub mod walk;
pub mod writes;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::connection::{ApiClient, Nodes};
use crate::load::Sent;
use crate::random::Random;
use keys::Repeats;
use walk::{Contents, Reader};

/// Repeats each key on the node at `address`, and checks that each acknowledged write exists once.
pub async fn check_writes(
    sent: &[Sent],
    address: SocketAddr,
    tokens: &[(&str, String)],
    admin: &mut Reader,
) -> (Contents, Repeats) {
    let mut connections = ApiClient::new(&Nodes::new(&[address]), Random::new(0));
    let repeats = keys::repeat(sent, &mut connections).await;
    let contents = Contents::read(admin).await;
    keys::check_once(sent, &contents);
    let reader =
        |(_, token): &(&str, String)| (format!("Bearer {token}"), Reader::new(address, token));
    let mut readers: BTreeMap<_, _> = tokens.iter().map(reader).collect();
    let done = writes::check(sent, &contents, &mut readers).await;
    println!(
        "{repeats:?}; {done} writes done and there; {} posts",
        contents.posts.len()
    );
    (contents, repeats)
}
