//! The values of labels, which are closed sets.

/// Which pool a connection is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pool {
    /// Statements of one round trip.
    Reads,
    /// Transactions of two.
    Changes,
    /// Administration, jobs and the queue.
    Rare,
    /// Who calls.
    Lookups,
}

impl Pool {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Reads, Self::Changes, Self::Rare, Self::Lookups];

    /// Its label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Changes => "changes",
            Self::Rare => "rare",
            Self::Lookups => "lookups",
        }
    }
}

/// What is read where there is a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOf {
    /// What recall keeps of a user's skills.
    Catalogue,
    /// All skills of a user.
    Export,
}

impl ReadOf {
    /// Its label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Catalogue => "catalogue",
            Self::Export => "export",
        }
    }
}

/// Where it was read, and why there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadFrom {
    /// The replica.
    Replica,
    /// The primary, as the replica had not come far enough.
    PrimaryAsBehind,
    /// The primary, as the replica is not to be asked, or has failed.
    PrimaryAsUnfit,
}

impl ReadFrom {
    /// Its label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Replica => "replica",
            Self::PrimaryAsBehind => "primary_as_behind",
            Self::PrimaryAsUnfit => "primary_as_unfit",
        }
    }
}

/// A part of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Reading where the session stands.
    Read,
    /// Making the message's vector.
    Embedding,
    /// Having the user's catalogue in memory.
    Catalogue,
    /// Looking for skills.
    Search,
    /// Making the answer.
    Compose,
    /// Keeping it.
    Write,
}

impl Stage {
    /// Its label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Embedding => "embedding",
            Self::Catalogue => "catalogue",
            Self::Search => "search",
            Self::Compose => "compose",
            Self::Write => "write",
        }
    }
}

/// Which model was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// The one that makes vectors.
    Embeddings,
    /// The one that writes.
    Chat,
}

impl Model {
    /// Its label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Embeddings => "embeddings",
            Self::Chat => "chat",
        }
    }
}

/// What came of a request to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// An answer.
    Ok,
    /// No answer in time.
    Timeout,
    /// An answer that is an error.
    Refused,
    /// An answer that cannot be used.
    Unreadable,
    /// No connection, or one that broke.
    Error,
}

impl Asked {
    /// Its label.
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

/// What came of a try of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tried {
    /// It is done.
    Done,
    /// It failed, and is tried again.
    Retried,
    /// It failed for good.
    Dead,
    /// It waits, as its tenant or user is suspended.
    PutBack,
}

impl Tried {
    /// Its label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Retried => "retried",
            Self::Dead => "dead",
            Self::PutBack => "put_back",
        }
    }
}
