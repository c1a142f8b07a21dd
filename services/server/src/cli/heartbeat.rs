//! The heartbeat of a process: a row in the database. It is updated while the process runs, and removed when the
//! process ends.

use std::time::Duration;

use futures_util::future::join_all;
use knowhow_domain::{Error, ProcessId};
use knowhow_store::Database;
use knowhow_store::across::processes::{self, NewProcess};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Interval between two updates. A process that missed three updates counts as ended.
const EVERY: Duration = Duration::from_secs(20);

/// Maximum time to wait for the removal of the row. If it fails, other processes remove the row within a minute.
const GOODBYE: Duration = Duration::from_secs(2);

/// The heartbeat of this process in all databases.
pub(super) struct Heartbeat {
    process: NewProcess,
    beating: Vec<(Database, JoinHandle<()>)>,
}

impl Heartbeat {
    /// Starts to update the rows in the background.
    pub(super) fn start(db: &Database, process: NewProcess) -> Self {
        let beating = db.each().map(|at| (at.clone(), tokio::spawn(beat(at, process.clone())))).collect();
        Self { process, beating }
    }

    /// Stops the updates and removes the rows, if the databases respond soon.
    pub(super) async fn stop(self) {
        let id = self.process.id;
        join_all(self.beating.into_iter().map(|(at, beating)| leave(at, id, beating))).await;
    }
}

async fn leave(at: Database, process: ProcessId, beating: JoinHandle<()>) {
    beating.abort();
    // The removal must come last; a pending update would insert the row again.
    let _ = beating.await;
    match timeout(GOODBYE, processes::remove(&at, process)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "the process stays in the list for a minute"),
        Err(_) => tracing::debug!("the process stays in the list for a minute: the database does not respond"),
    }
}

/// Updates the row forever. While the database cannot be reached, only the first failure is logged as a warning.
async fn beat(db: Database, process: NewProcess) {
    let mut failing = false;
    loop {
        let noted = processes::note(&db, &process).await;
        if let Err(error) = &noted {
            tell(error, failing);
        }
        failing = noted.is_err();
        tokio::time::sleep(EVERY).await;
    }
}

fn tell(error: &Error, again: bool) {
    if again {
        tracing::debug!(%error, "this process is still not in the list of processes");
    } else {
        tracing::warn!(%error, "this process cannot be added to the list of processes; retrying");
    }
}
