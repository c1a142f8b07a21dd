//! Runs one round of a sync: compares both sides and carries out the steps.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;
use knowhow_domain::{SkillId, SkillName};

use super::decide::{FileDigests, Mode, SkillSides, SyncStep, decide, has_own_change};
use super::folder::Folder;
use super::limit::{DeletionCounts, SideCounts};
use super::remote::{self, FullSkill, ServiceSkills};
use super::report::{SyncEntry, SyncOutcome, SyncReport};
use super::state::{Lock, SyncState};
use super::tree::Tree;
use crate::service::{Service, ServiceError};

/// Options of a sync.
pub(super) struct SyncOptions {
    pub(super) mode: Mode,
    /// Whether to delete a skill on one side after it was deleted on the other.
    pub(super) deletes: bool,
    /// Whether to delete even more than half of the skills at once.
    pub(super) deletes_all: bool,
    /// Whether to report the steps without taking them.
    pub(super) is_dry: bool,
    /// Namespace that is prepended to the names of the folder's skills.
    pub(super) prefix: Option<SkillName>,
}

/// The two sides of a sync, and its options.
#[derive(Clone, Copy)]
pub(super) struct SyncSides<'a> {
    pub(super) service: &'a Service,
    pub(super) options: &'a SyncOptions,
    /// Path of the folder.
    pub(super) root: &'a Path,
}

/// A round in progress.
pub(super) struct SyncRound<'a> {
    pub(super) service: &'a Service,
    pub(super) options: &'a SyncOptions,
    /// The folder to write to; `None` in a dry run.
    pub(super) tree: Option<&'a Tree>,
    pub(super) folder: Folder,
    pub(super) remote: ServiceSkills,
    pub(super) state: SyncState,
    pub(super) report: SyncReport,
}

/// The steps of a round by kind. Each list has the names of the skills.
#[derive(Default)]
struct SyncSteps {
    sends: Vec<String>,
    deletes: Vec<String>,
    writes: Vec<String>,
    removes: Vec<String>,
    /// Numbers of skills in the service, used to limit deletions there.
    in_service: SideCounts,
    /// Numbers of skills in the folder, used to limit deletions there.
    in_folder: SideCounts,
}

/// Runs one round. Without a lock, the round is a dry run. `gone` has the numbers of skills that earlier rounds
/// deleted. `is_ripe` returns whether a skill has been missing long enough to count as removed.
///
/// # Errors
/// Fails if the folder cannot be read or written. Errors from the service are in the report.
pub(super) async fn run(
    between: SyncSides<'_>,
    lock: Option<&Lock>,
    gone: DeletionCounts,
    is_ripe: impl Fn(&str) -> bool,
) -> Result<SyncReport> {
    let SyncSides { service, options, root } = between;
    let mut folder = Folder::read(root, options.prefix.as_ref())?;
    let tree = lock.map(Lock::tree);
    let mut report = begin(&mut folder, tree);
    let remembered = SyncState::load(root)?;
    let prefix = options.prefix.as_ref().map(|prefix| format!("{prefix}/")).unwrap_or_default();
    let remote = match remote::list(service, &prefix).await {
        Ok(remote) => remote,
        Err(refusal) => {
            report.stopped = Some(refusal);
            return Ok(report);
        }
    };
    // The stored state does not apply if it belongs to another user or service.
    let state = match remembered.of == remote.of {
        true => remembered.clone(),
        false => SyncState { of: remote.of.clone(), skills: BTreeMap::new() },
    };
    let mut round = SyncRound { service, options, tree, folder, remote, state, report };
    round.report.stopped = round.carry_out(gone, &is_ripe).await.err();
    round.report.skills.sort_by(|one, other| (&one.name, &one.path).cmp(&(&other.name, &other.path)));
    // If the folder was replaced during the round, this state does not apply to the new folder and is not saved.
    if let Some(lock) = lock.filter(|lock| round.state != remembered && lock.is_of(root)) {
        round.state.save(lock.tree())?;
    }
    Ok(round.report)
}

/// Creates the report with the results that are known from the folder alone. Removes incomplete files.
fn begin(folder: &mut Folder, tree: Option<&Tree>) -> SyncReport {
    if let Some(tree) = tree {
        // Incomplete files are useless: a sync was killed before they could replace the files that they were meant for.
        folder.parts.iter().for_each(|part| drop(tree.remove(part)));
    }
    SyncReport {
        folder: folder.root().display().to_string(),
        is_dry: tree.is_none(),
        indexed: folder.skills.len(),
        skills: std::mem::take(&mut folder.settled).into_iter().map(SyncEntry::of).collect(),
        left_out: std::mem::take(&mut folder.left_out),
        stopped: None,
    }
}

impl SyncRound<'_> {
    async fn carry_out(&mut self, gone: DeletionCounts, is_ripe: &impl Fn(&str) -> bool) -> Result<(), ServiceError> {
        let names: BTreeSet<&String> =
            self.folder.skills.keys().chain(self.state.skills.keys()).chain(self.remote.skills.keys()).collect();
        let mut work = SyncSteps {
            in_service: SideCounts { gone: gone.from_service, ..SideCounts::default() },
            in_folder: SideCounts { gone: gone.from_folder, ..SideCounts::default() },
            ..SyncSteps::default()
        };
        for name in names.into_iter().cloned().collect::<Vec<_>>() {
            let deletes = self.options.deletes && (self.folder.skills.contains_key(&name) || is_ripe(&name));
            if self.state.skills.contains_key(&name) {
                work.in_service.there += usize::from(self.remote.skills.contains_key(&name));
                work.in_folder.there += usize::from(self.folder.skills.contains_key(&name));
            }
            if let Some(sides) = self.look(&name).await? {
                self.take_up(name, decide(sides, self.options.mode, deletes), &mut work);
            }
        }
        if !self.options.deletes_all {
            self.keep_if_too_many(&mut work);
        }
        let writes = self.plan_writes(work.writes).await?;
        self.send(work.sends).await?;
        for name in work.deletes {
            self.delete(name).await?;
        }
        self.write_all(writes).await?;
        work.removes.into_iter().for_each(|name| self.remove(name));
        Ok(())
    }

    /// Skips the deletions on a side if too many of its skills would be deleted.
    fn keep_if_too_many(&mut self, work: &mut SyncSteps) {
        let (service, folder) = (work.in_service, work.in_folder);
        if service.is_too_many() {
            let reason = format!(
                "{} skills are missing from the folder, and a sync deletes at most half; check that the folder is \
                 complete, then use --delete-all to delete them in the service",
                service.shown()
            );
            self.keep(std::mem::take(&mut work.deletes), &reason);
        }
        if folder.is_too_many() {
            let reason = format!(
                "{} skills are missing from the service, and a sync deletes at most half; check that this is \
                 intended, then use --delete-all to remove them from the folder",
                folder.shown()
            );
            self.keep(std::mem::take(&mut work.removes), &reason);
        }
    }

    fn keep(&mut self, names: Vec<String>, reason: &str) {
        names.into_iter().for_each(|name| self.tell(name, SyncOutcome::Kept, Some(reason.to_owned())));
    }

    /// Compares both sides of a skill. Returns `None` if it is unknown whether the folder still has the skill.
    async fn look(&self, name: &str) -> Result<Option<SkillSides>, ServiceError> {
        let (here, there) = (self.folder.skills.get(name), self.remote.skills.get(name));
        let base = self.state.skills.get(name);
        if here.is_none() && base.is_some_and(|base| self.folder.may_hold(&base.folder)) {
            return Ok(None);
        }
        let digest = base.map(|base| &base.digest);
        let changed_there = there.map(|there| &there.digest) != digest;
        let mut changed_here = here.map(|here| &here.ready.digest) != digest;
        let is_same = here.map(|here| &here.ready.digest) == there.map(|there| &there.digest);
        if let (Some(here), Some(base)) = (here, base)
            && changed_here
            && changed_there
            && !is_same
        {
            let files = match there {
                None => Some(FileDigests::new()),
                Some(there) => match self.read_whole(there.id).await {
                    Ok(whole) => Some(whole.files),
                    Err(refusal) if refusal.is_about_a_skill() => None,
                    Err(refusal) => return Err(refusal),
                },
            };
            changed_here = files.is_none_or(|files| has_own_change(&here.files, &base.files, &files));
        }
        let (changed_here, changed_there) = (changed_here && !is_same, changed_there && !is_same);
        let (is_here, is_there, was_same) = (here.is_some(), there.is_some(), base.is_some());
        Ok(Some(SkillSides { is_here, is_there, was_same, changed_here, changed_there }))
    }

    async fn read_whole(&self, id: SkillId) -> Result<FullSkill, ServiceError> {
        remote::read_whole(self.service, remote::peek(self.service, id).await?).await
    }

    fn take_up(&mut self, name: String, step: SyncStep, work: &mut SyncSteps) {
        match step {
            SyncStep::Agree => {
                if let (Some(here), Some(there)) = (self.folder.skills.get(&name), self.remote.skills.get(&name)) {
                    self.state.skills.insert(name, here.base(there.version));
                }
            }
            SyncStep::Forget => drop(self.state.skills.remove(&name)),
            SyncStep::Send => work.sends.push(name),
            SyncStep::DeleteThere => {
                work.in_service.going += 1;
                work.deletes.push(name);
            }
            SyncStep::Write => work.writes.push(name),
            SyncStep::RemoveHere => {
                work.in_folder.going += 1;
                work.removes.push(name);
            }
            SyncStep::TellBehind => {
                let reason = "the service has a newer version; --pull writes it into the folder";
                self.tell(name, SyncOutcome::Behind, Some(reason.to_owned()));
            }
            SyncStep::TellGone => {
                let reason = "it was deleted in the service; --pull --delete removes it here, --push restores it";
                self.tell(name, SyncOutcome::Gone, Some(reason.to_owned()));
            }
            SyncStep::TellMissing => {
                // With `--watch`, the skill may be deleted in a later round.
                work.in_service.going += 1;
                let reason = "it is no longer in the folder; --delete deletes it in the service";
                self.tell(name, SyncOutcome::Missing, Some(reason.to_owned()));
            }
            SyncStep::TellConflict => {
                let reason = self.conflict(&name);
                self.tell(name, SyncOutcome::Conflict, Some(reason));
            }
        }
    }

    /// Describes a conflict for the user.
    fn conflict(&self, name: &str) -> String {
        let since = match self.state.skills.get(name) {
            Some(base) => format!("since version {}", base.version),
            None => "and there is no record of an earlier sync".to_owned(),
        };
        let (here, there) = (self.folder.skills.contains_key(name), self.remote.skills.get(name));
        let there = there.map(|there| format!("the service is at version {}", there.version));
        match (here, there) {
            (true, Some(there)) => format!(
                "the folder's version differs {since}, and {there}; --push sends the folder's, --pull writes the \
                 service's and keeps a copy of the folder's"
            ),
            (true, None) => {
                format!("the folder's version changed {since}, and it was deleted in the service; --push restores it")
            }
            (false, there) => format!(
                "it was removed from the folder {since}, and {}; --push deletes it, --pull restores it",
                there.unwrap_or_default()
            ),
        }
    }

    /// Adds the result of a skill to the report.
    pub(super) fn tell(&mut self, name: String, outcome: SyncOutcome, reason: Option<String>) {
        let path = self.folder.skills.get(&name).map(|here| self.folder.shown(&here.ready.path));
        let version = match outcome {
            SyncOutcome::Written => self.state.skills.get(&name).map(|base| base.version),
            _ => self.remote.skills.get(&name).map(|there| there.version),
        };
        self.report.skills.push(SyncEntry { name: Some(name), path, outcome, version, reason });
    }
}
