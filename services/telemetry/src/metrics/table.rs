//! All metrics with their labels and meanings. This table defines the instruments, docs/reference/metrics.md and the
//! tests.

/// Type of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A number that only increases.
    Counter,
    /// A number that goes up and down, read on demand.
    Gauge,
    /// A distribution of durations.
    Histogram,
}

impl Kind {
    /// Returns the name of the type in Prometheus.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// Definition of a metric.
#[derive(Debug)]
pub struct Metric {
    /// OpenTelemetry name of the metric.
    pub name: &'static str,
    /// Unit: `s` for seconds, or empty.
    pub unit: &'static str,
    /// Type of the metric.
    pub kind: Kind,
    /// Labels, each with a description of its values.
    pub labels: &'static [(&'static str, &'static str)],
    /// Description of the metric.
    pub meaning: &'static str,
    /// Upper bounds of the buckets of a histogram. They include the objectives, so that these are measured exactly.
    pub bounds: &'static [f64],
}

impl Metric {
    /// Returns the name of the metric in Prometheus.
    pub fn prometheus_name(&self) -> String {
        let unit = if self.unit == "s" { "_seconds" } else { "" };
        let suffix = if self.kind == Kind::Counter { "_total" } else { "" };
        format!("{}{unit}{suffix}", self.name.replace('.', "_"))
    }
}

/// Duration of requests. Objectives: turns 250 ms, snapshots 100 ms, saves 300 ms.
pub const REQUEST_DURATION: Metric = Metric {
    name: "http.server.request.duration",
    unit: "s",
    kind: Kind::Histogram,
    labels: &[
        ("http_request_method", "the method; `_OTHER` for non-standard methods and for the route `other`"),
        (
            "http_route",
            "the endpoint's template; `unmatched` if no endpoint matched, `other` beyond the limit of series",
        ),
        ("http_response_status_code", "the status"),
    ],
    meaning: "duration from a request's head to its answer, without the probes",
    bounds: &[0.005, 0.025, 0.1, 0.25, 0.3, 1.0, 5.0],
};

/// Wait for a connection. The alert fires above 100 ms.
pub const POOL_WAIT: Metric = Metric {
    name: "knowhow.pool.wait",
    unit: "s",
    kind: Kind::Histogram,
    labels: &[POOL],
    meaning: "wait for a connection to the database, including failed waits",
    bounds: &[0.001, 0.01, 0.05, 0.1, 0.25, 1.0],
};

/// Number of connections of this process.
pub const POOL_CONNECTIONS: Metric = Metric {
    name: "knowhow.pool.connections",
    unit: "",
    kind: Kind::Gauge,
    labels: &[POOL, ("state", "`used`, `idle`")],
    meaning: "connections of this process to the database",
    bounds: &[],
};

/// Duration of the stages of a turn.
pub const RECALL_STAGE: Metric = Metric {
    name: "knowhow.recall.stage",
    unit: "s",
    kind: Kind::Histogram,
    labels: &[(
        "stage",
        "`read` (the session), `embedding` (the message's vector), `catalogue`, `search`, `judge` (a chat model that judges), `compose`, `write`; the first two go on \
         beside each other",
    )],
    meaning: "duration of the stages of a turn",
    bounds: &[0.001, 0.005, 0.025, 0.1, 0.25, 1.0],
};

/// Number of turns, by degradation and by the source of the session's state.
pub const TURNS: Metric = Metric {
    name: "knowhow.turns",
    unit: "",
    kind: Kind::Counter,
    labels: &[
        ("degraded", "`none`, or the first missing part of the answer: `embedding`, `catalogue`, `bodies`, `judge`"),
        (
            "start",
            "`known`: from the previous turn in this process, one round trip; `read`: read from the database; `again`: read, because the \
             known state was outdated",
        ),
    ],
    meaning: "answered turns",
    bounds: &[],
};

/// Number of look-ups in the cache of catalogues.
pub const CATALOGUE_LOOKUPS: Metric = Metric {
    name: "knowhow.catalogue.lookups",
    unit: "",
    kind: Kind::Counter,
    labels: &[("outcome", "`hit`, `miss`")],
    meaning: "look-ups of a user's catalogue in memory; a miss reads and builds it",
    bounds: &[],
};

/// Age of the snapshots that new sessions use. Objective for active users: at most 35 minutes.
pub const SNAPSHOT_AGE: Metric = Metric {
    name: "knowhow.snapshot.age",
    unit: "s",
    kind: Kind::Histogram,
    labels: &[],
    meaning: "age of the snapshot used by a new session",
    bounds: &[1.0, 60.0, 600.0, 1800.0, 2100.0, 3600.0],
};

/// Number of unfinished jobs.
pub const JOBS: Metric = Metric {
    name: "knowhow.jobs",
    unit: "",
    kind: Kind::Gauge,
    labels: &[TASK, ("state", "`waiting` (including retries), `running`, `dead`")],
    meaning: "jobs in the queue of the database, the same in all processes; counted at most every 10 s",
    bounds: &[],
};

/// Delay of the most overdue job.
pub const JOBS_OLDEST: Metric = Metric {
    name: "knowhow.jobs.oldest",
    unit: "s",
    kind: Kind::Gauge,
    labels: &[TASK],
    meaning: "delay of the most overdue job; 0 if no job is due",
    bounds: &[],
};

/// Wait of jobs from their due time to their start. Objective: at most 10 s.
pub const JOB_WAIT: Metric = Metric {
    name: "knowhow.job.wait",
    unit: "s",
    kind: Kind::Histogram,
    labels: &[TASK],
    meaning: "wait from a job's due time to its start",
    bounds: &[1.0, 5.0, 10.0, 60.0, 300.0],
};

/// Duration of the attempts to run jobs.
pub const JOB: Metric = Metric {
    name: "knowhow.job",
    unit: "s",
    kind: Kind::Histogram,
    labels: &[
        TASK,
        (
            "outcome",
            "`done`, `retried` (failed, will be retried), `dead` (failed permanently), `put_back` (its tenant or user is \
             suspended)",
        ),
    ],
    meaning: "duration of a job's attempt",
    bounds: &[0.1, 1.0, 10.0, 60.0],
};

/// Number of requests to models.
pub const MODEL_REQUESTS: Metric = Metric {
    name: "knowhow.model.requests",
    unit: "",
    kind: Kind::Counter,
    labels: &[
        MODEL_LABEL,
        (
            "outcome",
            "`ok`, `timeout` (also if the caller gave up), `refused` (the server answered with an error), `unreadable`, `error` (\
             unreachable)",
        ),
    ],
    meaning: "requests to a model, including retries",
    bounds: &[],
};

/// Duration of requests to models.
pub const MODEL: Metric = Metric {
    name: "knowhow.model",
    unit: "s",
    kind: Kind::Histogram,
    labels: &[MODEL_LABEL],
    meaning: "duration of a request to a model; for the model in this process, including the wait for it",
    bounds: &[0.01, 0.05, 0.25, 1.0, 5.0, 30.0],
};

/// Number of tokens that the chat model read and wrote.
pub const MODEL_TOKENS: Metric = Metric {
    name: "knowhow.model.tokens",
    unit: "",
    kind: Kind::Counter,
    labels: &[("direction", "`input`, `output`")],
    meaning: "tokens of the chat model, as its server counts them",
    bounds: &[],
};

/// Whether requests to a model are paused.
pub const MODEL_PAUSED: Metric = Metric {
    name: "knowhow.model.paused",
    unit: "",
    kind: Kind::Gauge,
    labels: &[MODEL_LABEL],
    meaning: "1 while requests to a model are paused after failures",
    bounds: &[],
};

/// Number of rejected requests.
pub const REFUSALS: Metric = Metric {
    name: "knowhow.refusals",
    unit: "",
    kind: Kind::Counter,
    labels: &[("code", "the end of the problem's `type`: `not-found`, `version-conflict`, `rate-limited`, ...")],
    meaning: "rejected requests and failed tool calls, by problem type",
    bounds: &[],
};

/// Number of future months that have a partition for usage.
pub const USAGE_MONTHS: Metric = Metric {
    name: "knowhow.usage.months",
    unit: "",
    kind: Kind::Gauge,
    labels: &[],
    meaning: "future months with a partition of `usage_events`, without a gap; the worker maintains three",
    bounds: &[],
};

/// Lag of the replica behind the primary.
pub const REPLICA_LAG: Metric = Metric {
    name: "knowhow.replica.lag",
    unit: "s",
    kind: Kind::Gauge,
    labels: &[],
    meaning: "lag of the replica of `KNOWHOW_REPLICA_URL` behind the primary, checked every 5 s; grows while the replica is unreachable",
    bounds: &[],
};

/// Number of reads by database, if there is a replica.
pub const REPLICA_READS: Metric = Metric {
    name: "knowhow.replica.reads",
    unit: "",
    kind: Kind::Counter,
    labels: &[("of", "`catalogue`, `export`"), ("from", "`replica`, `primary_as_behind`, `primary_as_unfit`")],
    meaning: "reads of catalogues and exports by database, if there is a replica; each may take several reads",
    bounds: &[],
};

/// Number of stored settings of tenants that cannot be used.
pub const UNUSABLE_SETTINGS: Metric = Metric {
    name: "knowhow.settings.unusable",
    unit: "",
    kind: Kind::Counter,
    labels: &[],
    meaning: "stored settings of tenants that are unknown, of the wrong type or out of range; their defaults are used",
    bounds: &[],
};

/// Release that is running.
pub const BUILD_INFO: Metric = Metric {
    name: "knowhow.build.info",
    unit: "",
    kind: Kind::Gauge,
    labels: &[("version", "the release")],
    meaning: "1, with the running release as a label",
    bounds: &[],
};

const POOL: (&str, &str) = (
    "pool",
    "`reads` (one round trip), `changes` (two), `rare` (administration, jobs and the queue), `lookups` (callers)",
);
const TASK: (&str, &str) = ("task", "the kind of job, see jobs.md; `other` for kinds that this release does not know");
const MODEL_LABEL: (&str, &str) = ("model", "`embeddings`, `chat`");

/// All metrics, in the order of docs/reference/metrics.md.
pub static ALL: [&Metric; 21] = [
    &REQUEST_DURATION,
    &REFUSALS,
    &POOL_WAIT,
    &POOL_CONNECTIONS,
    &RECALL_STAGE,
    &TURNS,
    &CATALOGUE_LOOKUPS,
    &SNAPSHOT_AGE,
    &JOBS,
    &JOBS_OLDEST,
    &JOB_WAIT,
    &JOB,
    &MODEL_REQUESTS,
    &MODEL,
    &MODEL_TOKENS,
    &MODEL_PAUSED,
    &USAGE_MONTHS,
    &REPLICA_LAG,
    &REPLICA_READS,
    &UNUSABLE_SETTINGS,
    &BUILD_INFO,
];
