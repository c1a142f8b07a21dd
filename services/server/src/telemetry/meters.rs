//! Metrics: where they are kept, and in what forms they are read.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures_util::FutureExt;
use futures_util::future::join_all;
use knowhow_domain::{Clock, SystemClock};
use knowhow_ops::{App, Models, count_backlog};
use knowhow_store::replica::Standing;
use knowhow_store::{Database, connections, months};
use knowhow_telemetry::metrics::{self, Gauges, JobsOfTask, Model, PoolConnections};
use opentelemetry::metrics::{Meter, MeterProvider};
use opentelemetry_sdk::metrics::{MeterProviderBuilder, SdkMeterProvider};
use prometheus::{Encoder, Registry, TextEncoder};

/// Pause between two counts of the jobs, however often metrics are read.
const COUNT_EVERY: Duration = Duration::from_secs(10);
/// Longest wait for a count: who reads metrics does not wait longer for the rest.
const COUNT_WITHIN: Duration = Duration::from_secs(2);

/// The metrics of this process.
pub struct Meters {
    provider: SdkMeterProvider,
    registry: Registry,
    backlog: Arc<Backlog>,
}

impl Meters {
    /// Begins to record, for `/metrics` and for what else reads through `builder`.
    ///
    /// # Errors
    /// Never in practice: the registry is empty.
    pub fn start(builder: MeterProviderBuilder) -> Result<Self> {
        let registry = Registry::new();
        let exporter = opentelemetry_prometheus::exporter().with_registry(registry.clone());
        let exporter = exporter.without_target_info().scope_info_enabled(false).build().context("no metrics")?;
        let provider = builder.with_reader(exporter).build();
        metrics::start(&meter(&provider));
        Ok(Self { provider, registry, backlog: Arc::default() })
    }

    /// Has the gauges asked for from now on.
    pub fn observe(&self, app: &App) {
        let replica = app.replica.as_ref().map(|replica| replica.standing().clone());
        let gauges = Arc::new(Process { models: app.models.clone(), replica, backlog: self.backlog.clone() });
        metrics::observe(&meter(&self.provider), gauges, env!("CARGO_PKG_VERSION"));
    }

    /// What `/metrics` serves.
    pub fn page(&self) -> MetricsPage {
        MetricsPage { registry: self.registry.clone(), backlog: self.backlog.clone() }
    }

    /// Counts the jobs again and again, without end.
    pub fn count(&self, db: Database, every: Duration) -> impl Future<Output = ()> + Send + 'static {
        let backlog = self.backlog.clone();
        async move {
            loop {
                backlog.count(&db).await;
                tokio::time::sleep(every).await;
            }
        }
    }

    /// Sends what was not sent yet to whom metrics are sent.
    pub fn end(&self) {
        if let Err(error) = self.provider.shutdown() {
            tracing::debug!(%error, "the last metrics were not sent");
        }
    }
}

fn meter(provider: &SdkMeterProvider) -> Meter {
    provider.meter("knowhow")
}

/// All metrics in the form of Prometheus.
#[derive(Clone)]
pub struct MetricsPage {
    registry: Registry,
    backlog: Arc<Backlog>,
}

impl MetricsPage {
    /// The content type of the page.
    pub const CONTENT_TYPE: &'static str = "text/plain; version=0.0.4; charset=utf-8";

    /// The page as of now; the jobs as of a few seconds ago.
    ///
    /// # Errors
    /// Never in practice: numbers can be written.
    pub async fn write(&self, db: &Database) -> Result<Vec<u8>> {
        self.backlog.count(db).await;
        let mut page = Vec::new();
        TextEncoder::new().encode(&self.registry.gather(), &mut page)?;
        Ok(page)
    }
}

/// What the database says of itself, as it was asked last.
#[derive(Default)]
struct Counted {
    jobs: Vec<JobsOfTask>,
    months_ahead: Option<u64>,
}

impl Counted {
    /// With those of another place: the jobs of both, and the months of the one that has fewer.
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

/// The jobs and months as they were counted last.
#[derive(Default)]
pub struct Backlog {
    counted: Mutex<Counted>,
    counted_at: tokio::sync::Mutex<Option<Instant>>,
}

impl Backlog {
    /// Counts them anew, unless that was just done. Where the database does not say, there are no numbers: old ones would
    /// look like good news.
    pub async fn count(&self, db: &Database) {
        let mut counted_at = self.counted_at.lock().await;
        if counted_at.is_some_and(|at| at.elapsed() < COUNT_EVERY) {
            return;
        }
        let count_at = async |at: Database| {
            let today = SystemClock.now().date_naive();
            let (jobs, months) = tokio::join!(count_backlog(&at), months::look(&at, today));
            Counted {
                jobs: jobs.unwrap_or_default(),
                months_ahead: months.ok().and_then(|months| months.ahead.try_into().ok()),
            }
        };
        let bounded = |at| tokio::time::timeout(COUNT_WITHIN, count_at(at)).map(Result::unwrap_or_default);
        let counted = join_all(db.each().map(bounded)).await.into_iter().reduce(Counted::with).unwrap_or_default();
        *counted_at = Some(Instant::now());
        *self.counted.lock().unwrap_or_else(PoisonError::into_inner) = counted;
    }
}

/// Who knows the numbers of the gauges.
struct Process {
    models: Arc<Models>,
    replica: Option<Arc<Standing>>,
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
