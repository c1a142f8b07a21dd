//! The command `knowhow tenant move`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use knowhow_store::deployment::moving::{self, Move, Moved};

use crate::config::owner_urls;
use knowhow_client::print;

/// Move a tenant to another database
#[derive(Args)]
pub(super) struct MoveTenant {
    /// Slug of the tenant
    slug: String,
    /// Target database: home, or a name in KNOWHOW_PLACES. DATABASE_URLS has a URL for each database, with a superuser
    /// as role, e.g. 'home=postgres://... eu2=postgres://...'; the target server connects to the old one with the same
    /// URL
    #[arg(long, value_name = "PLACE")]
    to: String,
    /// Cancel a move that is not finished; the tenant stays in its old database
    #[arg(long)]
    abort: bool,
    /// Seconds until the rows are deleted from the old database after the move
    #[arg(long, default_value_t = 10, value_name = "SECONDS")]
    grace_s: u64,
}

impl MoveTenant {
    /// Moves the tenant, and prints each step when it starts. If the command is killed at any step, it can be run
    /// again.
    pub(super) async fn run(self) -> Result<ExitCode> {
        let places = owner_urls()?;
        let order = Move { slug: &self.slug, to: &self.to, places: &places, grace: Duration::from_secs(self.grace_s) };
        // A failed print must not stop the move.
        let report = |step: &str| drop(print::line(step));
        let moved =
            if self.abort { moving::abort(&order, &report).await? } else { moving::relocate(&order, &report).await? };
        match moved {
            Moved::Stays => print::line(format!("the tenant {} stays in its old database", self.slug))?,
            Moved::There { rows, refused } => {
                let rows = rows.map(|rows| format!(": {rows} rows, compared one by one")).unwrap_or_default();
                let refused = refused.map(|time| format!("; refused for {} ms", time.as_millis())).unwrap_or_default();
                print::line(format!("the tenant {} lives at {}{rows}{refused}", self.slug, self.to))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
