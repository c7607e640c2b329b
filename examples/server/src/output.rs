//! Output of commands on stdout and stderr, and their exit status.

use std::fmt::{self, Display};
use std::io::{self, Write};
use std::process::ExitCode;

use forum_api::host::{BoardError, BoardResult, OrInternal};
use serde::Serialize;
use serde_json::json;

/// The result of a command: a text for people, and a JSON value for programs.
#[derive(Debug)]
pub struct Output {
    text: String,
    json: String,
}

impl Output {
    /// Returns an output that prints `text`, or `json` with `--json`.
    pub fn new(text: impl Display, json: impl Serialize) -> BoardResult<Self> {
        let text = text.to_string();
        let json = serde_json::to_string(&json).or_internal()?;
        Ok(Self { text, json })
    }

    /// Returns an output that prints a table with a row for each item, or a JSON array of all items.
    pub fn list<const N: usize, T: ListItem<N>>(all: Vec<T>) -> BoardResult<Self> {
        Self::new(Table::of(&all), all)
    }

    /// Returns an output that prints nothing, or `{"ok":true}`.
    pub fn nothing() -> BoardResult<Self> {
        Self::message("")
    }

    /// Returns an output that prints `text`, or `{"ok":true}`.
    pub fn message(text: impl Display) -> BoardResult<Self> {
        Self::new(text, json!({ "ok": true }))
    }

    /// Returns an output that prints `done` if the command changed something, otherwise `unchanged`. With `--json` it
    /// prints `{"ok":true}` in both cases.
    pub fn message_if_changed(
        is_changed: bool,
        done: String,
        unchanged: String,
    ) -> BoardResult<Self> {
        Self::message(if is_changed { done } else { unchanged })
    }

    pub fn print(&self, as_json: bool) {
        if as_json {
            print_line(&self.json);
        } else if !self.text.is_empty() {
            print_line(&self.text.trim_end());
        }
    }
}

/// Returns a number and its noun, for example `2 tokens`.
pub fn counted<N: Display + From<u8> + PartialEq>(count: N, one: &str, several: &str) -> String {
    let noun = if count == N::from(1) { one } else { several };
    format!("{count} {noun}")
}

/// An item of a list.
pub trait ListItem<const N: usize>: Serialize {
    const HEADINGS: [&'static str; N];

    fn cells(&self) -> [String; N];
}

/// Columns of text under headings. Cells of a column have the width of the longest one.
#[derive(Debug)]
pub struct Table<const N: usize>(Vec<[String; N]>);

impl<const N: usize> Table<N> {
    pub fn new(headings: [&str; N]) -> Self {
        Self(vec![headings.map(str::to_owned)])
    }

    /// Returns a table with one row for each item.
    pub fn of(items: &[impl ListItem<N>]) -> Self {
        fn headings<const N: usize, T: ListItem<N>>(_: &[T]) -> [&'static str; N] {
            T::HEADINGS
        }
        let mut table = Self::new(headings(items));
        items.iter().for_each(|item| table.row(item.cells()));
        table
    }

    pub fn row(&mut self, cells: [String; N]) {
        self.0.push(cells);
    }
}

impl<const N: usize> Display for Table<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut widths = [0; N];
        for row in &self.0 {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        for row in &self.0 {
            let mut line = String::new();
            for (width, cell) in widths.iter().zip(row) {
                line += &format!("{cell:width$}  ");
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Prints the reason of a refusal on stderr, and with `as_json` also as JSON on stdout. Returns status 1.
pub fn refuse(refusal: BoardError, as_json: bool) -> ExitCode {
    let reason = match refusal.message() {
        Some(message) => message.to_owned(),
        None => refusal.to_string(),
    };
    if as_json {
        print_line(&json!({ "error": reason }));
    }
    drop(writeln!(io::stderr(), "error: {reason}"));
    ExitCode::FAILURE
}

/// Prints a warning on stderr.
pub fn warn(warning: &str) {
    drop(writeln!(io::stderr(), "warning: {warning}"));
}

/// Prints to stdout. A closed stdout is not an error.
fn print_line(line: &impl Display) {
    let mut out = io::stdout();
    drop(writeln!(out, "{line}").and_then(|()| out.flush()));
}
