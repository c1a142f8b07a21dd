//! Reads of one request. They use the replica while it is available and recent enough, otherwise the primary.

use std::time::Duration;

use knowhow_domain::{Error, Result};
use knowhow_telemetry::metrics::{self, ReadFrom, ReadOf};
use tokio::time::{sleep, timeout};

use super::{ACQUIRE, Replica, STATEMENT};
use crate::Database;
use crate::across::replica::{find_position, find_replayed};
use crate::vault::error::says_moved;

/// Number of checks whether the replica has reached the primary's position.
const LOOKS: usize = 6;
/// Pause between two checks of the replica's position.
const PAUSE: Duration = Duration::from_millis(50);

/// Time limit for reading one part of an export from the replica, with all of its statements.
const WHOLE_EXPORT: Duration = Duration::from_secs(10);

/// Source of the reads of one request. After the first read from the primary, all further reads use the primary,
/// because the replica's data may be older.
pub struct ReadSource {
    primary: Database,
    replica: Option<Replica>,
    of: ReadOf,
}

impl ReadSource {
    /// Creates the source for a catalogue. Each answer has a revision, which shows whether the answer is current.
    pub fn of_catalogue(primary: &Database, replica: Option<&Replica>) -> Self {
        let mut reading = Self { primary: primary.clone(), replica: replica.cloned(), of: ReadOf::Catalogue };
        if replica.is_some_and(|replica| !replica.status.is_fit()) {
            reading.leave(ReadFrom::PrimaryAsUnfit);
        }
        reading
    }

    /// Creates the source for an export. No revision shows whether an export is complete. So the replica must reach
    /// the primary's current position within a short wait.
    pub async fn of_export(primary: &Database, replica: Option<&Replica>) -> Self {
        let mut reading = Self { primary: primary.clone(), replica: replica.cloned(), of: ReadOf::Export };
        let Some(replica) = replica else { return reading };
        if !replica.status.is_fit() {
            reading.leave(ReadFrom::PrimaryAsUnfit);
        } else if !matches!(timeout(STATEMENT, has_caught_up(primary, &replica.db)).await, Ok(Ok(true))) {
            reading.leave(ReadFrom::PrimaryAsBehind);
        }
        reading
    }

    /// Runs `work` on the replica and returns its answer if `is_current` accepts it. Otherwise runs `work` on the
    /// primary.
    ///
    /// # Errors
    /// Errors from the primary.
    pub async fn ask<T, Work>(&mut self, work: impl Fn(Database) -> Work, is_current: impl Fn(&T) -> bool) -> Result<T>
    where
        Work: Future<Output = Result<T>>,
    {
        if let Some(replica) = &self.replica {
            match timeout(self.patience(), work(replica.db.clone())).await {
                Ok(Ok(found)) if is_current(&found) => {
                    metrics::read_from(self.of, ReadFrom::Replica);
                    return Ok(found);
                }
                Ok(Ok(_)) => self.leave(ReadFrom::PrimaryAsBehind),
                Ok(Err(error)) => {
                    // Errors caused by the caller do not make the replica unusable.
                    if matches!(error, Error::Unavailable(_)) && !says_moved(&error) {
                        replica.status.give_up(error);
                    }
                    self.leave(ReadFrom::PrimaryAsUnfit);
                }
                Err(_) => {
                    replica.status.give_up("it did not answer in time");
                    self.leave(ReadFrom::PrimaryAsUnfit);
                }
            }
        }
        work(self.primary.clone()).await
    }

    /// Returns the time limit for a read from the replica. It is short for a catalogue, because a turn waits for it. An
    /// export has many statements.
    fn patience(&self) -> Duration {
        match self.of {
            ReadOf::Catalogue => ACQUIRE + STATEMENT,
            ReadOf::Export => WHOLE_EXPORT,
        }
    }

    fn leave(&mut self, from: ReadFrom) {
        metrics::read_from(self.of, from);
        self.replica = None;
    }
}

/// Returns whether the replica reaches the primary's current position within a short wait.
async fn has_caught_up(primary: &Database, replica: &Database) -> Result<bool> {
    let position = find_position(primary).await?;
    for look in 0..LOOKS {
        if look > 0 {
            sleep(PAUSE).await;
        }
        if find_replayed(replica).await?.is_some_and(|replayed| replayed >= position) {
            return Ok(true);
        }
    }
    Ok(false)
}
