//! How many connections a thread's pools may open together.

use super::database::DatabaseConfig;
use super::pools::{LOOKUP_CONNECTIONS, RARE_CONNECTIONS};

impl DatabaseConfig {
    /// The same for a thread that serves no requests and does no jobs: it asks how the database is, one question at a time.
    pub fn one_at_a_time(self) -> Self {
        Self { write_connections: 1, read_connections: 1, ..self }
    }

    /// Connections that [`crate::Database::open`] may open with these settings at each place.
    pub fn most_connections(&self) -> u32 {
        let reads = u32::try_from(self.read_connections).unwrap_or(u32::MAX);
        let rare = self.write_connections.min(RARE_CONNECTIONS);
        [self.write_connections, rare, LOOKUP_CONNECTIONS].into_iter().fold(reads, u32::saturating_add)
    }
}
