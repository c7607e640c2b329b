//! Makes the tables of the README and of the guide, and its chart, from the file of rows that `FIGURES` names:
//! `FIGURES=benches/figures.tsv cargo bench -p forum-benches --bench table`, which `benches/run` does at its end.

mod chart;
mod row;

use std::{env, fs, thread};

use row::Row;

fn main() {
    let Some(path) = env::var_os("FIGURES") else {
        return println!("left out: the table, as FIGURES names no file");
    };
    let rows = row::read(&fs::read_to_string(path).unwrap());
    put("README.md", "figures", &in_short(&rows));
    put("src/guide/figures.md", "figures", &in_full(&rows));
    put("src/guide/figures.md", "machine", &machine());
    fs::write("src/guide/figures.svg", chart::draw(&rows)).unwrap();
}

fn in_short(rows: &[Row]) -> String {
    let mut table = String::from("| what | against | goal | median |\n|---|---|---|---|\n");
    for row in rows {
        let Row {
            what,
            unit,
            against,
            goal,
            median,
            ..
        } = row;
        table += &format!("| {what} | {against} | {goal} {unit} | {median} |\n");
    }
    table
}

fn in_full(rows: &[Row]) -> String {
    let head = "| what | unit | against | goal | least | median | most |\n";
    let mut table = format!("{head}|---|---|---|---|---|---|---|\n");
    for row in rows {
        let Row {
            what,
            unit,
            against,
            goal,
            least,
            median,
            most,
        } = row;
        table +=
            &format!("| {what} | {unit} | {against} | {goal} | {least} | {median} | {most} |\n");
    }
    table
}

/// What measured: its cores, and what they call themselves where Linux knows.
fn machine() -> String {
    let cores = thread::available_parallelism().unwrap();
    let told = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mut lines = told.lines().filter_map(|line| line.split_once(": "));
    let model = lines.find(|(field, _)| field.starts_with("model name"));
    let model = model.map_or("unknown", |(_, model)| model);
    format!("Measured on {cores} cores of a machine that calls itself {model}.\n")
}

/// Puts `made` into a file, between the two marks of this name.
fn put(path: &str, name: &str, made: &str) {
    let marks = [format!("<!-- {name} -->\n"), format!("<!-- /{name} -->")];
    let text = fs::read_to_string(path).unwrap();
    let (before, rest) = text.split_once(&marks[0]).expect("it has the first mark");
    let (_, after) = rest.split_once(&marks[1]).expect("it has the second mark");
    let text = [before, &marks[0], "\n", made, "\n", &marks[1], after].concat();
    fs::write(path, text).unwrap();
}
