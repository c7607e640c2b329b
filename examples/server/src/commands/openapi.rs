//! `openapi`.

use clap::Args;
use forum_api::host::Result;
use forum_api::scope;
use forum_api::{Settings, openapi};

use crate::cli::Surface;
use crate::output::Output;

/// The OpenAPI document.
#[derive(Debug, Args)]
pub struct Openapi {
    /// Which interface to describe
    #[arg(long, value_enum)]
    surface: Option<Surface>,
}

impl Openapi {
    /// Prints the document, which is JSON either way.
    pub fn run(self, before: scope::Surface) -> Result<Output> {
        let document = openapi(&Settings {
            surface: self.surface.map_or(before, Into::into),
            ..Settings::default()
        });
        Output::new(format!("{document:#}"), &document)
    }
}
