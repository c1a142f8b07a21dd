//! Every metric with its labels and its meaning: the instruments, docs/metrics.md and the tests are made of this table.

/// What kind of number a metric is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only grows.
    Counter,
    /// Goes up and down; asked for when metrics are read.
    Gauge,
    /// How often something took how long.
    Histogram,
}

impl Kind {
    /// Its name in Prometheus.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// One metric.
#[derive(Debug)]
pub struct Metric {
    /// Its name in OpenTelemetry.
    pub name: &'static str,
    /// `s`, or nothing.
    pub unit: &'static str,
    /// What kind of number it is.
    pub kind: Kind,
    /// Its labels, each with the values that it has.
    pub labels: &'static [(&'static str, &'static str)],
    /// What it says.
    pub meaning: &'static str,
    /// Of a histogram, the upper bounds of its buckets. Objectives are among them, so that they are counted exactly.
    pub bounds: &'static [f64],
}

impl Metric {
    /// Its name in Prometheus.
    pub fn prometheus_name(&self) -> String {
        let unit = if self.unit == "s" { "_seconds" } else { "" };
        let suffix = if self.kind == Kind::Counter { "_total" } else { "" };
        format!("{}{unit}{suffix}", self.name.replace('.', "_"))
    }
}

/// How long requests take. Turns are to answer in 250 ms, snapshots in 100, saves in 300.
pub const REQUEST_DURATION: Metric = Metric {
    name: "http.server.request.duration",
    unit: "s",
    kind: Kind::Histogram,
    labels: &[
        ("http_request_method", "the method; `_OTHER` for any other, and with the route `other`"),
        (
            "http_route",
            "the endpoint's template; `unmatched` where no endpoint took it, `other` past the bound of series",
        ),
        ("http_response_status_code", "the status"),
    ],
    meaning: "from the head of a request to its answer, without the probes",
    bounds: &[0.005, 0.025, 0.1, 0.25, 0.3, 1.0, 5.0],
};

/// How long requests wait for a connection. The alert is at 100 ms.
pub const POOL_WAIT: Metric = Metric {
    name: "knowhow.pool.wait",
    unit: "s",
    kind: Kind::Histogram,
    labels: &[POOL],
    meaning: "wait for a connection to the database, also one that ends without",
    bounds: &[0.001, 0.01, 0.05, 0.1, 0.25, 1.0],
};

/// How many connections there are.
pub const POOL_CONNECTIONS: Metric = Metric {
    name: "knowhow.pool.connections",
    unit: "",
    kind: Kind::Gauge,
    labels: &[POOL, ("state", "`used`, `idle`")],
    meaning: "connections of this process to the database",
    bounds: &[],
};

/// What a turn's time goes to.
pub const RECALL_STAGE: Metric = Metric {
    name: "knowhow.recall.stage",
    unit: "s",
    kind: Kind::Histogram,
    labels: &[(
        "stage",
        "`read` (the session), `embedding` (the message's vector), `catalogue`, `search`, `compose`, `write`; the first two go on \
         beside each other",
    )],
    meaning: "the parts of a turn",
    bounds: &[0.001, 0.005, 0.025, 0.1, 0.25, 1.0],
};

/// How many turns were answered, what they went without, and what they started from.
pub const TURNS: Metric = Metric {
    name: "knowhow.turns",
    unit: "",
    kind: Kind::Counter,
    labels: &[
        ("degraded", "`none`, or the first of what the answer had to go without: `embedding`, `catalogue`, `bodies`"),
        (
            "start",
            "`known`: what the turn before left in this process, one round trip; `read`: read for it; `again`: read, as what was \
             known was not so any more",
        ),
    ],
    meaning: "turns that were taken",
    bounds: &[],
};

/// How often a catalogue was in memory.
pub const CATALOGUE_LOOKUPS: Metric = Metric {
    name: "knowhow.catalogue.lookups",
    unit: "",
    kind: Kind::Counter,
    labels: &[("outcome", "`hit`, `miss`")],
    meaning: "looks for a user's catalogue in memory; a miss reads and builds it",
    bounds: &[],
};

/// How old snapshots are when they are given out. Those of active users are to be at most 35 minutes old.
pub const SNAPSHOT_AGE: Metric = Metric {
    name: "knowhow.snapshot.age",
    unit: "s",
    kind: Kind::Histogram,
    labels: &[],
    meaning: "age of a snapshot when a session that begins is given it",
    bounds: &[1.0, 60.0, 600.0, 1800.0, 2100.0, 3600.0],
};

/// How many jobs there are.
pub const JOBS: Metric = Metric {
    name: "knowhow.jobs",
    unit: "",
    kind: Kind::Gauge,
    labels: &[TASK, ("state", "`waiting` (also for its next try), `running`, `dead`")],
    meaning: "jobs in the queue of the database, the same in all processes; counted at most every 10 s",
    bounds: &[],
};

/// How far behind the workers are.
pub const JOBS_OLDEST: Metric = Metric {
    name: "knowhow.jobs.oldest",
    unit: "s",
    kind: Kind::Gauge,
    labels: &[TASK],
    meaning: "for how long the job that waits longest could have been begun; 0 where none waits",
    bounds: &[],
};

/// How long jobs wait. They are to begin within 10 s.
pub const JOB_WAIT: Metric = Metric {
    name: "knowhow.job.wait",
    unit: "s",
    kind: Kind::Histogram,
    labels: &[TASK],
    meaning: "from when a job may begin until it is begun",
    bounds: &[1.0, 5.0, 10.0, 60.0, 300.0],
};

/// How long jobs take.
pub const JOB: Metric = Metric {
    name: "knowhow.job",
    unit: "s",
    kind: Kind::Histogram,
    labels: &[
        TASK,
        (
            "outcome",
            "`done`, `retried` (it failed and is tried again), `dead` (it failed for good), `put_back` (its tenant or user is \
             suspended)",
        ),
    ],
    meaning: "one try of a job",
    bounds: &[0.1, 1.0, 10.0, 60.0],
};

/// How often models are asked.
pub const MODEL_REQUESTS: Metric = Metric {
    name: "knowhow.model.requests",
    unit: "",
    kind: Kind::Counter,
    labels: &[
        MODEL_LABEL,
        (
            "outcome",
            "`ok`, `timeout` (also where who asked gave up), `refused` (the server answered with an error), `unreadable`, `error` (out \
             of reach)",
        ),
    ],
    meaning: "requests to a model, each try; of the model in the process, with the wait for it",
    bounds: &[],
};

/// How long models take.
pub const MODEL: Metric = Metric {
    name: "knowhow.model",
    unit: "s",
    kind: Kind::Histogram,
    labels: &[MODEL_LABEL],
    meaning: "one request to a model",
    bounds: &[0.01, 0.05, 0.25, 1.0, 5.0, 30.0],
};

/// What chat costs.
pub const MODEL_TOKENS: Metric = Metric {
    name: "knowhow.model.tokens",
    unit: "",
    kind: Kind::Counter,
    labels: &[("direction", "`input`, `output`")],
    meaning: "tokens of the chat model, as its server counts them",
    bounds: &[],
};

/// Whether a model is left alone.
pub const MODEL_PAUSED: Metric = Metric {
    name: "knowhow.model.paused",
    unit: "",
    kind: Kind::Gauge,
    labels: &[MODEL_LABEL],
    meaning: "1 while a model is left alone after failures",
    bounds: &[],
};

/// What is refused.
pub const REFUSALS: Metric = Metric {
    name: "knowhow.refusals",
    unit: "",
    kind: Kind::Counter,
    labels: &[("code", "the end of the problem's `type`: `not-found`, `version-conflict`, `rate-limited`, ...")],
    meaning: "refused requests and failed calls of tools, by type of the problem",
    bounds: &[],
};

/// Whether there is a place for what is used next month.
pub const USAGE_MONTHS: Metric = Metric {
    name: "knowhow.usage.months",
    unit: "",
    kind: Kind::Gauge,
    labels: &[],
    meaning: "months after this one that have a partition of `usage_events`, without a gap, as of the database; the worker sees to three",
    bounds: &[],
};

/// How far the replica is behind.
pub const REPLICA_LAG: Metric = Metric {
    name: "knowhow.replica.lag",
    unit: "s",
    kind: Kind::Gauge,
    labels: &[],
    meaning: "for how long the replica of `KNOWHOW_REPLICA_URL` has not shown what the primary had, by a look each 5 s; grows while it is away",
    bounds: &[],
};

/// Where what the replica is for was read.
pub const REPLICA_READS: Metric = Metric {
    name: "knowhow.replica.reads",
    unit: "",
    kind: Kind::Counter,
    labels: &[("of", "`catalogue`, `export`"), ("from", "`replica`, `primary_as_behind`, `primary_as_unfit`")],
    meaning: "where catalogues and exports were read, where there is a replica; one of either may take several reads",
    bounds: &[],
};

/// How often stored settings of a tenant could not be used.
pub const UNUSABLE_SETTINGS: Metric = Metric {
    name: "knowhow.settings.unusable",
    unit: "",
    kind: Kind::Counter,
    labels: &[],
    meaning: "stored settings of tenants that were read and are unknown, of the wrong type or out of range; their defaults are used",
    bounds: &[],
};

/// Which release runs.
pub const BUILD_INFO: Metric = Metric {
    name: "knowhow.build.info",
    unit: "",
    kind: Kind::Gauge,
    labels: &[("version", "the release")],
    meaning: "1, of the release that runs",
    bounds: &[],
};

const POOL: (&str, &str) = (
    "pool",
    "`reads` (one round trip), `changes` (two), `rare` (administration, jobs and the queue), `lookups` (who calls)",
);
const TASK: (&str, &str) = ("task", "the kind of job, see jobs.md; `other` for one that this release does not know");
const MODEL_LABEL: (&str, &str) = ("model", "`embeddings`, `chat`");

/// All metrics, in the order of the page.
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
