//! A replica for reading catalogues and exports. The primary reports the position that the replica must have reached.
//! If the replica is unreachable, slow or too far behind, reads go to the primary, so no request fails because of the
//! replica.

mod lag;
mod reading;
mod status;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::{Result, Secret};

pub use reading::ReadSource;
pub use status::ReplicaStatus;
pub use watch::{ReplicaWatch, inspect};

use crate::{Database, DatabaseConfig, FrequentStatements, UserConcurrency};

/// Maximum wait for a connection to the replica. After that, the request uses the primary.
const ACQUIRE: Duration = Duration::from_millis(200);
/// Time limit for a statement on the replica. After that, the request uses the primary.
const STATEMENT: Duration = Duration::from_millis(500);

/// Number of connections per thread for catalogues, and the same number for exports.
const CONNECTIONS: u32 = 2;

/// The pools of one thread for the replica, and the state of the replica as known to the process.
#[derive(Clone)]
pub struct Replica {
    db: Database,
    config: Arc<DatabaseConfig>,
    status: Arc<ReplicaStatus>,
}

impl Replica {
    /// Creates pools for `url` without connecting. They are not used until a [`ReplicaWatch`] has found the replica
    /// suitable. The limits per user are shared with the primary.
    ///
    /// # Errors
    /// `Malformed` if the URL is invalid.
    pub fn open(url: Secret, primary: &DatabaseConfig, user_concurrency: &Arc<UserConcurrency>) -> Result<Self> {
        let config = DatabaseConfig {
            url,
            write_connections: CONNECTIONS,
            read_connections: CONNECTIONS as usize,
            prepares_ahead: FrequentStatements::default(),
            acquire_timeout: ACQUIRE,
            queue_wait: ACQUIRE,
            statement_timeout: STATEMENT,
            ..primary.clone()
        };
        let db = Database::open_sharing(&config, user_concurrency)?;
        Ok(Self { db, config: Arc::new(config), status: Arc::default() })
    }

    /// Creates the pools of another thread for the same replica.
    ///
    /// # Errors
    /// As [`Replica::open`].
    pub fn for_this_thread(&self) -> Result<Self> {
        let db = Database::open_sharing(&self.config, self.db.user_concurrency())?;
        Ok(Self { db, ..self.clone() })
    }

    /// Returns the state of the replica as known to this process.
    pub fn status(&self) -> &Arc<ReplicaStatus> {
        &self.status
    }

    /// Closes all connections.
    pub async fn close(&self) {
        self.db.close().await;
    }
}
