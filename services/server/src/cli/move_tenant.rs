//! `knowhow tenant move`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use knowhow_store::moving::{self, Move, Moved};

use super::print;
use crate::config::owner_urls;

/// Moves a tenant to another database.
#[derive(Args)]
pub(super) struct MoveTenant {
    /// The tenant's slug
    slug: String,
    /// The place that it is to live at: home, or one of KNOWHOW_PLACES. DATABASE_URLS has a superuser's URL of each place, e.g.
    /// 'home=postgres://... eu2=postgres://...'; the server there reaches the old one by the same URL
    #[arg(long, value_name = "PLACE")]
    to: String,
    /// End what was begun, as long as the tenant does not live at the new place: it goes on where it was
    #[arg(long)]
    abort: bool,
    /// How long its rows stay at the old place after it has moved, seconds
    #[arg(long, default_value_t = 10, value_name = "SECONDS")]
    grace_s: u64,
}

impl MoveTenant {
    /// Moves it, and says each step as it begins. It may be killed at any of them, and given again.
    pub(super) async fn run(self) -> Result<ExitCode> {
        let places = owner_urls()?;
        let order = Move { slug: &self.slug, to: &self.to, places: &places, grace: Duration::from_secs(self.grace_s) };
        // The move goes on if its steps cannot be printed.
        let told = |step: &str| drop(print::line(step));
        let moved =
            if self.abort { moving::abort(&order, &told).await? } else { moving::relocate(&order, &told).await? };
        match moved {
            Moved::Stays => print::line(format!("the tenant {} goes on where it was", self.slug))?,
            Moved::There { rows, refused } => {
                let rows = rows.map(|rows| format!(": {rows} rows, compared one by one")).unwrap_or_default();
                let refused = refused.map(|time| format!("; refused for {} ms", time.as_millis())).unwrap_or_default();
                print::line(format!("the tenant {} lives at {}{rows}{refused}", self.slug, self.to))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
