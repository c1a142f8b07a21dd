//! The job queue: enqueuing, workers, and administration. The tables belong to the library graphile_worker. Its
//! statements run in transactions that set a role, like all other statements.

mod driver;
mod install;
mod share;
mod task;
mod worker;

pub use crate::across::job_admin::{count_dead, discard, list, retry};
pub use crate::across::queues::list_queues;
pub(crate) use install::install;
pub use task::{Claimed, JobError, JobKind, Task};
pub use worker::{CONNECTIONS, WorkerConfig, work};

/// Maximum number of attempts at a job. The delays between attempts grow from 3 s to 2 h and add up to 3.5 h. So if a
/// model is unavailable for an evening, no job is lost.
pub const MAX_ATTEMPTS: i16 = 10;
