//! The proposed state of a skill, and the write that stores it as a version.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use knowhow_domain::review::scanner::Scan;
use knowhow_domain::skills::manifest;
use knowhow_domain::{ChangeKind, Check, ResourceEntry, Result, SkillDocument, SkillName, Source};
use knowhow_store::WriteTx;
use knowhow_store::skills::{self, Count, Expected, Lineage, Locked, NewSkillState, QueuedChange, SkillState};
use serde_json::Value;

use crate::change::limits::{check_quotas, check_resources, keep_history_within};
use crate::change::{ChangeResult, Replaced};
use crate::change::{checks, guard};
use crate::skills::follow_up;
use crate::skills::view::Skill;
use crate::{Ctx, review};

/// The state that a change proposes.
pub(crate) struct Draft {
    pub(crate) kind: ChangeKind,
    pub(crate) name: SkillName,
    pub(crate) document: SkillDocument,
    pub(crate) resources: Vec<ResourceEntry>,
    /// The contents of resources that might not be stored yet.
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
    /// The session that the proposal comes from; `None` if it comes from no session.
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

    /// Writes a version unless the skill already has this state, and sets the pinned flag if the draft changes it.
    pub(crate) async fn write(self, ctx: &Ctx, tx: &mut WriteTx, base: Base) -> Result<ChangeResult> {
        // Unchanged files are not checked, because they may be older than a limit or rule.
        if base.locked.as_ref().is_none_or(|current| current.skill.resources != self.resources) {
            check_resources(ctx.principal.settings(), &self.resources)?;
        }
        let digest = manifest::state_digest(&self.document.digest(), &self.resources);
        let is_decided = self.reviewed.is_some();
        let (pinned, replaced, now) = (self.pinned, self.replaced, base.now);
        let mut changed = match base.locked {
            Some(same) if same.skill.digest == digest => ChangeResult::nothing(same),
            _ => NewVersion { draft: &self, base: &base, digest }.write(ctx, tx).await?,
        };
        changed.replaced = replaced;
        if let Some(pinned) = pinned.filter(|pinned| *pinned != changed.skill.pinned) {
            // The checks or the reviewer of a new text also cover the flag. A change to the flag alone is checked here.
            if changed.written.is_none() && !is_decided {
                guard::guard_skill(ctx, tx).await?;
            }
            skills::set_flags(tx, changed.skill.id, pinned, now);
            (changed.skill.pinned, changed.skill.updated_at, changed.unchanged) = (pinned, now, false);
            changed.state = None;
        }
        Ok(changed)
    }

    /// Returns the frontmatter as JSON, or `None` if MCP hosts receive a corrected SKILL.md instead of the stored
    /// text.
    fn frontmatter(&self) -> Option<Value> {
        let served = self.document.served(&self.name);
        matches!(served.text, Cow::Borrowed(_)).then_some(Value::Object(served.frontmatter))
    }

    fn keeps_text(&self, before: &SkillState) -> bool {
        before.document == self.document.raw()
    }

    /// Returns whether the skill still counts as enriched. Generated discovery words are valid only for the text they
    /// were made from; generated frontmatter fields stay until an author changes them.
    fn stays_enriched(&self, before: &SkillState) -> bool {
        let fields = self.document.fields();
        before.enriched
            && before.description == fields.description
            && before.triggers == fields.triggers
            && (before.discovery.is_none() || self.keeps_text(before))
    }
}

/// A version to write, which differs from its base.
struct NewVersion<'a> {
    draft: &'a Draft,
    base: &'a Base,
    /// SHA-256 of the draft's state.
    digest: [u8; 32],
}

impl NewVersion<'_> {
    async fn write(&self, ctx: &Ctx, tx: &mut WriteTx) -> Result<ChangeResult> {
        let Self { draft, base, digest } = *self;
        let Base { locked, source, is_bulk, now, expected } = base;
        let before = locked.as_ref().map(|locked| &locked.skill);
        let is_release = draft.kind == ChangeKind::Sync && *source == Source::Starter;
        if before.is_none() && !is_release {
            draft.name.require_unreserved()?;
        }
        let is_reviewed = draft.reviewed.is_none() && !is_release;
        let checks = match &draft.reviewed {
            Some(reviewed) => reviewed.checks.clone(),
            None if is_reviewed => checks::check(ctx, tx, draft, before).await?,
            None => Vec::new(),
        };
        let mut named = ctx.call.named(None);
        named.extend(draft.named.iter().map(String::as_str));
        let change = NewSkillState {
            name: &draft.name,
            document: &draft.document,
            digest,
            frontmatter: draft.frontmatter(),
            resources: &draft.resources,
            new_files: &draft.new_files,
            base: before,
            source: *source,
            kind: draft.kind,
            session: match &draft.reviewed {
                Some(reviewed) => reviewed.session.as_deref(),
                None => ctx.call.session.as_deref(),
            },
            author: draft.reviewed.as_ref().map(|reviewed| reviewed.author.as_str()),
            is_reviewed: (is_reviewed || draft.reviewed.as_ref().is_some_and(|reviewed| !reviewed.by_person))
                && checks::is_reviewed(ctx),
            lineage: Lineage { named: &named, derived: draft.derived, brought: draft.brought.as_deref() },
            follow_up: follow_up::follow_up(ctx, *is_bulk, before, &draft.document),
            request_digest: draft.request_digest,
            now: *now,
        };
        let (says_else, keeps_summary) = (follow_up::embeds(&change.follow_up), !change.follow_up.outdates_summary);
        let mut planned = skills::plan(tx, change)?;
        // A user's quota must not prevent an update of the service's starters.
        if !is_release {
            check_quotas(&ctx.principal, before, &planned)?;
        }
        if let Some(expected) = expected {
            planned = planned.expecting(*expected);
        }
        let written = planned.write(tx)?;
        review::note(tx, written.id, &checks, *now);
        let skill = self.state(&written, keeps_summary);
        keep_history_within(ctx, tx, &written).await?;
        let times_used = locked.as_ref().map_or(0, |locked| locked.times_used);
        let last_used_at = locked.as_ref().and_then(|locked| locked.last_used_at);
        Ok(ChangeResult {
            state: Some(skill.clone()),
            skill: Skill::of(skill, Count { times_used, last_used_at }),
            created: before.is_none(),
            is_first: before.is_none() && written.skill_count == 1,
            unchanged: false,
            replaced: Replaced::NOTHING,
            successor: None,
            says_else,
            written: Some(written),
        })
    }

    /// Returns the written state. Members that the statement does not change are copied from the locked base;
    /// `tainted` is known only after the commit.
    fn state(&self, written: &QueuedChange, keeps_summary: bool) -> SkillState {
        let Self { draft, base, digest } = *self;
        let fields = draft.document.fields();
        let before = base.locked.as_ref().map(|locked| &locked.skill);
        SkillState {
            id: written.id,
            name: draft.name.as_str().to_owned(),
            description: fields.description.clone(),
            summary: fields.summary.clone(),
            made_summary: before.filter(|_| keeps_summary).and_then(|before| before.made_summary.clone()),
            category: fields.category.clone(),
            tags: fields.tags.clone(),
            triggers: fields.triggers.clone(),
            see_also: fields.see_also.clone(),
            role: fields.role.map(|role| role.as_str().to_owned()),
            attributes: fields.attributes.clone(),
            reserved: fields.reserved,
            alias: fields.alias(draft.name.as_str()),
            source: before.map_or(base.source, |before| before.source),
            pinned: before.is_some_and(|before| before.pinned),
            enriched: draft.kind == ChangeKind::Enrich || before.is_some_and(|before| draft.stays_enriched(before)),
            discovery: before.filter(|before| draft.keeps_text(before)).and_then(|before| before.discovery.clone()),
            importance: before.map_or(0.7, |before| before.importance),
            decay_rate: before.and_then(|before| before.decay_rate),
            version: written.version,
            tainted: before.is_some_and(|before| before.tainted),
            digest: digest.to_vec(),
            document: draft.document.raw().to_owned(),
            cuts: draft.document.cuts(),
            resources: draft.resources.clone(),
            created_at: before.map_or(base.now, |before| before.created_at),
            updated_at: base.now,
        }
    }
}
