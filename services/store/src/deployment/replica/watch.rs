//! Checks the replica periodically in the background. Requests use the replica only if the last check passed, so they
//! never wait for an unreachable replica.

use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::{Error, Result};

use super::Replica;
use crate::Database;
use crate::across::replica::{find_position, find_replayed};
use crate::deployment::boot;
use crate::deployment::replica::status::{MOST_BEHIND, ReplicaStatus};

/// Interval of the checks.
const EVERY: Duration = Duration::from_secs(5);

/// The periodic check of a replica.
pub struct ReplicaWatch {
    primary: Database,
    replica: Database,
    status: Arc<ReplicaStatus>,
    /// Whether the roles and policies of the replica passed their check.
    is_inspected: bool,
}

impl ReplicaWatch {
    /// Creates a watch of this replica of `primary`.
    pub fn over(replica: &Replica, primary: &Database) -> Self {
        let status = replica.status.clone();
        Self { primary: primary.clone(), replica: replica.db.clone(), status, is_inspected: false }
    }

    /// Runs the checks forever.
    pub async fn run(mut self) {
        loop {
            match self.look().await {
                Ok(()) => self.status.admit(),
                Err(reason) => self.status.give_up(reason),
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    /// Checks the replica. The error is the reason why the replica cannot be used.
    async fn look(&mut self) -> Result<()> {
        if !self.is_inspected {
            if let Some(finding) = inspect_isolation(&self.replica).await?.into_iter().next() {
                return Err(Error::Unavailable(finding));
            }
            self.is_inspected = true;
        }
        let replayed = find_replayed(&self.replica).await?.ok_or_else(|| Error::Unavailable(NO_REPLICA.into()))?;
        // If the primary does not answer, there is no position to compare; requests need the primary anyway. The
        // primary is queried last, so a true replica is never ahead of it.
        if let Ok(position) = find_position(&self.primary).await {
            if replayed > position {
                return Err(Error::Unavailable(AHEAD.into()));
            }
            self.status.note_primary(position);
        }
        self.status.note_replayed(replayed);
        match self.status.lag() {
            lag if lag > MOST_BEHIND => Err(Error::Unavailable(format!("it is {} s behind", lag.as_secs()))),
            _ => Ok(()),
        }
    }
}

const NO_REPLICA: &str = "the server of KNOWHOW_REPLICA_URL is not a replica: it accepts writes";

const AHEAD: &str = "it is ahead of the primary, so it replicates another server, perhaps a former primary";

/// Returns all problems of the replica, each as a sentence.
///
/// # Errors
/// `Unavailable` if it is unreachable.
pub async fn inspect(replica: &Replica) -> Result<Vec<String>> {
    let mut findings = inspect_isolation(&replica.db).await?;
    if findings.is_empty() && find_replayed(&replica.db).await?.is_none() {
        findings.push(NO_REPLICA.into());
    }
    Ok(findings)
}

/// Checks roles and policies. Policies are replicated from the primary, but the login role may differ.
async fn inspect_isolation(replica: &Database) -> Result<Vec<String>> {
    let findings = boot::inspect(replica).await?;
    Ok(findings.into_iter().map(|finding| format!("the replica of KNOWHOW_REPLICA_URL: {finding}")).collect())
}
