//! First floor: the vault. Who calls, transactions under row-level security, and every SQL statement of Knowhow.

pub mod audit;
pub mod conversations;
pub mod credential;
mod database;
mod door;
pub mod due;
pub mod embeddings;
mod error;
mod gate;
pub mod idempotency;
pub mod issuers;
pub mod keys;
pub mod memories;
mod migrate;
mod principal;
pub mod queue;
pub mod sessions;
pub mod skills;
pub mod snapshots;
pub mod souls;
pub mod starters;
mod system;
pub mod tenants;
mod tls;
mod turns;
mod tx;
pub mod usage;
pub mod users;
pub mod versions;
pub mod walls;

pub use database::{Database, DatabaseConfig};
pub use gate::{GateConfig, GateState};
pub use migrate::migrate;
pub use principal::{Gate, OperatorIssuer, Principal, SigningIssuer, check_external_id};
pub use system::{Pruned, enqueue_stale_embeddings, prune};
pub use tx::TenantTx;
