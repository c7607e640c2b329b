//! What the conformance suite is worth: faults planted one by one in a board that keeps every rule, and the rule that
//! catches each.

mod broken;
mod faulty;
mod messages;
mod plant;
mod posts;
mod sight;
mod standings;
mod threads;
mod told;
mod writes;

use forum_api::conformance::{CASES, Case, Stop, Suite};

use crate::stage::Reference;
use broken::Broken;
use plant::Plant;

/// What is wrong, where it sits, and the name of the rule that has to catch it.
type Fault = (&'static str, Plant, &'static str);

fn faults() -> impl Iterator<Item = &'static Fault> {
    let all = [
        standings::FAULTS,
        sight::FAULTS,
        writes::FAULTS,
        threads::FAULTS,
        posts::FAULTS,
        told::FAULTS,
        messages::FAULTS,
    ];
    all.into_iter().flatten()
}

fn case(name: &str) -> &'static Case {
    let found = CASES.iter().find(|case| case.name == name);
    found.unwrap_or_else(|| panic!("there is no rule {name}"))
}

/// Prints the table: what was broken, which rule caught it, and what that said.
#[tokio::test]
async fn each_is_caught_by_the_rule_that_it_breaks() {
    for (fault, plant, rule) in faults() {
        let host = Broken(*plant);
        let verdict = case(rule).check(Suite::new(&host)).await;
        let Err(Stop::Broken(said)) = verdict else {
            panic!("{fault}: {rule} does not catch it: {verdict:?}");
        };
        let said: String = said.chars().take(200).collect();
        println!("{fault}\n    caught by {rule}\n    {said}");
    }
    println!("{} faults", faults().count());
}

/// What catches a fault lets the board pass that has none.
#[tokio::test]
async fn without_one_each_of_these_rules_holds() {
    for (_, _, rule) in faults() {
        let verdict = case(rule).check(Suite::new(&Reference::Memory)).await;
        assert_eq!(verdict, Ok(()), "{rule}");
    }
}
