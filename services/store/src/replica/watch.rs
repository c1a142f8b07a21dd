//! Looks at the replica again and again, beside the requests: they ask it only where the last look found it fit, so none of them waits
//! to find out that it is away.

use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::{Error, Result};

use super::Replica;
use super::standing::{MOST_BEHIND, Standing};
use crate::across::replica::{find_position, find_replayed};
use crate::{Database, boot};

/// Between two looks.
const EVERY: Duration = Duration::from_secs(5);

/// Somebody who looks at the replica.
pub struct Watch {
    primary: Database,
    replica: Database,
    standing: Arc<Standing>,
    /// Whether its walls were seen to stand.
    is_inspected: bool,
}

impl Watch {
    /// Will look at this replica of that primary.
    pub fn over(replica: &Replica, primary: &Database) -> Self {
        let standing = replica.standing.clone();
        Self { primary: primary.clone(), replica: replica.db.clone(), standing, is_inspected: false }
    }

    /// Looks without end.
    pub async fn run(mut self) {
        loop {
            match self.look().await {
                Ok(()) => self.standing.admit(),
                Err(reason) => self.standing.give_up(reason),
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    /// Why it may not be asked, where it may not.
    async fn look(&mut self) -> Result<()> {
        if !self.is_inspected {
            if let Some(finding) = inspect_walls(&self.replica).await?.into_iter().next() {
                return Err(Error::Unavailable(finding));
            }
            self.is_inspected = true;
        }
        let replayed = find_replayed(&self.replica).await?.ok_or_else(|| Error::Unavailable(NO_REPLICA.into()))?;
        // Where the primary does not answer, there is nothing to compare with; who asks needs the primary anyway. It is asked last, so
        // that a replica of this primary cannot be ahead of it.
        if let Ok(position) = find_position(&self.primary).await {
            if replayed > position {
                return Err(Error::Unavailable(AHEAD.into()));
            }
            self.standing.note_primary(position);
        }
        self.standing.note_replayed(replayed);
        match self.standing.lag() {
            lag if lag > MOST_BEHIND => Err(Error::Unavailable(format!("it is {} s behind", lag.as_secs()))),
            _ => Ok(()),
        }
    }
}

const NO_REPLICA: &str = "the server of KNOWHOW_REPLICA_URL is no replica: it takes writes of its own";

const AHEAD: &str = "it is ahead of the primary, so it follows another server: one that was the primary before";

/// Everything that is wrong with the replica, each in a sentence.
///
/// # Errors
/// `Unavailable` where it is out of reach.
pub async fn inspect(replica: &Replica) -> Result<Vec<String>> {
    let mut findings = inspect_walls(&replica.db).await?;
    if findings.is_empty() && find_replayed(&replica.db).await?.is_none() {
        findings.push(NO_REPLICA.into());
    }
    Ok(findings)
}

/// The walls are those of the primary, but its login may be another one.
async fn inspect_walls(replica: &Database) -> Result<Vec<String>> {
    let findings = boot::inspect(replica).await?;
    Ok(findings.into_iter().map(|finding| format!("the replica of KNOWHOW_REPLICA_URL: {finding}")).collect())
}
