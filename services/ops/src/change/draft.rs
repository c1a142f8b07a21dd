//! The proposed state of a skill.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use knowhow_domain::review::scanner::Scan;
use knowhow_domain::skills::patch::Strategy;
use knowhow_domain::{ChangeKind, Check, ResourceEntry, Result, SkillDocument, SkillName, Source};
use knowhow_store::skills::{Expected, Locked, SkillState};
use serde_json::Value;

/// The state that a change proposes.
pub(crate) struct Draft {
    pub(crate) kind: ChangeKind,
    pub(crate) name: SkillName,
    pub(crate) document: SkillDocument,
    pub(crate) resources: Vec<ResourceEntry>,
    /// The contents of resources that may not be stored yet.
    pub(crate) new_files: Vec<Vec<u8>>,
    /// A digest of the request, to detect a repeated request.
    pub(crate) request_digest: Option<[u8; 32]>,
    /// Whether the draft is derived from the previous state, and so inherits the taint of that state.
    pub(crate) derived: bool,
    /// Sessions that the draft is derived from, in addition to the sessions of the request. The skill shares the
    /// taint of these sessions, even if they become tainted later.
    pub(crate) named: Vec<String>,
    /// Additional sources of taint, e.g. from an imported archive. `None` adds no source.
    pub(crate) brought: Option<Vec<String>>,
    /// The new pinned flag, if the change sets it. The flag is not part of the text.
    pub(crate) pinned: Option<bool>,
    /// The places that a patch replaced, for the patch's answer.
    pub(crate) replaced: Replaced,
    /// The scanner's result, if the text was scanned before the transaction.
    pub(crate) scan: Option<Scan>,
    /// The origin of a change that went through review; `None` for a change without a review.
    pub(crate) reviewed: Option<Reviewed>,
}

/// The origin of a change that went through review.
pub(crate) struct Reviewed {
    /// The actor who proposed the change.
    pub(crate) author: String,
    /// The session of the proposal; `None` if the proposal had no session.
    pub(crate) session: Option<String>,
    pub(crate) checks: Vec<Check>,
    /// Whether a reviewer approved the change. A change without an approval must not be tainted.
    pub(crate) by_person: bool,
}

/// The state that a draft is written over.
pub(crate) struct Base {
    pub(crate) locked: Option<Locked>,
    /// The source of a new skill.
    pub(crate) source: Source,
    pub(crate) is_bulk: bool,
    pub(crate) now: DateTime<Utc>,
    /// Conditions that the writing statement checks, if the base comes from the cache.
    pub(crate) expected: Option<Expected>,
}

/// The number of places that a patch replaced, and the strategy that matched them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Replaced {
    pub(crate) places: usize,
    /// The matching strategy; with several edits, the most tolerant one.
    pub(crate) matched: Strategy,
}

impl Replaced {
    pub(crate) const NOTHING: Self = Self { places: 0, matched: Strategy::Exact };
}

impl Draft {
    /// Creates a draft of a skill without resources.
    pub(crate) fn new(kind: ChangeKind, name: SkillName, document: SkillDocument) -> Self {
        Self {
            kind,
            name,
            document,
            resources: Vec::new(),
            new_files: Vec::new(),
            request_digest: None,
            derived: false,
            named: Vec::new(),
            brought: None,
            pinned: None,
            replaced: Replaced::NOTHING,
            scan: None,
            reviewed: None,
        }
    }

    /// Creates a draft with a new text and the skill's current name and resources.
    pub(crate) fn of(kind: ChangeKind, current: &Locked, document: SkillDocument) -> Result<Self> {
        let resources = current.skill.resources.clone();
        Ok(Self { resources, ..Self::new(kind, SkillName::parse(&current.skill.name)?, document) })
    }

    /// Returns the frontmatter as JSON, or `None` if MCP hosts receive a corrected SKILL.md instead of the stored
    /// text.
    pub(super) fn frontmatter(&self) -> Option<Value> {
        let served = self.document.served(&self.name);
        matches!(served.text, Cow::Borrowed(_)).then_some(Value::Object(served.frontmatter))
    }

    /// Returns whether the SKILL.md is unchanged.
    pub(super) fn keeps_text(&self, before: &SkillState) -> bool {
        before.document == self.document.raw()
    }

    /// Returns whether the skill still counts as enriched. Generated discovery words are valid only for the text they
    /// were made from; generated frontmatter fields stay until an author changes them.
    pub(super) fn stays_enriched(&self, before: &SkillState) -> bool {
        let fields = self.document.fields();
        before.enriched
            && before.description == fields.description
            && before.triggers == fields.triggers
            && (before.discovery.is_none() || self.keeps_text(before))
    }
}
