//! Format of log lines.
//!
//! The event at the end of a request repeats the fields of its span, for programs that do not read spans. A line has each
//! field once: its span has only the fields that the event does not have.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Debug};

use clap::builder::styling::{AnsiColor, Style};
use serde_json::Value;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::{DefaultFields, JsonFields, Writer};
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::span_fields::SpanFields;
use crate::options::LogFormat;

const DIMMED: Style = Style::new().dimmed();

/// Formats an event as one line, with the fields that [`SpanFieldsLayer`](super::span_fields::SpanFieldsLayer) stored.
#[derive(Clone, Copy, Debug)]
pub struct LineFormat(pub LogFormat);

impl<S, N> FormatEvent<S, N> for LineFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'w> FormatFields<'w> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        // Spans are not nested, so that the current one has all fields.
        let current = context.lookup_current();
        let extensions = current.as_ref().map(|span| span.extensions());
        let stored = extensions.as_ref().and_then(|extensions| extensions.get::<SpanFields>());
        let span = current.as_ref().zip(stored).map(|(span, stored)| SpanPart {
            name: span.name(),
            fields: without_event_fields(stored, event),
        });
        match self.0 {
            LogFormat::Json => write_json(writer, event, span),
            LogFormat::Text => write_text(writer, event, span),
        }
    }
}

/// The name of a span, and its fields that are not in the event.
struct SpanPart<'a> {
    name: &'static str,
    fields: BTreeMap<&'static str, &'a Value>,
}

/// Returns the fields of a span that the event does not have.
fn without_event_fields<'a>(
    SpanFields(fields): &'a SpanFields,
    event: &Event<'_>,
) -> BTreeMap<&'static str, &'a Value> {
    let mut recorded = RecordedNames::default();
    event.record(&mut recorded);
    let is_in_event = |name: &str| recorded.0.contains(name);
    let fields = fields.iter().map(|(name, value)| (*name, value));
    fields.filter(|(name, _)| !is_in_event(name)).collect()
}

/// Names of the fields that an event has. A field without a value is not recorded.
#[derive(Default)]
struct RecordedNames(BTreeSet<&'static str>);

impl Visit for RecordedNames {
    fn record_debug(&mut self, field: &Field, _: &dyn Debug) {
        self.0.insert(field.name());
    }
}

fn write_json(
    mut writer: Writer<'_>,
    event: &Event<'_>,
    span: Option<SpanPart<'_>>,
) -> fmt::Result {
    let metadata = event.metadata();
    writer.write_str("{\"timestamp\":\"")?;
    SystemTime.format_time(&mut writer)?;
    write!(writer, "\",\"level\":\"{}\",\"fields\":", metadata.level())?;
    JsonFields::new().format_fields(writer.by_ref(), event)?;
    write!(writer, ",\"target\":{}", Value::from(metadata.target()))?;
    if let Some(SpanPart { name, mut fields }) = span {
        let name = Value::from(name);
        fields.insert("name", &name);
        let fields = serde_json::to_string(&fields).map_err(|_| fmt::Error)?;
        write!(writer, ",\"span\":{fields}")?;
    }
    writeln!(writer, "}}")
}

fn write_text(
    mut writer: Writer<'_>,
    event: &Event<'_>,
    span: Option<SpanPart<'_>>,
) -> fmt::Result {
    let metadata = event.metadata();
    let (level_style, other_style) = if writer.has_ansi_escapes() {
        (style(*metadata.level()), DIMMED)
    } else {
        (Style::new(), Style::new())
    };
    write!(writer, "{other_style}")?;
    SystemTime.format_time(&mut writer)?;
    write!(writer, "{other_style:#} {level_style}{:>5}{level_style:#} ", metadata.level())?;
    if let Some(SpanPart { name, fields }) = span {
        write!(writer, "{name}")?;
        let mut before = '{';
        for (field, value) in &fields {
            write!(writer, "{before}{field}={value}")?;
            before = ' ';
        }
        let end = if fields.is_empty() { "" } else { "}" };
        write!(writer, "{end}: ")?;
    }
    write!(writer, "{other_style}{}:{other_style:#} ", metadata.target())?;
    DefaultFields::new().format_fields(writer.by_ref(), event)?;
    writeln!(writer)
}

fn style(level: Level) -> Style {
    let color = match level {
        Level::ERROR => AnsiColor::Red,
        Level::WARN => AnsiColor::Yellow,
        Level::INFO => AnsiColor::Green,
        Level::DEBUG => AnsiColor::Blue,
        Level::TRACE => AnsiColor::Magenta,
    };
    color.on_default()
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use serde_json::json;
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;
    use crate::log::line_layer;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(line);
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns the lines about a request whose last event repeats fields of its span.
    fn lines(format: LogFormat) -> Vec<String> {
        let written = Lines::default();
        let writer = written.clone();
        let layer = line_layer(format, false, move || writer.clone());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            let span = tracing::info_span!(
                "request",
                request_id = "r1",
                client = %"192.0.2.1",
                attempts = 7_u64,
                is_slow = false,
                share = 0.5,
                status = tracing::field::Empty,
                code = tracing::field::Empty,
            );
            let _entered = span.enter();
            tracing::warn!(error = "\"no\"\nline", "internal error");
            span.record("status", 500);
            span.record("code", "internal_error");
            let absent: Option<&str> = None;
            tracing::info!(request_id = "r1", status = 500, code = absent, "request completed");
        });
        let bytes = written.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_line_has_each_field_once() {
        let json_lines: Vec<Value> =
            lines(LogFormat::Json).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let parts = |line: &Value| json!([line["level"], line["fields"], line["span"]]);
        let span = json!({
            "name": "request",
            "request_id": "r1",
            "client": "192.0.2.1",
            "attempts": 7,
            "is_slow": false,
            "share": 0.5,
        });
        let fields = json!({ "message": "internal error", "error": "\"no\"\nline" });
        assert_eq!(parts(&json_lines[0]), json!(["WARN", fields, span]));
        let span = json!({
            "name": "request",
            "client": "192.0.2.1",
            "attempts": 7,
            "is_slow": false,
            "share": 0.5,
            "code": "internal_error",
        });
        let fields = json!({ "message": "request completed", "request_id": "r1", "status": 500 });
        assert_eq!(parts(&json_lines[1]), json!(["INFO", fields, span]));
        assert!(json_lines[0]["timestamp"].is_string(), "{json_lines:?}");
        assert_eq!(json_lines[0]["target"], module_path!());

        let texts = lines(LogFormat::Text);
        let after_time = |line: &str| line.split_once(' ').unwrap().1.to_owned();
        let target = module_path!();
        assert_eq!(
            after_time(&texts[0]),
            format!(
                " WARN request{{attempts=7 client=\"192.0.2.1\" is_slow=false request_id=\"r1\" share=0.5}}: {target}: internal error error=\"\\\"no\\\"\\nline\""
            )
        );
        assert_eq!(
            after_time(&texts[1]),
            format!(
                " INFO request{{attempts=7 client=\"192.0.2.1\" code=\"internal_error\" is_slow=false share=0.5}}: {target}: request completed request_id=\"r1\" status=500"
            )
        );
    }

    #[test]
    fn a_line_at_a_terminal_has_the_colour_of_its_level() {
        let written = Lines::default();
        let writer = written.clone();
        let layer = line_layer(LogFormat::Text, true, move || writer.clone());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            tracing::error!("x");
            tracing::warn!("x");
            tracing::info!("x");
            tracing::debug!("x");
            tracing::trace!("x");
        });
        let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        let levels = ["[31mERROR", "[33m WARN", "[32m INFO", "[34mDEBUG", "[35mTRACE"];
        assert_eq!(text.lines().count(), levels.len(), "{text}");
        for (line, level) in text.lines().zip(levels) {
            let (time, rest) = line.split_once("\u{1b}[0m ").unwrap();
            assert!(time.starts_with("\u{1b}[2m"), "{text}");
            let target = module_path!();
            assert_eq!(rest, format!("\u{1b}{level}\u{1b}[0m \u{1b}[2m{target}:\u{1b}[0m x"));
        }
    }
}
