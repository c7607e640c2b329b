//! Sign-in while others guess the password.

use std::sync::atomic::{AtomicBool, AtomicU32};

use crate::panel::{cookie, sign_in_with};
use crate::prelude::*;

/// Number of networks that guess, besides a neighbour of the owner with [`NEIGHBOURS`] connections.
const NETWORKS: u32 = 40;

const NEIGHBOURS: u32 = 4;

/// Network of the owner and the neighbour.
const HOME: &str = "97.1";

/// Time in which the owner signs in from a new browser.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Signs in as `admin` from this address. Returns the response.
fn attempt(server: &Server, address: &str, cookies: &str, password: &str) -> Response {
    let headers = [("x-forwarded-for", address), ("cookie", cookies)];
    sign_in_with(server, &headers, "admin", password)
}

/// Guesses without pause, each time from another prefix of the network.
fn guess(server: &Server, network: &str, stop: &AtomicBool) {
    for prefix in (0..256).cycle() {
        if stop.load(Ordering::SeqCst) {
            return;
        }
        attempt(server, &format!("{network}.{prefix}.9"), "", "wrong");
    }
}

#[test]
fn an_owner_signs_in_while_many_networks_and_a_neighbour_guess() {
    let server = Server::new(&["--trusted-proxies", "127.0.0.0/8"]);
    let password = server.password();
    let signed_in = attempt(&server, "98.0.0.1", "", password);
    let device = signed_in.headers.get_all("set-cookie").iter().nth(1).unwrap().to_str().unwrap();
    let attributes = "HttpOnly; SameSite=Strict; Path=/sign-in; Max-Age=34560000";
    assert!(device.starts_with("forum_device_") && device.ends_with(attributes), "{device}");
    assert!(cookie(&signed_in).starts_with("forum_session="));
    let device = device.split(';').next().unwrap();
    let next = AtomicU32::new(0);
    thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                while let number @ 0..200 = next.fetch_add(1, Ordering::SeqCst) {
                    let failed = attempt(&server, &format!("20.{number}.1.1"), "", "wrong");
                    assert_eq!(failed.status, 401);
                }
            });
        }
    });
    let stop = AtomicBool::new(false);
    thread::scope(|threads| {
        let (server, stop) = (&server, &stop);
        let networks = (0..NETWORKS).map(|number| format!("30.{number}"));
        let neighbours = (0..NEIGHBOURS).map(|_| HOME.to_owned());
        for network in networks.chain(neighbours) {
            threads.spawn(move || guess(server, &network, stop));
        }
        let known: Vec<_> = (0..5)
            .map(|number| attempt(server, &format!("{HOME}.{number}.7"), device, password).status)
            .collect();
        let begun = Instant::now();
        let mut statuses = Vec::new();
        while begun.elapsed() < TIMEOUT && statuses.last() != Some(&303) {
            let address = format!("{HOME}.{}.7", statuses.len());
            statuses.push(attempt(server, &address, "", password).status);
        }
        let took = begun.elapsed();
        stop.store(true, Ordering::SeqCst);
        println!("from a new browser after {took:?}: {statuses:?}");
        assert_eq!(known, [303; 5]);
        assert_eq!(statuses.last(), Some(&303), "{statuses:?}");
    });
}
