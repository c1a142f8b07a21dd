//! What is asked for when metrics are read.

use std::sync::Arc;

use opentelemetry::KeyValue;
use opentelemetry::metrics::Meter;

use super::labels::{Model, Pool};
use super::table;

/// The connections of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolConnections {
    /// Which pool.
    pub pool: Pool,
    /// Those that somebody has.
    pub used: u64,
    /// Those that wait for somebody.
    pub idle: u64,
}

/// The jobs of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct JobsOfTask {
    /// The kind.
    pub task: &'static str,
    /// Those that wait, also for their next try.
    pub waiting: u64,
    /// Those that a worker has.
    pub running: u64,
    /// Those that failed for good.
    pub dead: u64,
    /// For how many seconds the oldest could have been begun.
    pub oldest: f64,
}

impl JobsOfTask {
    /// Counts others of the kind with them.
    pub fn add(&mut self, others: &Self) {
        self.waiting += others.waiting;
        self.running += others.running;
        self.dead += others.dead;
        self.oldest = self.oldest.max(others.oldest);
    }
}

/// Who knows the numbers. None of it may wait: metrics are read on whatever thread wants them.
pub trait Gauges: Send + Sync + 'static {
    /// The connections of all pools of this process.
    fn connections(&self) -> Vec<PoolConnections>;

    /// The jobs in the queue, as they were counted last.
    fn jobs(&self) -> Vec<JobsOfTask>;

    /// Months after this one that use has a partition for; `None` where the database does not say.
    fn months_ahead(&self) -> Option<u64>;

    /// For how many seconds the replica has not shown what the primary had; `None` where there is none.
    fn replica_lag(&self) -> Option<f64>;

    /// Whether a model is left alone; `None` where there is none.
    fn is_paused(&self, model: Model) -> Option<bool>;
}

/// Has the gauges asked for whenever metrics are read through this meter.
pub fn observe(meter: &Meter, gauges: Arc<dyn Gauges>, version: &'static str) {
    let count = |metric: &table::Metric| meter.u64_observable_gauge(metric.name).with_description(metric.meaning);
    let of = gauges.clone();
    count(&table::POOL_CONNECTIONS)
        .with_callback(move |observer| {
            for PoolConnections { pool, used, idle } in of.connections() {
                for (state, count) in [("used", used), ("idle", idle)] {
                    observer.observe(count, &[KeyValue::new("pool", pool.as_str()), KeyValue::new("state", state)]);
                }
            }
        })
        .build();
    let of = gauges.clone();
    count(&table::JOBS)
        .with_callback(move |observer| {
            for jobs in of.jobs() {
                let states = [("waiting", jobs.waiting), ("running", jobs.running), ("dead", jobs.dead)];
                for (state, count) in states {
                    observer.observe(count, &[KeyValue::new("task", jobs.task), KeyValue::new("state", state)]);
                }
            }
        })
        .build();
    let of = gauges.clone();
    let oldest = &table::JOBS_OLDEST;
    meter
        .f64_observable_gauge(oldest.name)
        .with_unit(oldest.unit)
        .with_description(oldest.meaning)
        .with_callback(move |observer| {
            for jobs in of.jobs() {
                observer.observe(jobs.oldest, &[KeyValue::new("task", jobs.task)]);
            }
        })
        .build();
    let of = gauges.clone();
    count(&table::USAGE_MONTHS)
        .with_callback(move |observer| {
            if let Some(months) = of.months_ahead() {
                observer.observe(months, &[]);
            }
        })
        .build();
    let of = gauges.clone();
    let lag = &table::REPLICA_LAG;
    meter
        .f64_observable_gauge(lag.name)
        .with_unit(lag.unit)
        .with_description(lag.meaning)
        .with_callback(move |observer| {
            if let Some(seconds) = of.replica_lag() {
                observer.observe(seconds, &[]);
            }
        })
        .build();
    count(&table::MODEL_PAUSED)
        .with_callback(move |observer| {
            for model in [Model::Embeddings, Model::Chat] {
                if let Some(paused) = gauges.is_paused(model) {
                    observer.observe(paused.into(), &[KeyValue::new("model", model.as_str())]);
                }
            }
        })
        .build();
    count(&table::BUILD_INFO)
        .with_callback(move |observer| observer.observe(1, &[KeyValue::new("version", version)]))
        .build();
}
