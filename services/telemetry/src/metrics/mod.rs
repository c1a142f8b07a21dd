//! Metrics. Each function records an event. Calls before [`start`] have no effect.

mod gauges;
mod labels;
mod routes;
mod table;

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, Meter};

pub use gauges::{Gauges, JobsOfTask, PoolConnections, observe};
pub use labels::{Asked, Model, Pool, ReadFrom, ReadOf, Stage, Tried};
use routes::Routes;
pub use table::{ALL, Kind, Metric};

/// The instruments that record events. Gauges are not among them, because they are read on demand.
struct Recorded {
    request: Histogram<f64>,
    routes: Routes,
    refusals: Counter<u64>,
    pool_wait: Histogram<f64>,
    stage: Histogram<f64>,
    turns: Counter<u64>,
    lookups: Counter<u64>,
    snapshot_age: Histogram<f64>,
    job_wait: Histogram<f64>,
    job: Histogram<f64>,
    model: Histogram<f64>,
    model_requests: Counter<u64>,
    model_tokens: Counter<u64>,
    replica_reads: Counter<u64>,
    unusable_settings: Counter<u64>,
}

static RECORDED: OnceLock<Recorded> = OnceLock::new();

/// Starts recording through this meter. Later calls have no effect.
pub fn start(meter: &Meter) {
    let histogram = |metric: &Metric| {
        let builder = meter.f64_histogram(metric.name).with_unit(metric.unit).with_description(metric.meaning);
        builder.with_boundaries(metric.bounds.to_vec()).build()
    };
    let counter = |metric: &Metric| meter.u64_counter(metric.name).with_description(metric.meaning).build();
    RECORDED.get_or_init(|| Recorded {
        request: histogram(&table::REQUEST_DURATION),
        routes: Routes::default(),
        refusals: counter(&table::REFUSALS),
        pool_wait: histogram(&table::POOL_WAIT),
        stage: histogram(&table::RECALL_STAGE),
        turns: counter(&table::TURNS),
        lookups: counter(&table::CATALOGUE_LOOKUPS),
        snapshot_age: histogram(&table::SNAPSHOT_AGE),
        job_wait: histogram(&table::JOB_WAIT),
        job: histogram(&table::JOB),
        model: histogram(&table::MODEL),
        model_requests: counter(&table::MODEL_REQUESTS),
        model_tokens: counter(&table::MODEL_TOKENS),
        replica_reads: counter(&table::REPLICA_READS),
        unusable_settings: counter(&table::UNUSABLE_SETTINGS),
    });
}

/// Returns whether metrics are recorded.
pub fn is_on() -> bool {
    RECORDED.get().is_some()
}

/// Start time of a measurement; `None` if metrics are off.
#[derive(Debug, Clone, Copy)]
pub struct Since(Option<Instant>);

/// Starts a measurement.
pub fn now() -> Since {
    Since(is_on().then(Instant::now))
}

impl Since {
    /// Records the duration of a stage of a turn.
    pub fn took(self, stage: Stage) {
        self.note(|on| &on.stage, &[KeyValue::new("stage", stage.as_str())]);
    }

    /// Records the duration and outcome of an attempt to run a job.
    pub fn tried(self, task: &'static str, outcome: Tried) {
        let labels = [KeyValue::new("task", task), KeyValue::new("outcome", outcome.as_str())];
        self.note(|on| &on.job, &labels);
    }

    fn note(self, histogram: impl Fn(&Recorded) -> &Histogram<f64>, labels: &[KeyValue]) {
        if let (Some(since), Some(on)) = (self.0, RECORDED.get()) {
            histogram(on).record(since.elapsed().as_secs_f64(), labels);
        }
    }
}

/// A wait for a connection. The duration is recorded on drop, so cancelled waits count too.
#[derive(Debug)]
pub struct Waiting {
    pool: Pool,
    since: Since,
}

/// Starts the measurement of a wait for a connection of this pool.
pub fn waiting_for(pool: Pool) -> Waiting {
    Waiting { pool, since: now() }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.since.note(|on| &on.pool_wait, &[KeyValue::new("pool", self.pool.as_str())]);
    }
}

/// Records the duration of an answered request, with its method, path template and status.
pub fn request(method: &'static str, route: &str, status: u16, elapsed: Duration) {
    let Some(on) = RECORDED.get() else { return };
    let route = match on.routes.admit(method, route, status) {
        true => KeyValue::new("http.route", route.to_owned()),
        false => KeyValue::new("http.route", "other"),
    };
    let method = if route.value.as_str() == "other" { "_OTHER" } else { method };
    let status = KeyValue::new("http.response.status_code", i64::from(status));
    on.request.record(elapsed.as_secs_f64(), &[KeyValue::new("http.request.method", method), route, status]);
}

/// Records a rejected request, with the code of its problem.
pub fn refused(code: &'static str) {
    if let Some(on) = RECORDED.get() {
        on.refusals.add(1, &[KeyValue::new("code", code)]);
    }
}

/// Counts stored settings of tenants that cannot be used.
pub fn unusable_settings(count: usize) {
    if let Some(on) = RECORDED.get() {
        on.unusable_settings.add(count as u64, &[]);
    }
}

/// Records a turn. `degraded` is the first missing part of the answer, and `start` the source of the session's state.
pub fn turn(degraded: Option<&'static str>, start: &'static str) {
    if let Some(on) = RECORDED.get() {
        let degraded = degraded.unwrap_or("none");
        on.turns.add(1, &[KeyValue::new("degraded", degraded), KeyValue::new("start", start)]);
    }
}

/// Records a look-up in the cache of catalogues.
pub fn looked_up(is_hit: bool) {
    if let Some(on) = RECORDED.get() {
        on.lookups.add(1, &[KeyValue::new("outcome", if is_hit { "hit" } else { "miss" })]);
    }
}

/// Records the database that a read used. It is called only if there is a replica.
pub fn read_from(of: ReadOf, from: ReadFrom) {
    if let Some(on) = RECORDED.get() {
        on.replica_reads.add(1, &[KeyValue::new("of", of.as_str()), KeyValue::new("from", from.as_str())]);
    }
}

/// Records the age of the snapshot that a new session uses.
pub fn snapshot_given(age: Duration) {
    if let Some(on) = RECORDED.get() {
        on.snapshot_age.record(age.as_secs_f64(), &[]);
    }
}

/// Records the start of a job, and the time that the job waited since it was due.
pub fn job_begun(task: &'static str, waited: Duration) {
    if let Some(on) = RECORDED.get() {
        on.job_wait.record(waited.as_secs_f64(), &[KeyValue::new("task", task)]);
    }
}

/// Records the tokens of a prompt and of its answer.
pub fn tokens(input: u64, output: u64) {
    if let Some(on) = RECORDED.get() {
        on.model_tokens.add(input, &[KeyValue::new("direction", "input")]);
        on.model_tokens.add(output, &[KeyValue::new("direction", "output")]);
    }
}

/// A request to a model. If it is dropped without `ModelRequest::ended`, it counts as a timeout.
#[derive(Debug)]
pub struct ModelRequest {
    model: Model,
    since: Since,
    outcome: Asked,
}

/// Starts the measurement of a request to a model.
pub fn asking(model: Model) -> ModelRequest {
    ModelRequest { model, since: now(), outcome: Asked::Timeout }
}

impl ModelRequest {
    /// Records the outcome and the duration.
    pub fn ended(mut self, outcome: Asked) {
        self.outcome = outcome;
    }
}

impl Drop for ModelRequest {
    fn drop(&mut self) {
        let Some(on) = RECORDED.get() else { return };
        let model = KeyValue::new("model", self.model.as_str());
        let outcome = KeyValue::new("outcome", self.outcome.as_str());
        self.since.note(|on| &on.model, std::slice::from_ref(&model));
        on.model_requests.add(1, &[model, outcome]);
    }
}
