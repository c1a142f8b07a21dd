//! Checks that the two places fit, and that every process knows both. Some are made again while the tenant moves, as processes begin
//! meanwhile.

use std::time::{Duration, Instant};

use knowhow_domain::Result;
use tokio::time::sleep;

use super::Moving;
use super::side::cannot;
use crate::vault::place::HOME_NAME;
use crate::vault::pools::PROGRAM;

/// How long a process that has just begun may take until both places list it.
const LISTED_WITHIN: Duration = Duration::from_secs(5);

impl Moving {
    pub(super) async fn require_fit(&mut self) -> Result<()> {
        if self.from.value::<String>("show wal_level").await? != "logical" {
            let name = &self.from.name;
            return Err(cannot(format!("set wal_level = logical in the server of place '{name}', and restart it")));
        }
        let applied = "-- moving.list_applied
                       select coalesce(string_agg(version || ':' || encode(checksum, 'hex'), ',' order by version), '')
                       from _sqlx_migrations where success";
        if self.from.value::<String>(applied).await? != self.to.value::<String>(applied).await? {
            return Err(cannot("the places have different migrations: run knowhow migrate for both".into()));
        }
        Ok(())
    }

    /// A process that does not know the new place does not find the tenant there; one that knows of no other place does not even ask
    /// whether it is here still.
    pub(super) async fn require_aware(&mut self) -> Result<()> {
        let unaware = format!(
            "-- moving.count_unaware
             select count(*) from pg_stat_activity
             where datname = current_database() and (
                 application_name = '{PROGRAM}'
                 -- Whoever knows any place knows home. Postgres keeps 63 bytes of a name: the rest may be behind them.
                 or '{to}' <> '{HOME_NAME}' and application_name like '{PROGRAM} %' and length(application_name) < 63
                    and position(' {to} ' in application_name || ' ') = 0)",
            to = self.to.name
        );
        if self.from.value::<i64>(&unaware).await? > 0 {
            return Err(cannot(format!(
                "processes are connected to place '{}' that do not know of place '{}': set KNOWHOW_PLACES for each, and restart it",
                self.from.name, self.to.name
            )));
        }
        Ok(())
    }

    /// The same of processes that have no connection at this moment, or that a pooler stands before: each keeps a row at every place
    /// that it knows.
    pub(super) async fn require_listed(&mut self) -> Result<()> {
        let began = Instant::now();
        loop {
            let unlisted = self.count_unlisted().await?;
            if unlisted == 0 {
                return Ok(());
            }
            if began.elapsed() > LISTED_WITHIN {
                return Err(cannot(format!(
                    "{unlisted} of the processes that place '{}' lists have no row at place '{}': they do not know of it (set \
                     KNOWHOW_PLACES for each, and restart it), or cannot reach it; one that was killed is counted for 30 seconds",
                    self.from.name, self.to.name
                )));
            }
            sleep(Duration::from_secs(1)).await;
        }
    }

    async fn count_unlisted(&mut self) -> Result<usize> {
        // A process says every 20 s that it is there. The row of one that was killed leaves either place after a minute, and not
        // at the same moment: by then it no longer counts.
        let running = "-- moving.list_running
                       select process_id::text from processes where seen_at >= now() - interval '30 seconds'";
        let here = self.from.names(running).await?;
        let there = self.to.names("-- moving.list_listed\nselect process_id::text from processes").await?;
        Ok(here.iter().filter(|id| !there.contains(id)).count())
    }
}
