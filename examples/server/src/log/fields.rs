//! Formats the fields of spans and log lines.

use std::fmt::{self, Debug};
use std::{error, mem};

use tracing::field::{Field, Visit};
use tracing_subscriber::field::{RecordFields, VisitOutput as _};
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::{DefaultFields, DefaultVisitor, Writer};

/// Formats fields like [`DefaultFields`], but writes numbers and plain texts directly. Most fields of a request are such
/// values, and formatting traits take several times as long.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogFields;

impl<'writer> FormatFields<'writer> for LogFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'writer>, fields: R) -> fmt::Result {
        if writer.has_ansi_escapes() {
            return DefaultFields::new().format_fields(writer, fields);
        }
        let mut visitor = FieldVisitor {
            writer,
            is_first: true,
            result: Ok(()),
        };
        fields.record(&mut visitor);
        visitor.result
    }
}

/// Writes fields without colors.
struct FieldVisitor<'writer> {
    writer: Writer<'writer>,
    is_first: bool,
    result: fmt::Result,
}

impl FieldVisitor<'_> {
    /// Writes a field with a plain name. The parts are its value.
    fn write(&mut self, field: &Field, parts: &[&str]) {
        let separator = if mem::take(&mut self.is_first) {
            ""
        } else {
            " "
        };
        let start = [separator, field.name(), "="];
        let result = start
            .iter()
            .chain(parts)
            .try_for_each(|part| self.writer.write_str(part));
        self.result = self.result.and(result);
    }

    /// Writes a field like [`DefaultFields`].
    fn write_default(&mut self, record: impl FnOnce(&mut DefaultVisitor<'_>)) {
        let is_first = mem::take(&mut self.is_first);
        let mut visitor = DefaultVisitor::new(self.writer.by_ref(), is_first);
        record(&mut visitor);
        self.result = self.result.and(visitor.finish());
    }
}

impl Visit for FieldVisitor<'_> {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if is_plain_name(field) {
            self.write(field, &[&value.to_string()]);
        } else {
            self.write_default(|visitor| visitor.record_u64(field, value));
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if is_plain_name(field) && is_plain(value) {
            self.write(field, &["\"", value, "\""]);
        } else {
            self.write_default(|visitor| visitor.record_str(field, value));
        }
    }

    fn record_error(&mut self, field: &Field, value: &(dyn error::Error + 'static)) {
        self.write_default(|visitor| visitor.record_error(field, value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.write_default(|visitor| visitor.record_debug(field, value));
    }
}

/// Returns whether the default format of a field begins with its name.
fn is_plain_name(field: &Field) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    field.name() != "message" && field.name().bytes().all(is_plain)
}

/// Returns whether the `Debug` format of a text is the text between quotes.
fn is_plain(text: &str) -> bool {
    text.bytes()
        .all(|byte| (b' '..=b'~').contains(&byte) && !b"\"\\".contains(&byte))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{self, Read as _, Seek as _};
    use std::sync::Mutex;

    use tracing::field::{Empty, display};
    use tracing::subscriber;

    use super::*;

    /// Returns the lines of a log with these fields.
    fn log<F>(fields: F, has_colors: bool) -> io::Result<String>
    where
        F: for<'writer> FormatFields<'writer> + Send + Sync + 'static,
    {
        let mut output: File = tempfile::tempfile()?;
        let subscriber = tracing_subscriber::fmt()
            .without_time()
            .with_ansi(has_colors)
            .fmt_fields(fields)
            .with_writer(Mutex::new(output.try_clone()?))
            .finish();
        subscriber::with_default(subscriber, || {
            let span = tracing::info_span!(
                "request",
                id = "a-1",
                cost = 7_u64,
                code = Empty,
                owner = Empty
            );
            let _entered = span.enter();
            tracing::info!("started");
            span.record("code", "\"a\\b\"\n")
                .record("owner", display("é"));
            let source = io::Error::other("\u{1b}[1m");
            let error: &(dyn error::Error + 'static) = &source;
            tracing::warn!(
                error,
                number = -1,
                first = true,
                text = "é \t ~",
                "\u{1b}[1mmessage"
            );
            tracing::info!(message = "plain", count = u64::MAX, r#type = "a");
        });
        let mut lines = String::new();
        output.rewind()?;
        output.read_to_string(&mut lines)?;
        Ok(lines)
    }

    #[test]
    fn a_log_is_the_same_as_with_default_fields() {
        for has_colors in [false, true] {
            let log_lines = log(LogFields, has_colors).unwrap();
            assert_eq!(log_lines.lines().count(), 3);
            assert_eq!(log_lines, log(DefaultFields::new(), has_colors).unwrap());
        }
    }
}
