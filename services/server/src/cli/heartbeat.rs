//! The heartbeat of a process: it keeps its row while it runs, and takes it away when it ends.

use std::time::Duration;

use futures_util::future::join_all;
use knowhow_domain::{Error, ProcessId};
use knowhow_store::Database;
use knowhow_store::processes::{self, NewProcess};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Between two beats. A process that has not been seen for three of them is taken for gone.
const EVERY: Duration = Duration::from_secs(20);

/// Longest wait for the row to be taken away: where it is not, others take it away within a minute.
const GOODBYE: Duration = Duration::from_secs(2);

/// The heartbeat of this process, at each place: every one of them has a row of it.
pub(super) struct Heartbeat {
    process: NewProcess,
    beating: Vec<(Database, JoinHandle<()>)>,
}

impl Heartbeat {
    /// Begins to beat, beside whatever else the thread does: nothing waits for it.
    pub(super) fn start(db: &Database, process: NewProcess) -> Self {
        let beating = db.each().map(|at| (at.clone(), tokio::spawn(beat(at, process.clone())))).collect();
        Self { process, beating }
    }

    /// Ends it, and takes the row away where the database answers soon.
    pub(super) async fn stop(self) {
        let id = self.process.id;
        join_all(self.beating.into_iter().map(|(at, beating)| leave(at, id, beating))).await;
    }
}

async fn leave(at: Database, process: ProcessId, beating: JoinHandle<()>) {
    beating.abort();
    // A beat that is being sent must not come behind the removal.
    let _ = beating.await;
    match timeout(GOODBYE, processes::remove(&at, process)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "the process stays in the list for a minute"),
        Err(_) => tracing::debug!("the process stays in the list for a minute: the database does not answer"),
    }
}

/// Beats without end. A database that is away is told once, until it is back.
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
        tracing::warn!(%error, "this process is not in the list of processes; it tries again");
    }
}
