//! A replica that catalogues and exports are read from, beside the primary, which is asked how far the replica must be. Where the
//! replica is away, slow or behind, the primary is read: nobody is refused for want of it.

mod lag;
mod reading;
mod standing;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::{Result, Secret};

pub use reading::Reading;
pub use standing::Standing;
pub use watch::{Watch, inspect};

use crate::{Database, DatabaseConfig, Often};

/// Longest wait for a connection to it, and for an answer: who waited goes to the primary then.
const ACQUIRE: Duration = Duration::from_millis(200);
const STATEMENT: Duration = Duration::from_millis(500);

/// Connections to it for catalogues, and as many for exports, of each thread.
const CONNECTIONS: u32 = 2;

/// The pools of one thread on the replica, and what the process knows of it.
#[derive(Clone)]
pub struct Replica {
    db: Database,
    config: Arc<DatabaseConfig>,
    standing: Arc<Standing>,
}

impl Replica {
    /// Prepares pools at `url`; connects nothing yet, and is not asked before a [`Watch`] has found it fit.
    ///
    /// # Errors
    /// `Malformed` where the URL is not one.
    pub fn open(url: Secret, primary: &DatabaseConfig) -> Result<Self> {
        let config = DatabaseConfig {
            url,
            write_connections: CONNECTIONS,
            read_connections: CONNECTIONS as usize,
            prepares_ahead: Often::default(),
            acquire_timeout: ACQUIRE,
            queue_wait: ACQUIRE,
            statement_timeout: STATEMENT,
            ..primary.clone()
        };
        Ok(Self { db: Database::open(&config)?, config: Arc::new(config), standing: Arc::default() })
    }

    /// The same replica by pools of another thread's own.
    ///
    /// # Errors
    /// None that [`Replica::open`] did not have.
    pub fn for_this_thread(&self) -> Result<Self> {
        Ok(Self { db: Database::open(&self.config)?, ..self.clone() })
    }

    /// What this process knows of it.
    pub fn standing(&self) -> &Arc<Standing> {
        &self.standing
    }

    /// Closes every connection to it.
    pub async fn close(&self) {
        self.db.close().await;
    }
}
