//! Writes the proposed state of a skill as a version.

use knowhow_domain::skills::manifest;
use knowhow_domain::{ChangeKind, Result, Source};
use knowhow_store::WriteTx;
use knowhow_store::skills::{self, Count, Lineage, NewSkillState, QueuedChange, SkillState};

use super::draft::{Base, Draft, Replaced};
use super::limits::{check_quotas, check_resources, keep_history_within};
use super::proposal::ChangeResult;
use super::{checks, guard, review_policy};
use crate::skills::follow_up;
use crate::skills::view::Skill;
use crate::{Ctx, review};

impl Draft {
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
                && review_policy::is_reviewed(ctx),
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
