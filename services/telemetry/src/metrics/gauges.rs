//! Gauges. The values of these metrics are read at each export.

use std::sync::Arc;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{AsyncInstrumentBuilder, Meter, ObservableGauge};

use super::labels::{Model, Pool};
use super::table;

/// Numbers of connections in a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolConnections {
    /// Pool that the numbers belong to.
    pub pool: Pool,
    /// Number of connections in use.
    pub used: u64,
    /// Number of idle connections.
    pub idle: u64,
}

/// Numbers of jobs of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct JobsOfTask {
    /// Kind of the jobs.
    pub task: &'static str,
    /// Number of waiting jobs, including those that wait for a retry.
    pub waiting: u64,
    /// Number of running jobs.
    pub running: u64,
    /// Number of jobs that failed permanently.
    pub dead: u64,
    /// Delay of the most overdue job, in seconds.
    pub oldest: f64,
}

impl JobsOfTask {
    /// Adds the counts of the same kind from another database. `oldest` becomes the maximum of both.
    pub fn add(&mut self, others: &Self) {
        self.waiting += others.waiting;
        self.running += others.running;
        self.dead += others.dead;
        self.oldest = self.oldest.max(others.oldest);
    }
}

/// Source of the gauges' values. Its functions must not block, because the metrics reader calls them on any thread.
pub trait Gauges: Send + Sync + 'static {
    /// Returns the connections of all pools of this process.
    fn connections(&self) -> Vec<PoolConnections>;

    /// Returns the numbers of jobs in the queue, as last counted.
    fn jobs(&self) -> Vec<JobsOfTask>;

    /// Returns the number of future months that have a partition for usage; `None` if it is unknown.
    fn months_ahead(&self) -> Option<u64>;

    /// Returns the lag of the replica in seconds; `None` if there is no replica.
    fn replica_lag(&self) -> Option<f64>;

    /// Returns whether requests to a model are paused after failures; `None` if the model is not configured.
    fn is_paused(&self, model: Model) -> Option<bool>;
}

/// Registers all gauges with a meter.
pub fn observe(meter: &Meter, gauges: Arc<dyn Gauges>, version: &'static str) {
    observe_connections(meter, gauges.clone());
    observe_jobs(meter, &gauges);
    observe_database(meter, &gauges);
    count(meter, &table::MODEL_PAUSED)
        .with_callback(move |observer| {
            for model in [Model::Embeddings, Model::Chat] {
                if let Some(paused) = gauges.is_paused(model) {
                    observer.observe(paused.into(), &[KeyValue::new("model", model.as_str())]);
                }
            }
        })
        .build();
    count(meter, &table::BUILD_INFO)
        .with_callback(move |observer| observer.observe(1, &[KeyValue::new("version", version)]))
        .build();
}

/// Returns a builder for a gauge with whole numbers and no unit.
fn count<'a>(meter: &'a Meter, metric: &table::Metric) -> AsyncInstrumentBuilder<'a, ObservableGauge<u64>, u64> {
    meter.u64_observable_gauge(metric.name).with_description(metric.meaning)
}

/// Returns a builder for a gauge in seconds.
fn seconds<'a>(meter: &'a Meter, metric: &table::Metric) -> AsyncInstrumentBuilder<'a, ObservableGauge<f64>, f64> {
    meter.f64_observable_gauge(metric.name).with_unit(metric.unit).with_description(metric.meaning)
}

/// Registers the gauge for connections.
fn observe_connections(meter: &Meter, gauges: Arc<dyn Gauges>) {
    count(meter, &table::POOL_CONNECTIONS)
        .with_callback(move |observer| {
            for PoolConnections { pool, used, idle } in gauges.connections() {
                for (state, count) in [("used", used), ("idle", idle)] {
                    observer.observe(count, &[KeyValue::new("pool", pool.as_str()), KeyValue::new("state", state)]);
                }
            }
        })
        .build();
}

/// Registers the gauges for the job queue.
fn observe_jobs(meter: &Meter, gauges: &Arc<dyn Gauges>) {
    let of = gauges.clone();
    count(meter, &table::JOBS)
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
    seconds(meter, &table::JOBS_OLDEST)
        .with_callback(move |observer| {
            for jobs in of.jobs() {
                observer.observe(jobs.oldest, &[KeyValue::new("task", jobs.task)]);
            }
        })
        .build();
}

/// Registers the gauges for usage partitions and for the replica.
fn observe_database(meter: &Meter, gauges: &Arc<dyn Gauges>) {
    let of = gauges.clone();
    count(meter, &table::USAGE_MONTHS)
        .with_callback(move |observer| {
            if let Some(months) = of.months_ahead() {
                observer.observe(months, &[]);
            }
        })
        .build();
    let of = gauges.clone();
    seconds(meter, &table::REPLICA_LAG)
        .with_callback(move |observer| {
            if let Some(seconds) = of.replica_lag() {
                observer.observe(seconds, &[]);
            }
        })
        .build();
}
