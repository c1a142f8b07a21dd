//! The pools of this process, for metrics. Each thread has its own pools.

use std::sync::{Mutex, PoisonError};

use knowhow_telemetry::metrics::{self, Pool, PoolConnections};

use crate::vault::connect::{CheckedPool, PipelinedPool};

/// Open pools, if metrics are enabled.
static POOLS: Mutex<Vec<ObservedPool>> = Mutex::new(Vec::new());

/// A pool with its label.
pub(super) enum ObservedPool {
    Pipelined(Pool, PipelinedPool),
    Checked(Pool, CheckedPool),
}

/// Registers the pools of a thread.
pub(super) fn note<const N: usize>(pools: [ObservedPool; N]) {
    if metrics::is_on() {
        POOLS.lock().unwrap_or_else(PoisonError::into_inner).extend(pools);
    }
}

/// Registers the pool of the queue.
pub(crate) fn note_queue(pool: &CheckedPool) {
    note([ObservedPool::Checked(Pool::Rare, pool.clone())]);
}

/// Returns the connections of all pools of this process.
pub fn connections() -> Vec<PoolConnections> {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    pools.retain(|pool| !pool.is_closed());
    let of = |pool| {
        let counts = pools.iter().filter(|observed| observed.pool() == pool).map(ObservedPool::count);
        counts.fold(PoolConnections { pool, used: 0, idle: 0 }, |sum, (used, idle)| PoolConnections {
            used: sum.used + used,
            idle: sum.idle + idle,
            ..sum
        })
    };
    Pool::ALL.map(of).to_vec()
}

impl ObservedPool {
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

    /// Returns the number of used and of idle connections.
    fn count(&self) -> (u64, u64) {
        let status = match self {
            Self::Pipelined(_, pool) => pool.status(),
            Self::Checked(_, pool) => pool.status(),
        };
        (status.size.saturating_sub(status.available) as u64, status.available as u64)
    }
}
