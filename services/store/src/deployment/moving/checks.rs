//! Checks that the two places are compatible, and that every process knows both. Some checks are repeated during the
//! move, because new processes may start.

use std::time::{Duration, Instant};

use knowhow_domain::Result;
use tokio::time::sleep;

use super::Moving;
use super::side::cannot;
use crate::vault::place::HOME_NAME;
use crate::vault::pools::PROGRAM;

/// Time limit for a new process to appear at both places.
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

    /// Rejects the move if a connected process does not know the new place, because that process would not find the
    /// tenant there. A process that knows only one place would not even check whether the tenant is still there.
    pub(super) async fn require_aware(&mut self) -> Result<()> {
        let unaware = format!(
            "-- moving.count_unaware
             select count(*) from pg_stat_activity
             where datname = current_database() and (
                 application_name = '{PROGRAM}'
                 -- A process with any place knows home. Postgres truncates the name after 63 bytes, so the place may be cut off.
                 or '{to}' <> '{HOME_NAME}' and application_name like '{PROGRAM} %' and length(application_name) < 63
                    and position(' {to} ' in application_name || ' ') = 0)",
            to = self.to.name
        );
        if self.from.value::<i64>(&unaware).await? > 0 {
            return Err(cannot(format!(
                "processes are connected to place '{}' that do not know place '{}': set KNOWHOW_PLACES for each and restart it",
                self.from.name, self.to.name
            )));
        }
        Ok(())
    }

    /// Rejects the move if a registered process has no row at the new place. Every process has a row at each place
    /// that it knows. So this also finds processes that have no connection now or connect through a pooler.
    pub(super) async fn require_listed(&mut self) -> Result<()> {
        let began = Instant::now();
        loop {
            let unlisted = self.count_unlisted().await?;
            if unlisted == 0 {
                return Ok(());
            }
            if began.elapsed() > LISTED_WITHIN {
                return Err(cannot(format!(
                    "{unlisted} of the processes registered at place '{}' are not registered at place '{}': they do not know it (set \
                     KNOWHOW_PLACES for each and restart it) or cannot reach it; a killed process is counted for 30 seconds",
                    self.from.name, self.to.name
                )));
            }
            sleep(Duration::from_secs(1)).await;
        }
    }

    async fn count_unlisted(&mut self) -> Result<usize> {
        // Processes send a heartbeat every 20 s. The rows of a killed process are deleted after a minute, at each
        // place at another moment. This limit is shorter, so such a process does not count.
        let running = "-- moving.list_running
                       select process_id::text from processes where seen_at >= now() - interval '30 seconds'";
        let here = self.from.names(running).await?;
        let there = self.to.names("-- moving.list_listed\nselect process_id::text from processes").await?;
        Ok(here.iter().filter(|id| !there.contains(id)).count())
    }
}
