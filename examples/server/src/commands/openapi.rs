//! `openapi`.

use clap::Args;
use forum_api::host::Result;
use forum_api::runtime::TokioRuntime;
use forum_api::scope;
use forum_api::{Environment, Settings, openapi};

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
        let surface = self.surface.map_or(before, Into::into);
        let environment = Environment::new(TokioRuntime).surface(surface);
        let document = openapi(&Settings::default(), &environment);
        Output::new(format!("{document:#}"), &document)
    }
}
