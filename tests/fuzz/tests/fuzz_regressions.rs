//! Replays every corpus; `tests/fuzz/run` searches for further inputs.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use serde_json::Value;

#[test]
fn every_stored_input_satisfies_the_property_of_its_target() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let files: BTreeSet<_> =
        fs::read_dir(&corpora).unwrap().map(|file| file.unwrap().file_name()).collect();
    let targets = forum_api_fuzz::ALL.iter();
    assert!(files.into_iter().eq(targets.map(|(name, _)| OsString::from(format!("{name}.json")))));
    for (name, target) in forum_api_fuzz::ALL {
        let text = fs::read_to_string(corpora.join(format!("{name}.json"))).unwrap();
        let corpus: Value = serde_json::from_str(&text).unwrap();
        let regressions = corpus["regressions"].as_object().unwrap().values();
        let lists = ["seeds", "found"].map(|list| corpus[list].as_array().unwrap());
        for input in regressions.chain(lists.into_iter().flatten()) {
            println!("{name}: {input}");
            let letters = input.as_str().unwrap().chars();
            let bytes = letters.map(|letter| u8::try_from(letter).unwrap());
            target(&bytes.collect::<Vec<_>>());
        }
    }
}
