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
use serde_json::{Value, json};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::options::count;

/// Number of items of a list at a terminal without `--limit`.
const TERMINAL_LIMIT: usize = 50;

/// Width of a terminal of unknown width.
const DEFAULT_WIDTH: usize = 80;

/// Minimum width of a column that can be long.
const MIN_LONG_WIDTH: usize = 8;

/// Maximum of the width that a column keeps for the hosts of its URLs.
const MAX_HOST_WIDTH: usize = 46;

/// Minimum width of other columns, unless the terminal is too narrow for the whole ones. The first one is never shortened.
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
        let total = all.len();
        let mut shown = all;
        shown.truncate(limit.max());
        Self::part_of_list(shown, total)
    }

    /// Returns an output as [`list`](Self::list) of the first items of a list with `total` items.
    pub fn part_of_list<T: ListItem>(shown: Vec<T>, total: usize) -> BoardResult<Self> {
        let mut text = Table::of(&shown).to_string();
        if shows_total() && shown.len() < total {
            let shown_count = HumanCount(shown.len() as u64);
            let total_count = HumanCount(total as u64);
            text +=
                &format!("{shown_count} of {total_count} shown; use --limit N for more or fewer");
        }
        Self::new(text, shown)
    }

    /// Returns an output of a change that prints `text`, or `{"ok":true}` with further fields. `fields` is an object.
    pub fn change(text: impl Display, fields: Value) -> BoardResult<Self> {
        let mut json = json!({ "ok": true });
        if let (Value::Object(json), Value::Object(fields)) = (&mut json, fields) {
            json.extend(fields);
        }
        Self::new(text, json)
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
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(BoardError::internal(format!("the output could not be written: {error}")))
            }
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
    /// Returns the maximum number of items that are shown.
    pub fn max(self) -> usize {
        let default = if io::stdout().is_terminal() { TERMINAL_LIMIT } else { usize::MAX };
        self.max.unwrap_or(default)
    }

    /// Returns whether a list needs no further items. At a terminal, all of them are counted.
    pub fn is_reached(self, count: usize) -> bool {
        !io::stdout().is_terminal() && self.max.is_some_and(|max| count >= max)
    }
}

/// Returns whether the output of a shortened list has the number of all items.
pub fn shows_total() -> bool {
    io::stdout().is_terminal()
}

/// Formats a time in a table: at a terminal relative to now, for example `3d ago`.
pub fn time(time: Timestamp) -> String {
    if io::stdout().is_terminal() { relative(time, SystemClock.now()) } else { time.to_string() }
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
    let escaped = format!("{text:?}");
    let is_plain = escaped.len() == text.len() + 2
        && !text.is_empty()
        && text.trim() == text
        && !text.starts_with('(')
        && !text.contains("  ");
    if is_plain { text.into() } else { escaped }
}

/// Returns a number and its noun, for example `2 tokens`.
pub fn counted<N: Display + From<u8> + PartialEq>(count: N, one: &str, several: &str) -> String {
    let noun = if count == N::from(1) { one } else { several };
    format!("{count} {noun}")
}

/// Formats values with their labels, one pair a line.
pub fn labelled(pairs: &[(&str, String)]) -> String {
    let width = pairs.iter().map(|(label, _)| label.len()).max().unwrap_or_default();
    pairs.iter().map(|(label, value)| format!("{BOLD}{label:width$}{BOLD:#}  {value}\n")).collect()
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
    const COLUMNS: &'static [Column];

    fn cells(&self) -> Vec<String>;
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    title: &'static str,
    is_long: bool,
    is_whole: bool,
    is_optional: bool,
}

impl Column {
    pub const fn new(title: &'static str) -> Self {
        Self { title, is_long: false, is_whole: false, is_optional: false }
    }

    /// Marks a column whose cells can be long: a terminal shows them shortened.
    pub const fn long(mut self) -> Self {
        self.is_long = true;
        self
    }

    /// Marks a column whose cells are useless if they are shortened, such as ids. The first column is such a column.
    pub const fn whole(mut self) -> Self {
        self.is_whole = true;
        self
    }

    /// Marks a column that a narrow terminal does not show. The last one is left out first.
    pub const fn optional(mut self) -> Self {
        self.is_optional = true;
        self
    }
}

/// Width of a column that is shown.
#[derive(Clone, Copy, Debug)]
struct Width {
    min: usize,
    shown: usize,
}

/// Returns the width down to which a column can shrink; `None` if it keeps its width.
type MinWidth = dyn Fn(&Column, Width) -> Option<usize>;

/// Returns the width of a table whose columns have the widths that `of` selects.
fn total_width(widths: &[Option<Width>], of: fn(Width) -> usize) -> usize {
    let columns = widths.iter().flatten().map(|width| of(*width) + 2);
    columns.sum::<usize>().saturating_sub(2)
}

/// Columns of text under headings. A column has the width of its longest cell. At a terminal, columns that can be long
/// are shortened until the table fits, and optional columns are left out if this is not enough. Ids, and hosts of URLs, are
/// shortened only if nothing else is left to shorten.
///
/// `comfy-table` wraps a cell between words and measures cells with colours only with `crossterm`; `tabled` needs nine
/// more crates.
#[derive(Debug)]
pub struct Table {
    columns: &'static [Column],
    rows: Vec<Vec<String>>,
}

impl Table {
    pub const fn new(columns: &'static [Column]) -> Self {
        Self { columns, rows: Vec::new() }
    }

    /// Returns a table with one row for each item.
    pub fn of<T: ListItem>(items: &[T]) -> Self {
        Self { rows: items.iter().map(ListItem::cells).collect(), ..Self::new(T::COLUMNS) }
    }

    pub fn row(&mut self, cells: impl Into<Vec<String>>) {
        self.rows.push(cells.into());
    }

    /// Returns the width of each column in a table of at most `max` cells of the terminal, or `None` for a column that
    /// is left out.
    fn widths(&self, max: usize) -> Vec<Option<usize>> {
        let columns = self.columns.iter().enumerate();
        let mut widths: Vec<_> =
            columns.map(|(index, column)| Some(self.width_of(index, column))).collect();
        while total_width(&widths, |width| width.min) > max {
            let mut columns = widths.iter_mut().zip(self.columns);
            match columns.rfind(|(width, column)| column.is_optional && width.is_some()) {
                Some((width, _)) => *width = None,
                None => break,
            }
        }
        let min_of_long = |column: &Column, width: Width| column.is_long.then_some(width.min);
        let min_of_others =
            |column: &Column, _: Width| (!column.is_long && !column.is_whole).then_some(MIN_WIDTH);
        let min_of_all = |_: &Column, _: Width| Some(MIN_WIDTH);
        let steps: [&MinWidth; 3] = [&min_of_long, &min_of_others, &min_of_all];
        for min in steps {
            while total_width(&widths, |width| width.shown) > max {
                let columns = widths.iter_mut().zip(self.columns).skip(1);
                let shrinkable = columns.filter_map(|(width, column)| {
                    let width = width.as_mut()?;
                    let can_shrink = min(column, *width).is_some_and(|min| width.shown > min);
                    can_shrink.then_some(&mut width.shown)
                });
                match shrinkable.max() {
                    Some(widest) => *widest -= 1,
                    None => break,
                }
            }
        }
        widths.into_iter().map(|width| Some(width?.shown)).collect()
    }

    /// Returns the minimum width of a column, and the width of its longest cell.
    fn width_of(&self, index: usize, column: &Column) -> Width {
        let title = column.title.len();
        let mut width = Width { min: title, shown: title };
        for cell in self.rows.iter().filter_map(|row| row.get(index)) {
            let full = cell.width();
            let min = if column.is_long { min_long_width(cell).min(full) } else { full };
            width.min = width.min.max(min);
            width.shown = width.shown.max(full);
        }
        width
    }

    /// Formats the table with lines of at most this width.
    pub fn format(&self, max: usize) -> String {
        let widths = self.widths(max);
        let shown = || widths.iter().zip(self.columns);
        let titles = shown()
            .filter_map(|(width, column)| Some(padded(column.title, (*width)?, str::to_owned)));
        let mut text = format!("{}\n", heading(line(titles)));
        for row in &self.rows {
            text += &line(shown().zip(row).filter_map(|((width, column), cell)| {
                Some(padded(cell, (*width)?, |shown| match column.title {
                    "STATE" => coloured_state(cell, shown),
                    _ => shown.into(),
                }))
            }));
            text.push('\n');
        }
        let hidden = shown().filter(|(width, _)| width.is_none());
        let left_out: Vec<_> = hidden.map(|(_, column)| column.title).collect();
        if !left_out.is_empty() {
            let note = format!("not shown: {}", left_out.join(", "));
            text += &shortened(&note, max);
            text.push('\n');
        }
        text
    }
}

/// Formats a text that is shortened to `max`, and the space after it.
fn padded(text: &str, max: usize, format: impl Fn(&str) -> String) -> String {
    let shown = shortened(text, max);
    let space = " ".repeat(max - shown.width() + 2);
    format(&shown) + &space
}

fn line(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<String>().trim_end().into()
}

impl Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stdout = io::stdout();
        let max = if stdout.is_terminal() {
            match tcgetwinsize(&stdout).map_or(0, |size| size.ws_col) {
                0 => DEFAULT_WIDTH,
                columns => columns.into(),
            }
        } else {
            usize::MAX
        };
        f.write_str(&self.format(max))
    }
}

/// Returns the minimum width of a cell that can be long. A URL keeps its host.
fn min_long_width(cell: &str) -> usize {
    let until_host = cell.split_once("://").map_or(0, |(scheme, rest)| {
        let host = rest.split(['/', ' ']).next().unwrap_or_default();
        scheme.width() + 3 + host.width() + 1
    });
    until_host.clamp(MIN_LONG_WIDTH, MAX_HOST_WIDTH)
}

/// Returns the beginning of a text that takes at most `max` cells of a terminal. It ends with `…` if there is more.
fn shortened(text: &str, max: usize) -> String {
    if text.width() <= max {
        return text.into();
    }
    let mut left = max.saturating_sub(1);
    let beginning = text.chars().take_while(|letter| {
        let width = letter.width().unwrap_or_default();
        let fits = width <= left;
        left = left.saturating_sub(width);
        fits
    });
    beginning.chain(['…']).collect()
}

/// Returns the text of an error for people.
pub fn reason(error: &BoardError) -> String {
    error.message().map_or_else(|| error.to_string(), str::to_owned)
}

/// Prints the reason of a refusal on stderr, and with `as_json` also as JSON on stdout. Returns status 1.
pub fn refuse(refusal: BoardError, as_json: bool) -> ExitCode {
    let reason = reason(&refusal);
    if as_json {
        print_error_json(&reason);
    }
    let style = RED.bold();
    print_line(anstream::stderr(), &format!("{style}error:{style:#} {reason}"));
    ExitCode::FAILURE
}

/// Prints the reason of an error as JSON on stdout.
pub fn print_error_json(reason: &str) {
    print_line(io::stdout(), &json!({ "error": reason }));
}

/// Prints a warning on stderr.
pub fn warn(warning: &str) {
    let style = YELLOW.bold();
    print_line(anstream::stderr(), &format!("{style}warning:{style:#} {warning}"));
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
    fn a_table_fits_a_width() {
        const COLUMNS: &[Column] = &[
            Column::new("ID"),
            Column::new("STATE"),
            Column::new("LABEL").long(),
            Column::new("SCOPES").optional().long(),
            Column::new("FROM").optional(),
            Column::new("URL").long(),
        ];
        let mut table = Table::new(COLUMNS);
        let long = "é".repeat(300);
        let url = "https://hooks.example/path/to/the/receiver";
        let wide = "上海".repeat(20);
        table.row(["1", "retrying", "short", "all", "panel", "-"].map(Into::into));
        table.row(["whe_1", "gone", &long, &long, "panel", url].map(Into::into));
        table.row(
            ["whe_2", "gone", "e\u{301}", &wide, "panel", "http://a.example/"].map(Into::into),
        );
        for (max, expected, shown) in [
            (usize::MAX, 670, url),
            (120, 120, "  panel  https://hooks.example/path/to…"),
            (60, 60, "  https://hooks.example…"),
            (50, 50, "  https://hooks.example…"),
            (30, 30, "whe_1  gone  "),
            (1, 23, "whe_1  gone  "),
        ] {
            let text = anstream::adapter::strip_str(&table.format(max)).to_string();
            let longest = text.lines().map(|line| line.width()).max();
            assert_eq!(longest, Some(expected), "{text}");
            assert!(text.lines().nth(2).unwrap().contains(shown), "{text}");
            let left_out =
                ["SCOPES", "FROM"].map(|title| !text.lines().next().unwrap().contains(title));
            let note = text.lines().nth(4).unwrap_or_default();
            let expected_left_out = [max < 59, max < 66];
            assert_eq!(left_out, expected_left_out, "{text}");
            if max >= 50 {
                let named = [note.contains("SCOPES"), note.contains("FROM")];
                assert_eq!(named, expected_left_out, "{text}");
            }
        }
        let state = coloured_state("retrying", "ret…");
        assert!(table.format(1).contains(&state));
    }

    #[test]
    fn ids_and_hosts_are_shortened_last() {
        const COLUMNS: &[Column] = &[
            Column::new("ID"),
            Column::new("STATE"),
            Column::new("ENDPOINT").whole(),
            Column::new("URL").long(),
        ];
        let mut table = Table::new(COLUMNS);
        let endpoint = "whe_0123456789012345678901";
        let cells = ["dlv_1", "disabled after failures", endpoint, "http://hooks.example/a/b"];
        table.row(cells.map(Into::into));
        let text = anstream::adapter::strip_str(&table.format(66)).to_string();
        let row = format!("dlv_1  disable…  {endpoint}  http://hooks.example…");
        assert_eq!(text.lines().nth(1), Some(row.as_str()), "{text}");
    }

    #[test]
    fn a_cell_that_can_be_long_keeps_the_host_of_a_url() {
        let long_host = format!("https://{}/", "h".repeat(60));
        for (cell, min) in [
            ("short", 8),
            ("http://a/b", 9),
            ("http://hooks.example/a", 21),
            ("https://a.example b", 18),
            (&*long_host, 46),
        ] {
            assert_eq!(min_long_width(cell), min, "{cell}");
        }
    }

    #[test]
    fn a_state_has_its_colour() {
        for (code, states) in [
            (32, &["active", "delivered", "enabled", "valid"][..]),
            (31, &["banned", "dead", "disabled after failures", "failing", "gone", "revoked"]),
            (33, &["disabled", "expired", "retrying", "withheld"]),
        ] {
            for state in states {
                let coloured = format!("\u{1b}[{code}mshown\u{1b}[0m");
                assert_eq!(coloured_state(state, "shown"), coloured, "{state}");
            }
        }
        assert_eq!(coloured_state("queued", "shown"), "shown");
        assert_eq!(heading("shown"), "\u{1b}[1mshown\u{1b}[0m");
    }

    #[test]
    fn a_time_at_a_terminal_is_relative() {
        let now = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        for (time, expected) in [
            ("2026-01-31T12:00:00Z", "0s ago"),
            ("2026-01-31T11:59:01Z", "59s ago"),
            ("2026-01-31T12:01:00Z", "in 1m"),
            ("2026-01-31T11:00:01Z", "59m ago"),
            ("2026-01-31T11:00:00Z", "1h ago"),
            ("2026-01-31T00:00:00Z", "12h ago"),
            ("2026-02-01T11:59:59Z", "in 23h"),
            ("2026-01-30T12:00:00Z", "1d ago"),
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
