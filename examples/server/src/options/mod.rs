//! Options of the server, of workers and of commands, and the parsers of their values.

mod arguments;
mod values;
mod webhooks;

pub use arguments::{
    AdminOptions, COMMON_OPTIONS, Common, CopyTarget, DEFAULT_BOARD_NAME, DatabaseOptions,
    DrainOptions, LogFormat, LogOptions, NODE, ServeArgs, ServerAddress, SurfaceArg, node_name,
};
pub use values::{base_url, check_sqlite_form, count, days, delay, time, whole, without_password};
pub use webhooks::{DEFAULT_EVENT_RETENTION, RetryOptions, WebhookOptions};
