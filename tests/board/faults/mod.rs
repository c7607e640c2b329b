//! What the conformance suite is worth: faults planted one by one in a board that keeps every rule, and the rule that
//! catches each.

mod broken;
mod plant;
mod table;

use forum_api::conformance::{CASES, Case, Stop, Suite};

use crate::stage::Reference;
use broken::Broken;
use table::FAULTS;

fn case(name: &str) -> &'static Case {
    let found = CASES.iter().find(|case| case.name == name);
    found.unwrap_or_else(|| panic!("there is no rule {name}"))
}

/// Prints the table: what was broken, which rule caught it, and what that said.
#[tokio::test]
async fn each_is_caught_by_the_rule_that_it_breaks() {
    for (fault, plant, rule) in FAULTS {
        let host = Broken(*plant);
        let verdict = case(rule).check(Suite::new(&host)).await;
        let Err(Stop::Broken(said)) = verdict else {
            panic!("{fault}: {rule} does not catch it: {verdict:?}");
        };
        let said: String = said.chars().take(200).collect();
        println!("{fault}\n    caught by {rule}\n    {said}");
    }
    println!("{} faults", FAULTS.len());
}

/// What catches a fault lets the board pass that has none.
#[tokio::test]
async fn without_one_each_of_these_rules_holds() {
    for (_, _, rule) in FAULTS {
        let verdict = case(rule).check(Suite::new(&Reference::Memory)).await;
        assert_eq!(verdict, Ok(()), "{rule}");
    }
}
