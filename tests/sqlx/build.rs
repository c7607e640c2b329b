//! Writes the file `sea_orm.rs` of the guide, with the name that a method has in the version of sea-orm.

use std::path::Path;
use std::{env, fs};

const GUIDE: &str = "../../../src/guide/code/sea_orm.rs";

fn main() {
    println!("cargo::rerun-if-changed={GUIDE}");
    // `include!` accepts no documentation of the module.
    let mut code = fs::read_to_string(GUIDE).unwrap().replace("//!", "//");
    if env::var("CARGO_PKG_NAME").unwrap().ends_with("0-9") {
        code = code.replace("transaction.execute(", "transaction.execute_raw(");
    }
    let directory = env::var("OUT_DIR").unwrap();
    fs::write(Path::new(&directory).join("sea_orm.rs"), code).unwrap();
}
