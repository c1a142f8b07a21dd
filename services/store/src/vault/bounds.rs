//! Maximum number of connections in the pools of one thread.

use super::database::DatabaseConfig;
use super::pools::{LOOKUP_CONNECTIONS, RARE_CONNECTIONS};

impl DatabaseConfig {
    /// Returns this configuration with one connection per pool, for a thread that only runs health checks.
    pub fn one_at_a_time(self) -> Self {
        Self { write_connections: 1, read_connections: 1, ..self }
    }

    /// Returns the maximum number of connections that [`crate::Database::open`] may open to each database.
    pub fn most_connections(&self) -> u32 {
        let reads = u32::try_from(self.read_connections).unwrap_or(u32::MAX);
        let rare = self.write_connections.min(RARE_CONNECTIONS);
        [self.write_connections, rare, LOOKUP_CONNECTIONS].into_iter().fold(reads, u32::saturating_add)
    }
}
