//! The queue of jobs: how they get in, who works on them, and what admins see of them. The tables are those of the
//! library graphile_worker; its statements run like all others, in transactions that take a role.

mod driver;
mod install;
mod share;
mod task;
mod worker;

pub use crate::across::desk::{count_dead, discard, list, retry};
pub use crate::across::queues::list_queues;
pub(crate) use install::install;
pub use task::{Claimed, JobError, JobKind, Task};
pub use worker::{CONNECTIONS, WorkerConfig, work};

/// Tries of a job before it is dead. The waits between them grow from 3 s to 2 h and add up to 3.5 h, so that a model
/// that is down for an evening costs no job.
pub const MAX_ATTEMPTS: i16 = 10;
