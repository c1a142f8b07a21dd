//! The pools of this process, for the metrics: each thread has its own.

use std::sync::{Mutex, PoisonError};

use knowhow_telemetry::metrics::{self, Pool, PoolConnections};

use crate::connect::{CheckedPool, PipelinedPool};
use crate::vault::pools::Pools;

/// Those that were opened since metrics are on, but for the ones that were closed.
static POOLS: Mutex<Vec<Observed>> = Mutex::new(Vec::new());

enum Observed {
    Pipelined(Pool, PipelinedPool),
    Checked(Pool, CheckedPool),
}

/// Notes the pools of a thread.
pub(super) fn note(at: &Pools) {
    if metrics::is_on() {
        add([
            Observed::Pipelined(Pool::Reads, at.reads.pool.clone()),
            Observed::Pipelined(Pool::Changes, at.changes.pool.clone()),
            Observed::Checked(Pool::Rare, at.writes.clone()),
            Observed::Checked(Pool::Lookups, at.lookups.clone()),
            Observed::Pipelined(Pool::Lookups, at.quick_lookups.pool.clone()),
        ]);
    }
}

/// Notes the pool of the queue.
pub(crate) fn note_queue(pool: &CheckedPool) {
    if metrics::is_on() {
        add([Observed::Checked(Pool::Rare, pool.clone())]);
    }
}

fn add<const N: usize>(pools: [Observed; N]) {
    POOLS.lock().unwrap_or_else(PoisonError::into_inner).extend(pools);
}

/// The connections of all pools of this process.
pub fn connections() -> Vec<PoolConnections> {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    pools.retain(|pool| !pool.is_closed());
    let of = |pool| {
        let counts = pools.iter().filter(|observed| observed.pool() == pool).map(Observed::count);
        counts.fold(PoolConnections { pool, used: 0, idle: 0 }, |sum, (used, idle)| PoolConnections {
            used: sum.used + used,
            idle: sum.idle + idle,
            ..sum
        })
    };
    Pool::ALL.map(of).to_vec()
}

impl Observed {
    fn pool(&self) -> Pool {
        match self {
            Self::Pipelined(pool, _) | Self::Checked(pool, _) => *pool,
        }
    }

    fn is_closed(&self) -> bool {
        match self {
            Self::Pipelined(_, pool) => pool.is_closed(),
            Self::Checked(_, pool) => pool.is_closed(),
        }
    }

    /// Those that somebody has, and those that wait.
    fn count(&self) -> (u64, u64) {
        let status = match self {
            Self::Pipelined(_, pool) => pool.status(),
            Self::Checked(_, pool) => pool.status(),
        };
        (status.size.saturating_sub(status.available) as u64, status.available as u64)
    }
}
