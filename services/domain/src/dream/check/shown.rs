//! What code knows of the things that a model was shown: what its operations are checked against.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use chrono::{DateTime, Utc};

use crate::dream::RunPass;
use crate::{Limits, Source};

/// All that a plan is checked against.
#[derive(Debug, Clone)]
pub struct Shown {
    /// The pass in which the model was asked.
    pub pass: RunPass,
    /// When the plan is checked.
    pub now: DateTime<Utc>,
    /// The skills that were shown, each once.
    pub skills: Vec<ShownSkill>,
    /// The names of all skills of the user, also of those that were not shown.
    pub names: HashSet<String>,
    /// The conversations that were shown, each once.
    pub sessions: Vec<ShownSession>,
    /// What code found before the model was asked.
    pub candidates: Candidates,
    /// Whether anything that the model read was not to be trusted: then no operation is applied by itself.
    pub is_tainted: bool,
    /// How many skills may leave.
    pub archiving: Archiving,
    /// The skill of the user that is most like the one that an operation creates, by the operation's index.
    pub closest: HashMap<usize, Closest>,
    /// Keys of operations that were undone or rejected (see [`rest_keys`](crate::dream::rest_keys)), and until when each rests.
    pub resting: BTreeMap<String, DateTime<Utc>>,
    /// How large skills may be.
    pub limits: Limits,
}

/// A skill that was shown.
#[derive(Debug, Clone)]
pub struct ShownSkill {
    /// Its full name.
    pub name: String,
    /// The version that was shown.
    pub version: i32,
    /// Who first wrote it.
    pub source: Source,
    /// Whether it is protected from background changes.
    pub is_pinned: bool,
    /// Whether it has files beside SKILL.md.
    pub has_files: bool,
    /// Whether its whole body was shown.
    pub is_whole: bool,
    /// Its SKILL.md, all of it, also where only a part was shown.
    pub raw: String,
    /// When skills were last merged into it.
    pub merged_at: Option<DateTime<Utc>>,
    /// How many merges led to it, one on top of the other.
    pub merges: u32,
    /// Whether text of it came from a tainted session, and no person has approved it.
    pub is_tainted: bool,
}

/// A conversation that was shown.
#[derive(Debug, Clone)]
pub struct ShownSession {
    /// The name that it was shown under, e.g. `s1`.
    pub name: String,
    /// Whether it is known to have gone well.
    pub is_success: bool,
}

/// What code found, which a model may only word.
#[derive(Debug, Clone, Default)]
pub struct Candidates {
    /// Pairs of skills that say the same, by name in any order.
    pub pairs: Vec<[String; 2]>,
    /// Prefixes of names that several skills share and that lack a guide, e.g. `mcp`.
    pub prefixes: BTreeSet<String>,
    /// Requests that came again, each as the names of the conversations that it came in.
    pub gaps: Vec<BTreeSet<String>>,
    /// Skills that failed, or say too little.
    pub weak: BTreeSet<String>,
}

/// How many skills may be archived.
#[derive(Debug, Clone, Copy)]
pub struct Archiving {
    /// For how long the tenant's archive keeps a skill; with 0 days, nothing is archived.
    pub days: u32,
    /// How many of the user's skills are open to learning.
    pub open_skills: usize,
    /// Skills that dreams have archived in the last 30 days.
    pub archived_lately: usize,
}

/// The skill that is most like a new one.
#[derive(Debug, Clone, PartialEq)]
pub struct Closest {
    /// Its full name.
    pub name: String,
    /// The cosine of both embeddings.
    pub cosine: f32,
}
