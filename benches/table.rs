//! Writes the table of docs/performance.md from the file that `RESULTS` names:
//! `RESULTS=benches/results.tsv cargo bench -p forum-benches --bench table`, which `benches/run` does at its end.

use std::{env, fs, thread};

/// Benchmark, unit, baseline, goal, minimum, median, maximum, and result.
type Row<'a> = [&'a str; 8];

fn main() {
    let Some(path) = env::var_os("RESULTS") else {
        return println!("skipped: the table, since RESULTS is not set");
    };
    let file = fs::read_to_string(path).unwrap();
    let mut rows: Vec<Row<'_>> = Vec::new();
    for line in file.lines() {
        let fields: Vec<_> = line.split('\t').collect();
        let row: Row<'_> = fields.try_into().expect("eight fields in a line");
        // A later measurement replaces an earlier one.
        match rows.iter_mut().find(|other| other[..3] == row[..3]) {
            Some(earlier) => *earlier = row,
            None => rows.push(row),
        }
    }
    let lines = rows.iter().map(|row| format!("| {} |\n", row.join(" | ")));
    let head = "| benchmark | unit | baseline | goal | min | median | max | result |\n\
                |---|---|---|---|---|---|---|---|\n";
    replace("results", &(head.to_owned() + &lines.collect::<String>()));
    replace("machine", &machine());
}

/// The number of cores, and the processor model from `/proc/cpuinfo`.
fn machine() -> String {
    let cores = thread::available_parallelism().unwrap();
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mut lines = info.lines().filter_map(|line| line.split_once(": "));
    let model = lines
        .find(|(field, _)| field.starts_with("model name"))
        .map_or("unknown", |(_, model)| model);
    format!("Measured on {cores} cores ({model}).\n")
}

/// Replaces the text between the two markers with this name.
fn replace(name: &str, new: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/performance.md");
    let marks = [format!("<!-- {name} -->\n"), format!("<!-- /{name} -->")];
    let text = fs::read_to_string(path).unwrap();
    let (before, rest) = text.split_once(&marks[0]).expect("the first marker");
    let (_, after) = rest.split_once(&marks[1]).expect("the second marker");
    let text = [before, &marks[0], "\n", new, "\n", &marks[1], after].concat();
    fs::write(path, text).unwrap();
}
