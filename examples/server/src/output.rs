//! Output of commands on stdout and stderr, and their exit status.

use std::fmt::{self, Display};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use clap::Args;
use clap::builder::styling::{AnsiColor, Style};
use forum_api::host::{BoardError, BoardResult, OrInternal};
use forum_api::model::Timestamp;
use forum_api::runtime::{Clock, SystemClock};
use indicatif::HumanCount;
use rustix::termios::tcgetwinsize;
use serde::Serialize;
use serde_json::json;

use crate::options::count;

/// Number of items of a list at a terminal without `--limit`.
const TERMINAL_LIMIT: usize = 50;

/// Width of a terminal of unknown width.
const DEFAULT_WIDTH: usize = 80;

/// Minimum width of a column that can be long.
const MIN_LONG_WIDTH: usize = 8;

/// Minimum width of other columns. The first one is never shortened.
const MIN_WIDTH: usize = 4;

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

    /// Returns an output that prints a table with a row for each item, or a JSON array, up to the limit. At a terminal
    /// a line with the number of all items follows a shortened table.
    pub fn list<T: ListItem>(all: Vec<T>, limit: Limit) -> BoardResult<Self> {
        let is_terminal = io::stdout().is_terminal();
        let default = if is_terminal {
            TERMINAL_LIMIT
        } else {
            usize::MAX
        };
        let total = all.len();
        let mut shown = all;
        shown.truncate(limit.max.unwrap_or(default));
        let mut text = Table::of(&shown).to_string();
        if is_terminal && shown.len() < total {
            let [count, total] = [shown.len(), total].map(|count| HumanCount(count as u64));
            text += &format!("{count} of {total}; --limit N shows more or fewer");
        }
        Self::new(text, shown)
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

/// Number of items of a list.
#[derive(Clone, Copy, Debug, Args)]
pub struct Limit {
    /// Maximum number of items [default: 50 at a terminal, otherwise all]
    #[arg(long = "limit", value_name = "N", value_parser = count)]
    max: Option<usize>,
}

impl Limit {
    /// Returns whether a list needs no further items. At a terminal, all of them are counted.
    pub fn is_reached(self, count: usize) -> bool {
        !io::stdout().is_terminal() && self.max.is_some_and(|max| count >= max)
    }
}

/// Formats a time in a table: at a terminal relative to now, for example `3d ago`.
pub fn time(time: Timestamp) -> String {
    if io::stdout().is_terminal() {
        relative(time, SystemClock.now())
    } else {
        time.to_string()
    }
}

fn relative(time: Timestamp, now: Timestamp) -> String {
    let left = time.saturating_duration_since(now).as_secs();
    let seconds = left.max(now.saturating_duration_since(time).as_secs());
    let amount = match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    };
    match left {
        0 => format!("{amount} ago"),
        _ => format!("in {amount}"),
    }
}

/// Returns a text of a member or an administrator for a table: quoted and escaped, unless it can be confused neither
/// with other cells nor with an absent value.
pub fn quoted(text: &str) -> String {
    let quoted = format!("{text:?}");
    let is_plain = quoted.len() == text.len() + 2
        && !text.is_empty()
        && text.trim() == text
        && !text.starts_with('(')
        && !text.contains("  ");
    if is_plain { text.into() } else { quoted }
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

/// Formats a state in its colour. `shown` is the state or its beginning.
pub fn coloured_state(state: &str, shown: &str) -> String {
    let style = match state {
        "active" | "delivered" | "enabled" | "valid" => GREEN,
        "banned" | "dead" | "disabled after failures" | "failing" | "gone" | "revoked" => RED,
        "disabled" | "expired" | "retrying" | "withheld" => YELLOW,
        _ => return shown.into(),
    };
    format!("{style}{shown}{style:#}")
}

/// An item of a list.
pub trait ListItem: Serialize {
    /// Headings, separated by `|`. Those of columns that can be long begin with `*`: these columns are the first that are
    /// shortened at a terminal.
    const HEADINGS: &'static str;

    fn cells(&self) -> Vec<String>;
}

/// Columns of text under headings. A column has the width of its longest cell; at a terminal, cells and headings are
/// shortened until the table fits.
///
/// `comfy-table` wraps a cell between words and measures cells with colours only with `crossterm`; `tabled` needs nine
/// more crates.
#[derive(Debug)]
pub struct Table {
    /// The headings, each with whether its column can be long.
    headings: Vec<(&'static str, bool)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Returns a table with [headings](ListItem::HEADINGS).
    pub fn new(headings: &'static str) -> Self {
        let is_long = |heading: &'static str| match heading.strip_prefix('*') {
            Some(long) => (long, true),
            None => (heading, false),
        };
        Self {
            headings: headings.split('|').map(is_long).collect(),
            rows: Vec::new(),
        }
    }

    /// Returns a table with one row for each item.
    pub fn of<T: ListItem>(items: &[T]) -> Self {
        Self {
            rows: items.iter().map(ListItem::cells).collect(),
            ..Self::new(T::HEADINGS)
        }
    }

    pub fn row(&mut self, cells: impl Into<Vec<String>>) {
        self.rows.push(cells.into());
    }

    fn widths(&self, max: usize) -> Vec<usize> {
        let lengths = self.headings.iter().map(|(heading, _)| heading.len());
        let mut widths: Vec<_> = lengths.collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        for (min, only_long) in [(MIN_LONG_WIDTH, true), (MIN_WIDTH, false)] {
            while widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1) > max {
                let columns = widths.iter_mut().zip(&self.headings).skip(1);
                let shortened = columns.filter(|(_, (_, is_long))| !only_long || *is_long);
                match shortened.map(|(width, _)| width).max() {
                    Some(widest) if *widest > min => *widest -= 1,
                    _ => break,
                }
            }
        }
        widths
    }

    /// Formats the table with lines of at most this width.
    fn format(&self, max: usize) -> String {
        let widths = self.widths(max);
        let titles = widths.iter().zip(&self.headings);
        let titles = titles.map(|(width, (title, _))| padded(title, *width, str::to_owned));
        let mut text = format!("{}\n", heading(line(titles)));
        for row in &self.rows {
            let cells = widths.iter().zip(row).zip(&self.headings);
            text += &line(cells.map(|((width, cell), (title, _))| {
                padded(cell, *width, |shown| match *title {
                    "STATE" => coloured_state(cell, shown),
                    _ => shown.into(),
                })
            }));
            text.push('\n');
        }
        text
    }
}

/// Formats a text that is shortened to `width`, and the space after it.
fn padded(text: &str, width: usize, format: impl Fn(&str) -> String) -> String {
    let shown = shortened(text, width);
    let space = " ".repeat(width - shown.chars().count() + 2);
    format(&shown) + &space
}

fn line(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<String>().trim_end().into()
}

impl Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stdout = io::stdout();
        let width = || match tcgetwinsize(&stdout).map_or(0, |size| size.ws_col) {
            0 => DEFAULT_WIDTH,
            columns => columns.into(),
        };
        let max = if stdout.is_terminal() {
            width()
        } else {
            usize::MAX
        };
        f.write_str(&self.format(max))
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

    #[test]
    fn a_table_is_shortened_to_a_width() {
        let mut table = Table::new("ID|STATE|*LABEL|*SCOPES");
        let long = "é".repeat(300);
        table.row(["1", "retrying", "short", "all"].map(Into::into));
        table.row(["whe_1", "gone", &long, &long].map(Into::into));
        for (max, expected) in [(usize::MAX, 619), (120, 120), (40, 40), (30, 30), (1, 23)] {
            let text = anstream::adapter::strip_str(&table.format(max)).to_string();
            let lines: Vec<_> = text.lines().collect();
            let longest = lines.iter().map(|line| line.chars().count()).max();
            assert_eq!(longest, Some(expected), "{text}");
            assert!(lines[2].starts_with("whe_1  "), "{text}");
            let shortened = if max < 619 { 2 } else { 0 };
            assert_eq!(lines[2].matches('…').count(), shortened, "{text}");
        }
        assert!(
            table
                .format(1)
                .contains(&coloured_state("retrying", "ret…"))
        );
    }

    #[test]
    fn a_time_at_a_terminal_is_relative() {
        let now = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        for (time, expected) in [
            ("2026-01-31T12:00:00Z", "0s ago"),
            ("2026-01-31T11:59:01Z", "59s ago"),
            ("2026-01-31T12:01:00Z", "in 1m"),
            ("2026-01-31T00:00:00Z", "12h ago"),
            ("2026-03-02T12:00:00Z", "in 30d"),
        ] {
            assert_eq!(relative(Timestamp::parse(time).unwrap(), now), expected);
        }
    }

    #[test]
    fn a_text_that_can_be_confused_is_quoted() {
        for plain in ["laptop", "first steps", "<b> & 'é'", "日本"] {
            assert_eq!(quoted(plain), plain);
        }
        for (text, shown) in [
            ("", r#""""#),
            (" a", r#"" a""#),
            ("a  b", r#""a  b""#),
            ("(deleted)", r#""(deleted)""#),
            ("a\n\u{1b}\u{202e}\"", r#""a\n\u{1b}\u{202e}\"""#),
        ] {
            assert_eq!(quoted(text), shown);
        }
    }
}
