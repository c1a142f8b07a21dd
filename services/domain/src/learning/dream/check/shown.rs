//! Data that a plan is checked against, including everything the model was shown.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use chrono::{DateTime, Utc};

use crate::learning::dream::RunPass;
use crate::{Limits, Source};

/// Data that a plan is checked against.
#[derive(Debug, Clone)]
pub struct Shown {
    /// The pass that asked the model.
    pub pass: RunPass,
    /// Time of the check.
    pub now: DateTime<Utc>,
    /// The skills shown to the model, without duplicates.
    pub skills: Vec<ShownSkill>,
    /// Names of all skills of the user, shown or not.
    pub names: HashSet<String>,
    /// The conversations shown to the model, without duplicates.
    pub sessions: Vec<ShownSession>,
    /// The candidates that code found before asking the model.
    pub candidates: Candidates,
    /// Whether the model read untrusted content; then no operation is applied automatically.
    pub is_tainted: bool,
    /// Limits on archiving.
    pub archiving: Archiving,
    /// Existing skill of the user that is most similar to a proposed new skill. The key is the index of the operation.
    pub closest: HashMap<usize, ClosestSkill>,
    /// Keys of undone, rejected or undecided operations, each with the time until which operations with this key are
    /// refused. See [`rest_keys`](crate::learning::dream::rest_keys).
    pub resting: BTreeMap<String, DateTime<Utc>>,
    /// For each skill, the shown conversations that are no new evidence. They began before the last patch by learning, or
    /// a person has rejected a patch for them.
    pub answered: BTreeMap<String, BTreeSet<String>>,
    /// For each new skill, the new skills before it with the same content. Keys and values are indices of operations.
    pub twins: HashMap<usize, Vec<usize>>,
    /// Size limits for skills.
    pub limits: Limits,
}

/// A skill that was shown to the model.
#[derive(Debug, Clone)]
pub struct ShownSkill {
    /// Full name of the skill, with its namespaces.
    pub name: String,
    /// The version shown to the model.
    pub version: i32,
    /// Author of the first version.
    pub source: Source,
    /// Whether the skill is pinned: only its owner may change it.
    pub is_pinned: bool,
    /// Whether the skill has files other than SKILL.md.
    pub has_files: bool,
    /// Whether the model was shown the whole body.
    pub is_whole: bool,
    /// The complete SKILL.md, even if only a part was shown.
    pub raw: String,
    /// Time of the last merge into the skill; `None` before the first merge.
    pub merged_at: Option<DateTime<Utc>>,
    /// Number of successive merges that led to the skill.
    pub merges: u32,
    /// Whether the skill has text from a tainted session that no person has approved.
    pub is_tainted: bool,
    /// Number of bytes that learning has added to the text within 7 days.
    pub grown: i64,
}

/// A conversation that was shown to the model.
#[derive(Debug, Clone)]
pub struct ShownSession {
    /// Label in the prompt, e.g. `s1`.
    pub name: String,
    /// Whether the conversation is known to have succeeded.
    pub is_success: bool,
}

/// Candidates found by code. Operations on other skills and requests are refused or wait for a person.
#[derive(Debug, Clone, Default)]
pub struct Candidates {
    /// Pairs of skills with the same content. The two names of a pair are in any order.
    pub pairs: Vec<[String; 2]>,
    /// Name prefixes shared by several skills without a guide, e.g. `mcp`.
    pub prefixes: BTreeSet<String>,
    /// Labels of the conversations with each recurring request.
    pub gaps: Vec<BTreeSet<String>>,
    /// Skills close to a recurring request, which may be patched to answer it.
    pub near: BTreeSet<String>,
    /// Skills that led to failures or are too short.
    pub weak: BTreeSet<String>,
}

/// Limits on archiving.
#[derive(Debug, Clone, Copy)]
pub struct Archiving {
    /// Days that the tenant's archive keeps skills; with 0 days, dreams archive no skills.
    pub days: u32,
    /// Number of the user's skills that dreams may change.
    pub open_skills: usize,
    /// Number of skills that dreams archived in the last 30 days.
    pub archived_lately: usize,
}

/// The skill most similar to a new one.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosestSkill {
    /// Full name of the skill, with its namespaces.
    pub name: String,
    /// Cosine between the embeddings of the new skill and this skill.
    pub cosine: f32,
}
