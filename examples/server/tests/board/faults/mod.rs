//! What the conformance suite is worth: faults planted one by one in a board that keeps every rule, and the rule that
//! catches each.

mod commands;
mod doings;
mod faulty;
mod plant;
mod sound;
mod twist;

use std::collections::{BTreeMap, BTreeSet};

use forum_api::conformance::{CASES, Suite, TestFailure};
use forum_api::host::Refusal;

use faulty::Broken;
use plant::Plant;

/// The rule that has to catch it, what is wrong, and where that sits.
type Fault = (&'static str, &'static str, Plant);

macro_rules! files {
    ($($file:ident)+) => {
        $(mod $file;)+

        /// Each file of rules, with the faults that they catch.
        const FILES: &[(&str, &[Fault])] = &[$((stringify!($file), $file::FAULTS),)+];
    };
}

files! {
    visibility access service forums threads thread_creation posts replies permission members edits deletion counters approval
    subscriptions polls votes poll_edits reputation messages message_sending receipts search search_visibility search_paging
    events no_events event_payload
}

/// How many rules of a file may catch the fault that is planted for one of them: of more, none would be about it.
const FEW: usize = 4;

/// Prints the table: what was broken, which rule caught it, and what that said.
#[tokio::test(flavor = "multi_thread")]
async fn each_is_caught_by_the_rule_that_it_breaks() {
    let tried = faults().map(|(file, fault)| tokio::spawn(tried(file, fault)));
    let mut wrong = Vec::new();
    for tried in tried.collect::<Vec<_>>() {
        match tried.await.unwrap() {
            Ok(row) => println!("{row}"),
            Err(found) => wrong.push(found),
        }
    }
    println!("{} faults", faults().count());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// No rule is there that nothing breaks.
#[test]
fn each_rule_catches_one() {
    let catch = faults().map(|(file, (rule, ..))| format!("{file}::{rule}"));
    let catch: BTreeSet<_> = catch.collect();
    let idle = CASES.iter().filter(|case| !catch.contains(case.name));
    let idle: Vec<_> = idle.map(|case| case.name).collect();
    assert!(idle.is_empty(), "{idle:#?} catch no fault");
}

/// A search that finds too little or too much says which forum is hidden.
#[tokio::test(flavor = "multi_thread")]
async fn a_search_at_fault_names_the_hidden_forum() {
    for (rule, note) in [
        (
            "what_is_hidden_is_not_found",
            "in forum 1, which the caller cannot see",
        ),
        (
            "a_hidden_sub_forum_is_not_found_through_its_parent",
            "(forum 2 is hidden from alice; its sub-forum 3 is not)",
        ),
        ("sight_is_asked_anew", "(forum 1 is now for Guests)"),
    ] {
        let mut faults =
            faults().filter(|(file, (broken, ..))| (*file, *broken) == ("search_visibility", rule));
        let (file, (.., plant)) = faults.next().unwrap();
        let found = caught(file, plant).await;
        assert!(found[rule].contains(note), "{found:?}");
    }
}

fn faults() -> impl Iterator<Item = (&'static str, &'static Fault)> {
    let files = FILES.iter();
    files.flat_map(|(file, faults)| faults.iter().map(|fault| (*file, fault)))
}

/// The row of the table, or what is wrong with it.
async fn tried(file: &str, (rule, fault, plant): &'static Fault) -> Result<String, String> {
    let caught = caught(file, plant).await;
    match caught.get(rule) {
        None => Err(format!("{fault}: {file}::{rule} misses it")),
        Some(_) if caught.len() > FEW => Err(format!("{fault}: caught by {:?}", caught.keys())),
        Some(said) => {
            let said: String = said.chars().take(200).collect();
            Ok(format!("{fault}\n    caught by {file}::{rule}\n    {said}"))
        }
    }
}

/// The rules of a file that a board with this fault breaks, and what each says. That the fixture failed is none.
async fn caught(file: &str, plant: &'static Plant) -> BTreeMap<&'static str, String> {
    let mut caught = BTreeMap::new();
    for case in CASES {
        let (home, rule) = case.name.split_once("::").unwrap();
        let host = Broken(plant);
        if home == file
            && let Err(TestFailure::Failed(said)) = case.check(Suite::new(&host)).await
            && !said.starts_with("the fixture failed")
        {
            caught.insert(rule, said);
        }
    }
    caught
}

/// Whether the board's text says so.
fn says(refusal: &Refusal, words: &str) -> bool {
    format!("{refusal:?}").contains(words)
}
