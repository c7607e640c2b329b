//! Format of log lines.
//!
//! The event at the end of a request repeats the fields of its span, for programs that do not read spans. A line has each
//! field once: its span has only the fields that the event does not have.

use std::collections::BTreeSet;
use std::fmt::{self, Debug};

use clap::builder::styling::{AnsiColor, Style};
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::{DefaultFields, JsonFields, Writer};
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

use crate::options::LogFormat;

const DIMMED: Style = Style::new().dimmed();

/// Formats an event as one line. The fields of spans are stored as JSON.
#[derive(Clone, Copy, Debug)]
pub struct LineFormat(pub LogFormat);

impl<S> FormatEvent<S, JsonFields> for LineFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, JsonFields>,
        writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        // Spans are not nested, so that the current one has all fields.
        let span = context.lookup_current().map(|span| {
            let extensions = span.extensions();
            let stored = extensions.get::<FormattedFields<JsonFields>>();
            let fields = stored.and_then(|stored| serde_json::from_str(&stored.fields).ok());
            SpanFields {
                name: span.name(),
                fields: without_event_fields(fields.unwrap_or_default(), event),
            }
        });
        match self.0 {
            LogFormat::Json => write_json(context, writer, event, span),
            LogFormat::Text => write_text(writer, event, span),
        }
    }
}

/// The name of a span, and its fields that are not in the event.
struct SpanFields {
    name: &'static str,
    fields: Map<String, Value>,
}

/// Removes the fields that the event has.
fn without_event_fields(mut fields: Map<String, Value>, event: &Event<'_>) -> Map<String, Value> {
    let mut recorded = RecordedNames::default();
    event.record(&mut recorded);
    fields.retain(|name, _| !recorded.0.contains(name.as_str()));
    fields
}

/// Names of the fields that an event has. A field without a value is not recorded.
#[derive(Default)]
struct RecordedNames(BTreeSet<&'static str>);

impl Visit for RecordedNames {
    fn record_debug(&mut self, field: &Field, _: &dyn Debug) {
        self.0.insert(field.name());
    }
}

fn write_json<S>(
    context: &FmtContext<'_, S, JsonFields>,
    mut writer: Writer<'_>,
    event: &Event<'_>,
    span: Option<SpanFields>,
) -> fmt::Result
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let metadata = event.metadata();
    writer.write_str("{\"timestamp\":\"")?;
    SystemTime.format_time(&mut writer)?;
    write!(writer, "\",\"level\":\"{}\",\"fields\":", metadata.level())?;
    context.format_fields(writer.by_ref(), event)?;
    write!(writer, ",\"target\":{}", Value::from(metadata.target()))?;
    if let Some(SpanFields { name, mut fields }) = span {
        fields.insert("name".into(), name.into());
        write!(writer, ",\"span\":{}", Value::Object(fields))?;
    }
    writeln!(writer, "}}")
}

fn write_text(mut writer: Writer<'_>, event: &Event<'_>, span: Option<SpanFields>) -> fmt::Result {
    let metadata = event.metadata();
    let (level_style, other_style) = if writer.has_ansi_escapes() {
        (style(*metadata.level()), DIMMED)
    } else {
        (Style::new(), Style::new())
    };
    write!(writer, "{other_style}")?;
    SystemTime.format_time(&mut writer)?;
    write!(writer, "{other_style:#} {level_style}{:>5}{level_style:#} ", metadata.level())?;
    if let Some(SpanFields { name, fields }) = span {
        write!(writer, "{name}")?;
        let fields: Vec<_> =
            fields.iter().map(|(field, value)| format!("{field}={value}")).collect();
        if !fields.is_empty() {
            write!(writer, "{{{}}}", fields.join(" "))?;
        }
        write!(writer, ": ")?;
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
    use tracing_subscriber::fmt;
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

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
        let layer = fmt::layer()
            .fmt_fields(JsonFields::new())
            .event_format(LineFormat(format))
            .with_ansi(false)
            .with_writer(move || writer.clone());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            let span = tracing::info_span!(
                "request",
                request_id = "r1",
                client = %"192.0.2.1",
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
        let span = json!({ "name": "request", "request_id": "r1", "client": "192.0.2.1" });
        let fields = json!({ "message": "internal error", "error": "\"no\"\nline" });
        assert_eq!(parts(&json_lines[0]), json!(["WARN", fields, span]));
        let span = json!({ "name": "request", "client": "192.0.2.1", "code": "internal_error" });
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
                " WARN request{{client=\"192.0.2.1\" request_id=\"r1\"}}: {target}: internal error error=\"\\\"no\\\"\\nline\""
            )
        );
        assert_eq!(
            after_time(&texts[1]),
            format!(
                " INFO request{{client=\"192.0.2.1\" code=\"internal_error\"}}: {target}: request completed request_id=\"r1\" status=500"
            )
        );
    }
}
