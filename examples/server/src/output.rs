//! Output of commands on stdout and stderr, and their exit status.

use std::fmt::{self, Display};
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use clap::builder::styling::{AnsiColor, Style};
use forum_api::host::{BoardError, BoardResult, OrInternal};
use serde::Serialize;
use serde_json::json;

/// Maximum width of a table in columns, if it has columns that can be shortened.
const MAX_WIDTH: usize = 120;

/// Minimum width of a column that is shortened.
const MIN_WIDTH: usize = 8;

const BOLD: Style = Style::new().bold();
const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();

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

    /// Prints to stdout. The text has colours only at a terminal, and only if `NO_COLOR` is not set.
    ///
    /// # Errors
    /// If the output cannot be written, for example to a full disk. A closed pipe is not an error.
    pub fn print(&self, as_json: bool) -> BoardResult<()> {
        let written = if as_json {
            write_line(io::stdout(), &self.json)
        } else if self.text.is_empty() {
            Ok(())
        } else {
            write_line(anstream::stdout(), &self.text.trim_end())
        };
        match written {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(BoardError::internal(
                format!("the output could not be written: {error}"),
            )),
            _ => Ok(()),
        }
    }
}

/// Returns a number and its noun, for example `2 tokens`.
pub fn counted<N: Display + From<u8> + PartialEq>(count: N, one: &str, several: &str) -> String {
    let noun = if count == N::from(1) { one } else { several };
    format!("{count} {noun}")
}

/// Formats values with their labels, one pair a line.
pub fn labelled(pairs: &[(&str, String)]) -> String {
    let width = pairs
        .iter()
        .map(|(label, _)| label.len())
        .max()
        .unwrap_or_default();
    let lines = pairs
        .iter()
        .map(|(label, value)| format!("{BOLD}{label:width$}{BOLD:#}  {value}\n"));
    lines.collect()
}

/// Formats a heading.
pub fn heading(text: impl Display) -> String {
    format!("{BOLD}{text}{BOLD:#}")
}

/// Formats a state in its colour.
pub fn coloured_state(state: &str) -> String {
    let style = match state {
        "active" | "delivered" | "enabled" | "valid" => GREEN,
        "banned" | "dead" | "disabled after failures" | "gone" | "revoked" => RED,
        "disabled" | "expired" | "retrying" | "withheld" => YELLOW,
        _ => return state.into(),
    };
    format!("{style}{state}{style:#}")
}

/// An item of a list.
pub trait ListItem<const N: usize>: Serialize {
    const HEADINGS: [&'static str; N];

    /// Headings of the columns whose cells are shortened, so that the table is at most 120 columns wide.
    const SHORTENED: &'static [&'static str] = &[];

    fn cells(&self) -> [String; N];
}

/// Columns of text under headings. Cells of a column have the width of the longest one.
///
/// `comfy-table` wraps a cell between words and measures cells with colours only with `crossterm`; `tabled` needs nine
/// more crates.
#[derive(Debug)]
pub struct Table<const N: usize> {
    headings: [&'static str; N],
    shortened: &'static [&'static str],
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    pub const fn new(headings: [&'static str; N]) -> Self {
        Self {
            headings,
            shortened: &[],
            rows: Vec::new(),
        }
    }

    /// Returns a table with one row for each item.
    pub fn of<T: ListItem<N>>(items: &[T]) -> Self {
        Self {
            headings: T::HEADINGS,
            shortened: T::SHORTENED,
            rows: items.iter().map(ListItem::cells).collect(),
        }
    }

    pub fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells);
    }

    fn widths(&self) -> [usize; N] {
        let mut widths = self.headings.map(str::len);
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        while widths.iter().sum::<usize>() + 2 * N.saturating_sub(1) > MAX_WIDTH {
            let columns = widths.iter_mut().zip(self.headings);
            let shortened = columns.filter(|(_, heading)| self.shortened.contains(heading));
            match shortened.map(|(width, _)| width).max() {
                Some(widest) if *widest > MIN_WIDTH => *widest -= 1,
                _ => break,
            }
        }
        widths
    }
}

impl<const N: usize> Display for Table<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        let mut line = String::new();
        for (width, title) in widths.iter().zip(self.headings) {
            line += &format!("{title:width$}  ");
        }
        writeln!(f, "{}", heading(line.trim_end()))?;
        for row in &self.rows {
            line.clear();
            for ((&width, cell), title) in widths.iter().zip(row).zip(self.headings) {
                let cell = shortened(cell, width);
                let padding = " ".repeat(width - cell.chars().count() + 2);
                line += &match title {
                    "STATE" => coloured_state(&cell),
                    _ => cell,
                };
                line += &padding;
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Returns at most `width` characters of a text. The last one is `…` if there are more.
fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.into();
    }
    let beginning = text.chars().take(width.saturating_sub(1));
    beginning.chain(['…']).collect()
}

/// Prints the reason of a refusal on stderr, and with `as_json` also as JSON on stdout. Returns status 1.
pub fn refuse(refusal: BoardError, as_json: bool) -> ExitCode {
    let reason = match refusal.message() {
        Some(message) => message.to_owned(),
        None => refusal.to_string(),
    };
    if as_json {
        print_error_json(&reason);
    }
    let style = RED.bold();
    print_line(
        anstream::stderr(),
        &format!("{style}error:{style:#} {reason}"),
    );
    ExitCode::FAILURE
}

/// Prints the reason of an error as JSON on stdout.
pub fn print_error_json(reason: &str) {
    print_line(io::stdout(), &json!({ "error": reason }));
}

/// Prints a warning on stderr.
pub fn warn(warning: &str) {
    let style = YELLOW.bold();
    print_line(
        anstream::stderr(),
        &format!("{style}warning:{style:#} {warning}"),
    );
}

/// Prints a line, and ignores errors of the stream.
fn print_line(stream: impl Write, line: &impl Display) {
    drop(write_line(stream, line));
}

fn write_line(mut stream: impl Write, line: &impl Display) -> io::Result<()> {
    writeln!(stream, "{line}")?;
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Item([&'static str; 3]);

    impl ListItem<3> for Item {
        const HEADINGS: [&'static str; 3] = ["ID", "LABEL", "SCOPES"];
        const SHORTENED: &'static [&'static str] = &["LABEL", "SCOPES"];

        fn cells(&self) -> [String; 3] {
            self.0.map(str::to_owned)
        }
    }

    #[test]
    fn the_widest_columns_of_a_table_are_shortened() {
        let long = "é".repeat(90);
        let items = [["1", "short", "all"], ["2", "a label", &*long.leak()]].map(Item);
        let table = Table::of(&items).to_string();
        let lines: Vec<_> = table.lines().skip(1).collect();
        assert_eq!(lines[0], "1   short    all");
        assert_eq!(lines[1].chars().count(), 103);
        let long: &str = "é".repeat(300).leak();
        let table = Table::of(&[Item(["1", long, long])]).to_string();
        let line = table.lines().nth(1).unwrap();
        assert_eq!(line.chars().count(), MAX_WIDTH);
        assert_eq!(line.matches('…').count(), 2);
    }
}
