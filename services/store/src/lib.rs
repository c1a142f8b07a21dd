//! The store: authentication, transactions under row-level security, and every SQL statement of Knowhow.

pub mod across;
pub mod deployment;
pub mod graph;
pub mod jobs;
pub mod learning;
pub mod review;
pub mod sessions;
pub mod skills;
pub mod tenants;
pub mod vault;

pub use across::backlog::count_backlog;
pub use across::prune::{Pruned, prune, prune_snapshots};
pub use across::stale::{StaleVectors, enqueue_stale};
pub use deployment::migrate::migrate;
pub use deployment::replica::Replica;
pub use deployment::restored::{Restored, note_restored};
pub use vault::connect::{Cause, Unreachable, explain};
pub use vault::credential::OperatorIssuer;
pub use vault::database::{Database, DatabaseConfig, NOTICES};
pub use vault::database_url::DatabaseUrl;
pub use vault::declared::{DeclaredStatement, OFTEN_RUN, list_declared};
pub use vault::error::join_messages;
pub use vault::external_id::check_external_id;
pub use vault::gate::{GateConfig, GateState};
pub use vault::keyed_semaphores::KeyedSemaphores;
pub use vault::login::Login;
pub use vault::place::{HOME, HOME_NAME, PlaceConfig, PlaceId};
pub use vault::pool_metrics::connections;
pub use vault::principal::{Bearer, ConsoleSecret, ConsoleSession, Gate, Principal};
pub use vault::tx::TenantTx;
pub use vault::user_concurrency::UserConcurrency;
pub use vault::warm_up::FrequentStatements;
pub use vault::window::Window;
pub use vault::write_tx::WriteTx;
