//! How often one may try to log in: by the name that is tried, and by where it is tried from.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use forum_api::budget::{Budget, Window};
use forum_api::model::Timestamp;

const BY_NAME: Window = Window {
    units: 10,
    length: Duration::from_secs(5 * 60),
};

const BY_ADDRESS: Window = Window {
    units: 50,
    length: Duration::from_secs(5 * 60),
};

/// What is over is forgotten when there are so many.
const MANY: usize = 1_000;

/// The tries of late.
#[derive(Debug, Default)]
pub struct Throttle(Mutex<HashMap<Of, Budget>>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Of {
    Name(String),
    Address(Option<IpAddr>),
}

impl Throttle {
    /// Counts a try; how long to wait where there were too many.
    pub fn begin(
        &self,
        name: &str,
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<(), Duration> {
        let mut tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if tries.len() >= MANY {
            tries.retain(|_, budget| now < budget.ends);
        }
        for (of, window) in [(Of::Address(address), BY_ADDRESS), (by_name(name), BY_NAME)] {
            let (budget, charge) = window.charge(tries.get(&of).copied(), 1, now);
            if !charge.granted {
                return Err(charge.reset.since(now));
            }
            tries.extend(budget.map(|budget| (of, budget)));
        }
        Ok(())
    }

    /// Whoever knows the password may go on trying.
    pub fn forget(&self, name: &str) {
        let mut tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tries.remove(&by_name(name));
    }
}

/// No name is longer than 64 characters, and the case of its letters does not matter.
fn by_name(name: &str) -> Of {
    Of::Name(name.chars().take(64).collect::<String>().to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_tries_of_a_name_and_fifty_of_an_address() {
        let (throttle, now) = (Throttle::default(), Timestamp::default());
        let here = Some(IpAddr::from([192, 0, 2, 1]));
        let there = Some(IpAddr::from([192, 0, 2, 2]));
        for _ in 0..10 {
            assert!(throttle.begin("Admin", there, now).is_ok());
        }
        let wait = Duration::from_secs(300);
        assert_eq!(throttle.begin("admin", here, now), Err(wait));
        throttle.forget("ADMIN");
        assert!(throttle.begin("admin", here, now).is_ok());
        for number in 0..48 {
            assert!(throttle.begin(&number.to_string(), here, now).is_ok());
        }
        assert_eq!(throttle.begin("somebody", here, now), Err(wait));
        assert!(throttle.begin("somebody", there, now).is_ok());
        assert!(throttle.begin("admin", here, now.plus(wait)).is_ok());
    }
}
