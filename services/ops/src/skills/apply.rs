//! The one place that changes a skill, whoever asks: lock, let the verb propose the new state, check it against
//! limits and quotas, write it as a new version.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::OnceLock;

use knowhow_domain::{
    ChangeKind, Error, FieldError, ResourceEntry, Result, SkillDocument, SkillId, SkillName, Source, manifest,
};
use knowhow_store::skills::{self, Change, Lineage, Loaded, Locked, SkillKey};
use knowhow_store::{Principal, TenantTx, history};
use serde_json::Value;

use super::view::{After, Skill};
use crate::{App, Ctx, jobs};

/// Where a change comes from.
pub(super) struct Origin<'a> {
    pub(super) ctx: &'a Ctx,
    kind: ChangeKind,
    source: Source,
    is_bulk: bool,
    /// The skill that says something else since, which is to be embedded.
    says_else: OnceLock<SkillId>,
}

impl<'a> Origin<'a> {
    /// One person.
    pub(super) fn new(ctx: &'a Ctx, kind: ChangeKind, source: Source) -> Self {
        Self { ctx, kind, source, is_bulk: false, says_else: OnceLock::new() }
    }

    /// One of many changes, for whose vectors nobody waits.
    pub(super) fn in_bulk(self) -> Self {
        Self { is_bulk: true, ..self }
    }

    /// Makes the change durable, and begins what is done at once after that.
    pub(super) async fn commit(&self, tx: TenantTx) -> Result<()> {
        tx.commit().await?;
        if let Some(skill) = self.says_else.get().filter(|_| !self.is_bulk) {
            jobs::embed_at_once(self.ctx, *skill);
        }
        Ok(())
    }
}

/// The state a verb wants.
pub(super) struct Proposal {
    pub(super) name: SkillName,
    pub(super) document: SkillDocument,
    pub(super) resources: Vec<ResourceEntry>,
    /// Bytes of resources that may not be stored yet.
    pub(super) new_files: Vec<Vec<u8>>,
    /// Recognises the same request when it comes again.
    pub(super) request_digest: Option<[u8; 32]>,
    /// Whether it is made by changing the state before, and so is as tainted.
    pub(super) derived: bool,
    /// What an archive says that it was tainted by.
    pub(super) brought: Option<Vec<String>>,
}

/// What came of it.
pub(super) struct Applied {
    pub(super) skill: Skill,
    pub(super) created: bool,
    pub(super) unchanged: bool,
}

/// Applies a change in the caller's transaction. `propose` sees the current state; `None` says that the request has been
/// carried out before.
pub(super) async fn apply(
    tx: &mut TenantTx,
    key: &SkillKey,
    origin: &Origin<'_>,
    mut propose: impl AsyncFnMut(&mut TenantTx, Option<&Locked>) -> Result<Option<Proposal>>,
) -> Result<Applied> {
    // A second round is needed only where another writer created the skill while the first waited for its lock.
    for _ in 0..2 {
        let locked = skills::lock(tx, key).await?;
        let proposal = match (propose(tx, locked.as_ref()).await?, &locked) {
            (Some(proposal), _) => proposal,
            (None, Some(locked)) => return Ok(unchanged(locked)),
            (None, None) => return Err(Error::internal("a change of nothing is never done")),
        };
        check_resources(&origin.ctx.app, &proposal.resources)?;
        let digest = manifest::state_digest(&proposal.document.digest(), &proposal.resources);
        if let Some(locked) = locked.as_ref().filter(|l| l.skill.digest == digest) {
            return Ok(unchanged(locked));
        }
        if let Some(applied) = write(tx, origin, locked.as_ref(), &proposal).await? {
            return Ok(applied);
        }
    }
    Err(Error::internal("a locked skill changed under its lock"))
}

async fn write(
    tx: &mut TenantTx,
    origin: &Origin<'_>,
    locked: Option<&Locked>,
    proposal: &Proposal,
) -> Result<Option<Applied>> {
    let ctx = origin.ctx;
    let before = locked.map(|l| &l.skill);
    let named = ctx.call.named(None);
    let change = Change {
        name: &proposal.name,
        document: &proposal.document,
        frontmatter: frontmatter_of(proposal),
        resources: &proposal.resources,
        new_files: &proposal.new_files,
        base_version: before.map_or(0, |b| b.version),
        base_bytes: before.map_or(0, knowhow_store::skills::SkillState::bytes),
        base_resources: before.map_or(&[], |b| &b.resources),
        source: origin.source,
        kind: origin.kind,
        session: ctx.call.session.as_deref(),
        lineage: Lineage { named: &named, derived: proposal.derived, brought: proposal.brought.as_deref() },
        follow_up: jobs::follow_up(&ctx.app, origin.is_bulk, before, &proposal.document),
        request_digest: proposal.request_digest,
        now: ctx.now(),
    };
    let Some(written) = skills::write(tx, &change).await? else { return Ok(None) };
    if jobs::embeds(&change.follow_up) {
        origin.says_else.get_or_init(|| written.id);
    }
    let after = After {
        name: proposal.name.as_str(),
        fields: proposal.document.fields(),
        document: proposal.document.raw(),
        cuts: proposal.document.cuts(),
        resources: &proposal.resources,
        digest: manifest::state_digest(&proposal.document.digest(), &proposal.resources),
        source: origin.source.as_str(),
        now: change.now,
    };
    let skill = after.state(before, &written);
    // What the service itself brings never locks a user out.
    if origin.kind != ChangeKind::Sync {
        check_quotas(&ctx.principal, before.is_none(), skill.bytes() > change.base_bytes, &written)?;
    }
    keep_history_within_bounds(ctx, tx, &written).await?;
    Ok(Some(Applied {
        skill: Skill::of(Loaded {
            skill,
            times_used: locked.map_or(0, |l| l.times_used),
            last_used_at: locked.and_then(|l| l.last_used_at),
            lesson: None,
        }),
        created: before.is_none(),
        unchanged: false,
    }))
}

/// The frontmatter as hosts read it; `None` where they are served another text than the stored one.
fn frontmatter_of(proposal: &Proposal) -> Option<Value> {
    let served = proposal.document.served(&proposal.name);
    matches!(served.text, Cow::Borrowed(_)).then_some(Value::Object(served.frontmatter))
}

fn unchanged(locked: &Locked) -> Applied {
    let Locked { skill, times_used, last_used_at, .. } = locked;
    let loaded = Loaded { skill: skill.clone(), times_used: *times_used, last_used_at: *last_used_at, lesson: None };
    Applied { skill: Skill::of(loaded), created: false, unchanged: true }
}

/// The oldest versions leave where the skill has too many, or all that is kept of the user's skills is too large.
async fn keep_history_within_bounds(ctx: &Ctx, tx: &mut TenantTx, written: &skills::Written) -> Result<()> {
    let settings = ctx.principal.settings();
    let keep = i32::try_from(settings.versions_per_skill).unwrap_or(i32::MAX);
    if written.version > keep {
        history::trim(tx, written.id, written.version, keep).await?;
    }
    let most = settings.most_stored_bytes();
    if written.stored_bytes.unsigned_abs() > most && !history::make_room(tx, most, ctx.now()).await? {
        return Err(Error::TooLarge { what: "the user's skills with their history".into(), limit: most });
    }
    Ok(())
}

/// Quotas bind what grows: whoever is over one can still shrink and delete.
fn check_quotas(principal: &Principal, created: bool, grew: bool, written: &skills::Written) -> Result<()> {
    let settings = principal.settings();
    if created && i64::from(written.skill_count) > i64::from(settings.skills_per_user) {
        return Err(Error::Quota(format!(
            "the user keeps {} skills, the tenant's limit; delete one or merge two, or ask for a larger quota",
            settings.skills_per_user
        )));
    }
    if grew && written.byte_count.unsigned_abs() > settings.bytes_per_user {
        return Err(Error::TooLarge { what: "the user's skills together".into(), limit: settings.bytes_per_user });
    }
    Ok(())
}

fn check_resources(app: &App, resources: &[ResourceEntry]) -> Result<()> {
    let limits = &app.limits;
    if resources.len() > limits.resources {
        let detail = format!("a skill has at most {} resources, this one has {}", limits.resources, resources.len());
        return Err(Error::Invalid(vec![FieldError::new("/resources", detail)]));
    }
    if let Some(path) = find_file_that_is_a_folder(resources) {
        let detail = format!("'{path}' would be a file and a folder; name one of them otherwise");
        return Err(Error::invalid("/path", detail));
    }
    if let Some(large) = resources.iter().find(|r| r.size > limits.resource_bytes as u64) {
        let what = format!("the resource '{}'", large.path);
        return Err(Error::TooLarge { what, limit: limits.resource_bytes as u64 });
    }
    if resources.iter().map(|r| r.size).sum::<u64>() > limits.resources_total_bytes as u64 {
        let what = "the skill's resources together".into();
        return Err(Error::TooLarge { what, limit: limits.resources_total_bytes as u64 });
    }
    Ok(())
}

/// Such a skill could not be unpacked again.
fn find_file_that_is_a_folder(resources: &[ResourceEntry]) -> Option<&str> {
    let paths: HashSet<&str> = resources.iter().map(|r| r.path.as_str()).collect();
    let folders = resources.iter().flat_map(|r| r.path.match_indices('/').map(|(at, _)| &r.path[..at]));
    folders.into_iter().find(|folder| paths.contains(folder))
}

/// Refuses where the caller's base is not the current version; 0 stands for a skill that does not exist.
pub(super) fn check_version(expected: Option<i32>, current: Option<&Locked>) -> Result<()> {
    let current_version = current.map_or(0, |l| l.skill.version);
    match expected {
        Some(version) if version != current_version => Err(Error::VersionConflict { current_version }),
        _ => Ok(()),
    }
}
