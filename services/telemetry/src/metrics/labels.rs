//! Labels of metrics. Each label has a fixed set of values.

/// Pool that a connection belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pool {
    /// Statements that take one round trip.
    Reads,
    /// Transactions that take two round trips.
    Changes,
    /// Administration, jobs and the queue.
    Rare,
    /// Queries that look up the caller of a request.
    Lookups,
}

impl Pool {
    /// All pools.
    pub const ALL: [Self; 4] = [Self::Reads, Self::Changes, Self::Rare, Self::Lookups];

    /// Returns the value of the label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Changes => "changes",
            Self::Rare => "rare",
            Self::Lookups => "lookups",
        }
    }
}

/// Data that is read from the replica, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOf {
    /// A user's catalogue for recall.
    Catalogue,
    /// All skills of a user, for an export.
    Export,
}

impl ReadOf {
    /// Returns the value of the label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Catalogue => "catalogue",
            Self::Export => "export",
        }
    }
}

/// Database that a read used, with the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadFrom {
    /// The replica.
    Replica,
    /// The primary, because the replica lags behind.
    PrimaryAsBehind,
    /// The primary, because the replica is disabled or has failed.
    PrimaryAsUnfit,
}

impl ReadFrom {
    /// Returns the value of the label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Replica => "replica",
            Self::PrimaryAsBehind => "primary_as_behind",
            Self::PrimaryAsUnfit => "primary_as_unfit",
        }
    }
}

/// Stage of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Reading the session.
    Read,
    /// Embedding the message.
    Embedding,
    /// Loading the user's catalogue.
    Catalogue,
    /// Searching for skills.
    Search,
    /// Judging the found skills with a chat model.
    Judge,
    /// Composing the answer.
    Compose,
    /// Storing the turn.
    Write,
}

impl Stage {
    /// Returns the value of the label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Embedding => "embedding",
            Self::Catalogue => "catalogue",
            Self::Search => "search",
            Self::Judge => "judge",
            Self::Compose => "compose",
            Self::Write => "write",
        }
    }
}

/// Kind of model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// The embedding model.
    Embeddings,
    /// The chat model.
    Chat,
}

impl Model {
    /// Returns the value of the label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Embeddings => "embeddings",
            Self::Chat => "chat",
        }
    }
}

/// Outcome of a request to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// The model returned a usable answer.
    Ok,
    /// The model did not answer in time.
    Timeout,
    /// The model returned an error status.
    Refused,
    /// The model returned an unusable answer.
    Unreadable,
    /// The connection failed or broke.
    Error,
}

impl Asked {
    /// Returns the value of the label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Timeout => "timeout",
            Self::Refused => "refused",
            Self::Unreadable => "unreadable",
            Self::Error => "error",
        }
    }
}

/// Outcome of one attempt to run a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tried {
    /// The job is completed.
    Done,
    /// The attempt failed, and the job will be retried.
    Retried,
    /// The job failed permanently.
    Dead,
    /// The job was postponed, because its tenant or user is suspended.
    PutBack,
}

impl Tried {
    /// Returns the value of the label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Retried => "retried",
            Self::Dead => "dead",
            Self::PutBack => "put_back",
        }
    }
}
