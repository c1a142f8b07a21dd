//! The state that a change wants for a skill, and how it becomes a version.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use knowhow_domain::scanner::Scan;
use knowhow_domain::{ChangeKind, Check, ResourceEntry, Result, SkillDocument, SkillName, Source, manifest};
use knowhow_store::WriteTx;
use knowhow_store::skills::{self, Change, Count, Expected, Lineage, Locked, SkillState, Written};
use serde_json::Value;

use super::bounds::{check_quotas, check_resources, keep_history_within};
use super::change::{Changed, Replaced};
use super::view::Skill;
use crate::{Ctx, follow_up, review};

/// The state that a change wants.
pub(crate) struct Draft {
    pub(crate) kind: ChangeKind,
    pub(crate) name: SkillName,
    pub(crate) document: SkillDocument,
    pub(crate) resources: Vec<ResourceEntry>,
    /// Bytes of resources that may not be stored yet.
    pub(crate) new_files: Vec<Vec<u8>>,
    /// Recognises the same request when it comes again.
    pub(crate) request_digest: Option<[u8; 32]>,
    /// Whether it is made by changing the state before, and so is as tainted.
    pub(crate) derived: bool,
    /// Conversations that it is made of, beside those that the request names: it is as tainted as they are, also later.
    pub(crate) named: Vec<String>,
    /// What an archive says that it was tainted by.
    pub(crate) brought: Option<Vec<String>>,
    /// The flag that is no part of the text.
    pub(crate) pinned: Option<bool>,
    /// How text was replaced to get here.
    pub(crate) replaced: Replaced,
    /// What the scanner says of it, where it was read ahead of the transaction.
    pub(crate) scan: Option<Scan>,
    /// Who made it, where it has been through the review.
    pub(crate) reviewed: Option<Reviewed>,
}

/// The origin of a change that has been through the review.
pub(crate) struct Reviewed {
    /// Who proposed it.
    pub(crate) author: String,
    /// In which session.
    pub(crate) session: Option<String>,
    /// The steps that were taken.
    pub(crate) checks: Vec<Check>,
    /// Whether a person has let it in. What nobody has read must not be tainted.
    pub(crate) by_person: bool,
}

/// What a draft is written over.
pub(crate) struct Base {
    pub(crate) locked: Option<Locked>,
    /// Who a new skill is by.
    pub(crate) source: Source,
    pub(crate) is_bulk: bool,
    pub(crate) now: DateTime<Utc>,
    /// What is checked with the change, where it is composed for a base that nothing was asked about yet.
    pub(crate) expected: Option<Expected>,
}

impl Draft {
    /// A text under a name, without other files.
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

    /// Another text for a skill that keeps its name and its other files.
    pub(crate) fn of(kind: ChangeKind, current: &Locked, document: SkillDocument) -> Result<Self> {
        let resources = current.skill.resources.clone();
        Ok(Self { resources, ..Self::new(kind, SkillName::parse(&current.skill.name)?, document) })
    }

    /// Makes it a version, unless the skill is like this already, and sets the flag.
    pub(crate) async fn write(self, ctx: &Ctx, tx: &mut WriteTx, base: Base) -> Result<Changed> {
        check_resources(&ctx.app.limits, &self.resources)?;
        let digest = manifest::state_digest(&self.document.digest(), &self.resources);
        let (pinned, replaced, now) = (self.pinned, self.replaced, base.now);
        let mut changed = match base.locked {
            Some(same) if same.skill.digest == digest => Changed::nothing(same),
            _ => NewVersion { draft: &self, base: &base, digest }.write(ctx, tx).await?,
        };
        changed.replaced = replaced;
        if let Some(pinned) = pinned.filter(|pinned| *pinned != changed.skill.pinned) {
            skills::set_flags(tx, changed.skill.id, pinned, now);
            (changed.skill.pinned, changed.skill.updated_at, changed.unchanged) = (pinned, now, false);
            changed.state = None;
        }
        Ok(changed)
    }

    /// The frontmatter as hosts read it; `None` where they are served another text than the stored one.
    fn frontmatter(&self) -> Option<Value> {
        let served = self.document.served(&self.name);
        matches!(served.text, Cow::Borrowed(_)).then_some(Value::Object(served.frontmatter))
    }

    fn keeps_text(&self, before: &SkillState) -> bool {
        before.document == self.document.raw()
    }

    /// What was made of another text goes with it; what was written into the frontmatter stays until somebody changes it.
    fn stays_enriched(&self, before: &SkillState) -> bool {
        let fields = self.document.fields();
        before.enriched
            && before.description == fields.description
            && before.triggers == fields.triggers
            && (before.discovery.is_none() || self.keeps_text(before))
    }
}

/// The version that a draft becomes, which differs from its base.
struct NewVersion<'a> {
    draft: &'a Draft,
    base: &'a Base,
    /// SHA-256 of the draft's state.
    digest: [u8; 32],
}

impl NewVersion<'_> {
    async fn write(&self, ctx: &Ctx, tx: &mut WriteTx) -> Result<Changed> {
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
            None if is_reviewed => review::check(ctx, tx, draft, before).await?,
            None => Vec::new(),
        };
        let mut named = ctx.call.named(None);
        named.extend(draft.named.iter().map(String::as_str));
        let change = Change {
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
                && review::is_reviewed(ctx),
            lineage: Lineage { named: &named, derived: draft.derived, brought: draft.brought.as_deref() },
            follow_up: follow_up::follow_up(ctx, *is_bulk, before, &draft.document),
            request_digest: draft.request_digest,
            now: *now,
        };
        let (says_else, keeps_summary) = (follow_up::embeds(&change.follow_up), !change.follow_up.outdates_summary);
        let mut planned = skills::plan(tx, change)?;
        // What the service itself brings never locks a user out.
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
        Ok(Changed {
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

    /// The state that is written. What the statement keeps of the base is as it was there, which is locked; `tainted` is known
    /// once the change is committed.
    fn state(&self, written: &Written, keeps_summary: bool) -> SkillState {
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
            source: before.map_or_else(|| base.source.as_str().to_owned(), |before| before.source.clone()),
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
