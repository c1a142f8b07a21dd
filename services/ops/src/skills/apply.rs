//! The one place that changes a skill, whoever asks: lock, let the verb propose the new state, check it against
//! limits and quotas, write it as a new version.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Mutex, OnceLock, PoisonError};

use knowhow_domain::{Error, FieldError, ResourceEntry, Result, SkillDocument, SkillId, SkillName, manifest};
use knowhow_store::skills::{self, Change, ChangeKind, Lineage, Loaded, Locked, SkillKey, SkillState, Source, Written};
use knowhow_store::{Principal, WriteTx, history};
use serde_json::Value;

use super::view::{After, Skill};
use crate::{App, Call, jobs};

/// Where a change comes from.
pub(super) struct Origin<'a> {
    pub(super) principal: &'a Principal,
    pub(super) call: &'a Call,
    kind: ChangeKind,
    source: Source,
    is_bulk: bool,
    /// The skill that says something else since, which is to be embedded.
    says_else: OnceLock<SkillId>,
    /// The change that is on its way.
    written: Mutex<Option<Written>>,
}

impl<'a> Origin<'a> {
    /// One person.
    pub(super) fn new(principal: &'a Principal, call: &'a Call, kind: ChangeKind, source: Source) -> Self {
        Self { principal, call, kind, source, is_bulk: false, says_else: OnceLock::new(), written: Mutex::default() }
    }

    /// One of many changes, for whose vectors nobody waits.
    pub(super) fn in_bulk(self) -> Self {
        Self { is_bulk: true, ..self }
    }

    /// Makes the change durable, completes what is shown of it with what the database found out, and begins what is done
    /// at once after that.
    pub(super) async fn commit(&self, app: &App, tx: WriteTx, shown: Option<&mut Skill>) -> Result<()> {
        tx.commit().await?;
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let (Some(written), Some(skill)) = (written, shown) {
            skill.tainted = written.is_tainted()?;
        }
        if let Some(skill) = self.says_else.get().filter(|_| !self.is_bulk) {
            jobs::embed_at_once(app, self.principal, *skill);
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
    app: &App,
    tx: &mut WriteTx,
    key: &SkillKey,
    origin: &Origin<'_>,
    mut propose: impl AsyncFnMut(&mut WriteTx, Option<&Locked>) -> Result<Option<Proposal>>,
) -> Result<Applied> {
    let locked = skills::lock(tx, key).await?;
    let proposal = match (propose(tx, locked.as_ref()).await?, &locked) {
        (Some(proposal), _) => proposal,
        (None, Some(locked)) => return Ok(unchanged(locked)),
        (None, None) => return Err(Error::internal("a change of nothing is never done")),
    };
    check_resources(app, &proposal.resources)?;
    let digest = manifest::state_digest(&proposal.document.digest(), &proposal.resources);
    match locked.as_ref().filter(|locked| locked.skill.digest == digest) {
        Some(locked) => Ok(unchanged(locked)),
        None => write(app, tx, origin, locked.as_ref(), &proposal).await,
    }
}

async fn write(
    app: &App,
    tx: &mut WriteTx,
    origin: &Origin<'_>,
    locked: Option<&Locked>,
    proposal: &Proposal,
) -> Result<Applied> {
    let before = locked.map(|l| &l.skill);
    let named = origin.call.named(None);
    let change = Change {
        name: &proposal.name,
        document: &proposal.document,
        frontmatter: frontmatter_of(proposal),
        resources: &proposal.resources,
        new_files: &proposal.new_files,
        base: before,
        source: origin.source,
        kind: origin.kind,
        session: origin.call.session.as_deref(),
        lineage: Lineage { named: &named, derived: proposal.derived, brought: proposal.brought.as_deref() },
        follow_up: jobs::follow_up(app, origin.is_bulk, before, &proposal.document),
        request_digest: proposal.request_digest,
        now: app.now(),
    };
    let (now, embeds) = (change.now, jobs::embeds(&change.follow_up));
    let written = skills::write(tx, change)?;
    if embeds {
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
        now,
    };
    let skill = after.state(before, &written);
    // What the service itself brings never locks a user out.
    if origin.kind != ChangeKind::Sync {
        check_quotas(
            origin.principal,
            before.is_none(),
            skill.bytes() > before.map_or(0, SkillState::bytes),
            &written,
        )?;
    }
    keep_history_within_bounds(app, tx, origin.principal, &written).await?;
    *origin.written.lock().unwrap_or_else(PoisonError::into_inner) = Some(written);
    Ok(Applied {
        skill: Skill::of(Loaded {
            skill,
            times_used: locked.map_or(0, |l| l.times_used),
            last_used_at: locked.and_then(|l| l.last_used_at),
            lesson: None,
        }),
        created: before.is_none(),
        unchanged: false,
    })
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
async fn keep_history_within_bounds(
    app: &App,
    tx: &mut WriteTx,
    principal: &Principal,
    written: &Written,
) -> Result<()> {
    let settings = principal.settings();
    let keep = i32::try_from(settings.versions_per_skill).unwrap_or(i32::MAX);
    if written.version > keep {
        history::trim(tx, written.id, written.version, keep);
    }
    let most = settings.most_stored_bytes();
    if written.most_stored_bytes.unsigned_abs() > most && !history::make_room(tx, most, app.now()).await? {
        return Err(Error::TooLarge { what: "the user's skills with their history".into(), limit: most });
    }
    Ok(())
}

/// Quotas bind what grows: whoever is over one can still shrink and delete.
fn check_quotas(principal: &Principal, created: bool, grew: bool, written: &Written) -> Result<()> {
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
