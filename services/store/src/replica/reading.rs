//! One piece of work that is read from the replica as long as that answers and is far enough, and else from the primary.

use std::time::Duration;

use knowhow_domain::{Error, Result};
use knowhow_telemetry::metrics::{self, ReadFrom, ReadOf};
use tokio::time::{sleep, timeout};

use super::{ACQUIRE, Replica, STATEMENT};
use crate::Database;
use crate::across::replica::{find_position, find_replayed};
use crate::error::says_moved;

/// How often an export looks whether the replica has come to where the primary was, and the pause in between.
const LOOKS: usize = 6;
const PAUSE: Duration = Duration::from_millis(50);

/// Longest time for a part of an export from the replica, be its statements ever so many.
const WHOLE_EXPORT: Duration = Duration::from_secs(10);

/// Where the work is read. Once something came from the primary, all that follows does: what the replica says could be older.
pub struct Reading {
    primary: Database,
    replica: Option<Replica>,
    of: ReadOf,
}

impl Reading {
    /// A catalogue, where each answer says at which revision it is.
    pub fn of_catalogue(primary: &Database, replica: Option<&Replica>) -> Self {
        let mut reading = Self { primary: primary.clone(), replica: replica.cloned(), of: ReadOf::Catalogue };
        if replica.is_some_and(|replica| !replica.standing.is_fit()) {
            reading.leave(ReadFrom::PrimaryAsUnfit);
        }
        reading
    }

    /// An export. No single revision tells how far all of it is, so the replica must have come to where the primary is now; a
    /// moment is waited for that.
    pub async fn of_export(primary: &Database, replica: Option<&Replica>) -> Self {
        let mut reading = Self { primary: primary.clone(), replica: replica.cloned(), of: ReadOf::Export };
        let Some(replica) = replica else { return reading };
        if !replica.standing.is_fit() {
            reading.leave(ReadFrom::PrimaryAsUnfit);
        } else if !matches!(timeout(STATEMENT, has_come_by(primary, &replica.db)).await, Ok(Ok(true))) {
            reading.leave(ReadFrom::PrimaryAsBehind);
        }
        reading
    }

    /// The answer of the replica where `is_current` says so, else that of the primary.
    ///
    /// # Errors
    /// Those of the primary.
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
                    // What is wrong with the one who asks says nothing of the replica.
                    if matches!(error, Error::Unavailable(_)) && !says_moved(&error) {
                        replica.standing.give_up(error);
                    }
                    self.leave(ReadFrom::PrimaryAsUnfit);
                }
                Err(_) => {
                    replica.standing.give_up("it has not answered in time");
                    self.leave(ReadFrom::PrimaryAsUnfit);
                }
            }
        }
        work(self.primary.clone()).await
    }

    /// A catalogue is awaited by a turn. An export has many statements, each of which has its own end.
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

/// Whether the replica comes, within a moment, to where the primary is now.
async fn has_come_by(primary: &Database, replica: &Database) -> Result<bool> {
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
