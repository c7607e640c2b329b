//! What the fuzzer kept, tried again: `tests/fuzz/run` looks for more.

use std::fs;
use std::path::Path;

use forum_api_fuzz as targets;

macro_rules! replayed {
    ($($name:ident)+) => {
        /// No corpus is forgotten.
        #[test]
        fn all_targets() {
            let names: Vec<_> = targets::ALL.iter().map(|(name, _)| *name).collect();
            assert_eq!(names, [$(stringify!($name)),+]);
        }

        $(#[test]
        fn $name() {
            replay(stringify!($name));
        })+
    };
}

replayed! { address body cursor expiry forwarded markdown query search signature token }

fn replay(name: &str) {
    let (_, target) = targets::ALL
        .iter()
        .find(|(known, _)| *known == name)
        .unwrap();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(name);
    let inputs: Vec<_> = fs::read_dir(corpus)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    assert!(!inputs.is_empty());
    for input in inputs {
        println!("{}", input.display());
        target(&fs::read(&input).unwrap());
    }
}
