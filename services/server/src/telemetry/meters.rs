//! Metrics: the registry and its exporters.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures_util::FutureExt;
use futures_util::future::join_all;
use knowhow_domain::{Clock, SystemClock};
use knowhow_ops::{App, Models, count_backlog};
use knowhow_store::across::months;
use knowhow_store::deployment::replica::ReplicaStatus;
use knowhow_store::{Database, connections};
use knowhow_telemetry::metrics::{self, Gauges, JobsOfTask, Model, PoolConnections};
use opentelemetry::metrics::{Meter, MeterProvider};
use opentelemetry_sdk::metrics::{MeterProviderBuilder, SdkMeterProvider};
use prometheus::{Encoder, Registry, TextEncoder};

/// Minimum interval between two counts of the jobs, however often metrics are read.
const COUNT_EVERY: Duration = Duration::from_secs(10);
/// Timeout of a count. A slow database must not delay the other metrics.
const COUNT_WITHIN: Duration = Duration::from_secs(2);

/// The metrics of this process.
pub struct Meters {
    provider: SdkMeterProvider,
    registry: Registry,
    backlog: Arc<Backlog>,
}

impl Meters {
    /// Starts to record metrics, for `/metrics` and for the other readers of `builder`.
    pub fn start(builder: MeterProviderBuilder) -> Result<Self> {
        let registry = Registry::new();
        let exporter = opentelemetry_prometheus::exporter().with_registry(registry.clone());
        let exporter = exporter.without_target_info().scope_info_enabled(false).build().context("no metrics")?;
        let provider = builder.with_reader(exporter).build();
        metrics::start(&meter(&provider));
        Ok(Self { provider, registry, backlog: Arc::default() })
    }

    /// Registers the gauges.
    pub fn observe(&self, app: &App) {
        let replica = app.replica.as_ref().map(|replica| replica.status().clone());
        let gauges = Arc::new(Process { models: app.models.clone(), replica, backlog: self.backlog.clone() });
        metrics::observe(&meter(&self.provider), gauges, env!("CARGO_PKG_VERSION"));
    }

    /// Returns the renderer of the page `/metrics`.
    pub fn page(&self) -> MetricsPage {
        MetricsPage { registry: self.registry.clone(), backlog: self.backlog.clone() }
    }

    /// Counts the jobs forever, at the interval `every`.
    pub fn count(&self, db: Database, every: Duration) -> impl Future<Output = ()> + Send + 'static {
        let backlog = self.backlog.clone();
        async move {
            loop {
                backlog.count(&db).await;
                tokio::time::sleep(every).await;
            }
        }
    }

    /// Sends the remaining metrics to the collector.
    pub fn end(&self) {
        if let Err(error) = self.provider.shutdown() {
            tracing::debug!(%error, "the last metrics were not sent");
        }
    }
}

fn meter(provider: &SdkMeterProvider) -> Meter {
    provider.meter("knowhow")
}

/// Renderer of all metrics in Prometheus' text format.
#[derive(Clone)]
pub struct MetricsPage {
    registry: Registry,
    backlog: Arc<Backlog>,
}

impl MetricsPage {
    pub const CONTENT_TYPE: &'static str = "text/plain; version=0.0.4; charset=utf-8";

    /// Renders the page. The counts of jobs may be some seconds old.
    pub async fn write(&self, db: &Database) -> Result<Vec<u8>> {
        self.backlog.count(db).await;
        let mut page = Vec::new();
        TextEncoder::new().encode(&self.registry.gather(), &mut page)?;
        Ok(page)
    }
}

/// Numbers from the last query to the database.
#[derive(Default)]
struct DatabaseCounts {
    jobs: Vec<JobsOfTask>,
    months_ahead: Option<u64>,
}

impl DatabaseCounts {
    /// Adds the numbers of another database. Counts of jobs are summed, and the smaller number of months is used.
    fn with(mut self, other: Self) -> Self {
        for jobs in other.jobs {
            match self.jobs.iter_mut().find(|counted| counted.task == jobs.task) {
                Some(counted) => counted.add(&jobs),
                None => self.jobs.push(jobs),
            }
        }
        self.months_ahead = self.months_ahead.zip(other.months_ahead).map(|(one, other)| one.min(other));
        self
    }
}

/// The last counts of jobs, and of future months with a partition for usage.
#[derive(Default)]
pub struct Backlog {
    counted: Mutex<DatabaseCounts>,
    counted_at: tokio::sync::Mutex<Option<Instant>>,
}

impl Backlog {
    /// Counts again, unless the last count is recent. If the database does not respond, the numbers are removed,
    /// because old numbers would hide the problem.
    pub async fn count(&self, db: &Database) {
        let mut counted_at = self.counted_at.lock().await;
        if counted_at.is_some_and(|at| at.elapsed() < COUNT_EVERY) {
            return;
        }
        let count_at = async |at: Database| {
            let today = SystemClock.now().date_naive();
            let (jobs, months) = tokio::join!(count_backlog(&at), months::look(&at, today));
            DatabaseCounts {
                jobs: jobs.unwrap_or_default(),
                months_ahead: months.ok().and_then(|months| months.ahead.try_into().ok()),
            }
        };
        let bounded = |at| tokio::time::timeout(COUNT_WITHIN, count_at(at)).map(Result::unwrap_or_default);
        let counted =
            join_all(db.each().map(bounded)).await.into_iter().reduce(DatabaseCounts::with).unwrap_or_default();
        *counted_at = Some(Instant::now());
        *self.counted.lock().unwrap_or_else(PoisonError::into_inner) = counted;
    }
}

/// The sources of the gauges' values.
struct Process {
    models: Arc<Models>,
    replica: Option<Arc<ReplicaStatus>>,
    backlog: Arc<Backlog>,
}

impl Gauges for Process {
    fn connections(&self) -> Vec<PoolConnections> {
        connections()
    }

    fn jobs(&self) -> Vec<JobsOfTask> {
        self.backlog.counted.lock().unwrap_or_else(PoisonError::into_inner).jobs.clone()
    }

    fn months_ahead(&self) -> Option<u64> {
        self.backlog.counted.lock().unwrap_or_else(PoisonError::into_inner).months_ahead
    }

    fn replica_lag(&self) -> Option<f64> {
        self.replica.as_ref().map(|replica| replica.lag().as_secs_f64())
    }

    fn is_paused(&self, model: Model) -> Option<bool> {
        self.models.is_paused(model)
    }
}
