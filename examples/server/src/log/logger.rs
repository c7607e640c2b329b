//! Starts the log on stderr.

use std::any::Any;
use std::env;
use std::fmt::Debug;
use std::io;
use std::panic;

use anstream::{AutoStream, ColorChoice};
use forum_api::mask_secrets;
use tracing::Subscriber;
use tracing::field::Field;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::{Writer, debug_fn};
use tracing_subscriber::fmt::{self, MakeWriter};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::buffer::LogBuffer;
use super::format::LineFormat;
use super::span_fields::SpanFieldsLayer;
use crate::options::{LogFormat, LogOptions};

/// Maximum length of a logged text in characters.
const MAX_LENGTH: usize = 2000;

/// The log of the process. Dropping it writes the buffered lines.
#[derive(Debug)]
pub struct Log(LogBuffer);

impl Log {
    /// Starts the log. `RUST_LOG` filters it; the default level is `info`.
    pub fn start(options: LogOptions) -> Self {
        let directives = env::var("RUST_LOG").unwrap_or_default();
        let (filter, ignored) = parse_filter(&directives);
        let buffer = LogBuffer::default();
        let writer = buffer.clone();
        let has_colors = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
        let layer = line_layer(options.log, has_colors, move || writer.clone());
        tracing_subscriber::registry().with(filter).with(layer).init();
        for directive in ignored {
            tracing::warn!(directive, "RUST_LOG: ignored an invalid directive");
        }
        panic::set_hook(Box::new(move |panic| {
            let location = panic.location().map(tracing::field::display);
            let reason = panic_message(panic.payload(), options.log_panics);
            tracing::error!(location, ?reason, "panic");
        }));
        buffer.write_to(io::stderr());
        Self(buffer)
    }
}

/// Returns the layer that writes each event as one line.
pub fn line_layer<S, W>(log_format: LogFormat, has_colors: bool, writer: W) -> impl Layer<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'w> MakeWriter<'w> + 'static,
{
    // The fields of spans are not formatted as texts: a line omits those that its event has.
    let no_text = |_: &mut Writer<'_>, _: &Field, _: &dyn Debug| Ok(());
    let lines = fmt::layer()
        .fmt_fields(debug_fn(no_text))
        .event_format(LineFormat(log_format))
        .with_ansi(has_colors)
        .with_writer(writer);
    SpanFieldsLayer.and_then(lines)
}

impl Drop for Log {
    fn drop(&mut self) {
        self.0.drain();
    }
}

/// Parses directives of the form `level`, `target` or `target=level`, separated by commas. Without a valid directive the
/// level is `info`. Returns the invalid directives as well.
fn parse_filter(directives: &str) -> (Targets, Vec<&str>) {
    let given = directives.split(',').map(str::trim).filter(|directive| !directive.is_empty());
    let (valid, invalid): (Vec<_>, Vec<_>) =
        given.partition(|directive| directive.parse::<Targets>().is_ok());
    let filter = if valid.is_empty() { None } else { valid.join(",").parse().ok() };
    let default = || Targets::new().with_default(LevelFilter::INFO);
    (filter.unwrap_or_else(default), invalid)
}

/// Returns the message of a panic. A fixed message of the program is always shown. A formatted one can quote a post or a
/// message of a member: it is shown only `in_full`, with secrets masked.
fn panic_message(payload: &dyn Any, in_full: bool) -> String {
    if let Some(fixed) = payload.downcast_ref::<&'static str>() {
        return (*fixed).into();
    }
    match payload.downcast_ref::<String>() {
        Some(formatted) if in_full => mask_secrets(formatted).chars().take(MAX_LENGTH).collect(),
        Some(_) => "formatted message not logged; pass --log-panics to log it".into(),
        None => "panic payload is not text".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_directives_are_left_out_of_the_filter() {
        for (directives, filter, invalid) in [
            ("", "info", vec![]),
            (" ,", "info", vec![]),
            ("forum_server=loud", "info", vec!["forum_server=loud"]),
            ("warn, forum_server=debug,hyper=x,", "forum_server=debug,warn", vec!["hyper=x"]),
            ("hyper", "hyper=trace", vec![]),
        ] {
            let (parsed, ignored) = parse_filter(directives);
            assert_eq!((&*parsed.to_string(), ignored), (filter, invalid), "{directives:?}");
        }
    }

    #[test]
    fn formatted_panic_messages_are_logged_only_on_request() {
        let formatted: Box<dyn Any> = Box::new("index 3, length 2".to_owned());
        assert_eq!(panic_message(&*formatted, true), "index 3, length 2");
        let secret: Box<dyn Any> = Box::new(format!("key {}", "whsec_q"));
        assert_eq!(panic_message(&*secret, true), "key whsec_…");
        let hidden = "formatted message not logged; pass --log-panics to log it";
        assert_eq!(panic_message(&*formatted, false), hidden);
        let long: Box<dyn Any> = Box::new("é".repeat(MAX_LENGTH + 1));
        assert_eq!(panic_message(&*long, true), "é".repeat(2000));
        for in_full in [false, true] {
            assert_eq!(panic_message(&"out of cheese", in_full), "out of cheese");
            assert_eq!(panic_message(&7, in_full), "panic payload is not text");
        }
    }
}
