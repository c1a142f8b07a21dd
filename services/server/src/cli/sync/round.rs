//! One look at both sides, and what is to be done about it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;
use knowhow_domain::{SkillId, SkillName};

use super::decide::{Files, Mode, Sides, Step, decide, has_own_change};
use super::folder::Folder;
use super::limit::{Gone, Side};
use super::remote::{self, Listed, Whole};
use super::report::{Entry, Outcome, Report};
use super::state::{Lock, State};
use super::tree::Tree;
use crate::cli::client::{Refusal, Service};

/// How a folder is kept the same.
pub(super) struct How {
    pub(super) mode: Mode,
    /// Whether what is gone on one side goes on the other.
    pub(super) deletes: bool,
    /// Whether more than half of the skills may go.
    pub(super) deletes_all: bool,
    /// Whether it is only told.
    pub(super) is_dry: bool,
    /// What comes before every name.
    pub(super) prefix: Option<SkillName>,
}

/// What is kept the same, and how.
#[derive(Clone, Copy)]
pub(super) struct Between<'a> {
    pub(super) service: &'a Service,
    pub(super) how: &'a How,
    /// The folder.
    pub(super) root: &'a Path,
}

/// A round on its way.
pub(super) struct Round<'a> {
    pub(super) service: &'a Service,
    pub(super) how: &'a How,
    /// Where it writes; nowhere in a dry run.
    pub(super) tree: Option<&'a Tree>,
    pub(super) folder: Folder,
    pub(super) remote: Listed,
    pub(super) state: State,
    pub(super) report: Report,
}

/// What is to be done, by name.
#[derive(Default)]
struct Work {
    sends: Vec<String>,
    deletes: Vec<String>,
    writes: Vec<String>,
    removes: Vec<String>,
    /// The service's skills, of which `deletes` would go.
    in_service: Side,
    /// The folder's skills, of which `removes` would go.
    in_folder: Side,
}

/// Keeps a folder the same once. Nothing is written without a lock. `gone`: how many skills earlier rounds have deleted.
/// `is_ripe`: whether a skill that is missing may be taken for removed.
///
/// # Errors
/// Where the folder cannot be read or written. What the service refuses is in the report.
pub(super) async fn run(
    between: Between<'_>,
    lock: Option<&Lock>,
    gone: Gone,
    is_ripe: impl Fn(&str) -> bool,
) -> Result<Report> {
    let Between { service, how, root } = between;
    let mut folder = Folder::read(root, how.prefix.as_ref())?;
    let tree = lock.map(Lock::tree);
    let mut report = begin(&mut folder, tree);
    let remembered = State::load(root)?;
    let prefix = how.prefix.as_ref().map(|prefix| format!("{prefix}/")).unwrap_or_default();
    let remote = match remote::list(service, &prefix).await {
        Ok(remote) => remote,
        Err(refusal) => {
            report.stopped = Some(refusal);
            return Ok(report);
        }
    };
    // What was the same as the skills of somebody else says nothing of these.
    let state = match remembered.of == remote.of {
        true => remembered.clone(),
        false => State { of: remote.of.clone(), skills: BTreeMap::new() },
    };
    let mut round = Round { service, how, tree, folder, remote, state, report };
    round.report.stopped = round.carry_out(gone, &is_ripe).await.err();
    round.report.skills.sort_by(|one, other| (&one.name, &one.path).cmp(&(&other.name, &other.path)));
    // What was the same in one folder says nothing of another one in its place.
    if let Some(lock) = lock.filter(|lock| round.state != remembered && lock.is_of(root)) {
        round.state.save(lock.tree())?;
    }
    Ok(round.report)
}

/// The report with what is known from the folder alone.
fn begin(folder: &mut Folder, tree: Option<&Tree>) -> Report {
    if let Some(tree) = tree {
        // They say nothing: each was to take a place that it never took.
        folder.parts.iter().for_each(|part| drop(tree.remove(part)));
    }
    Report {
        folder: folder.root().display().to_string(),
        is_dry: tree.is_none(),
        indexed: folder.skills.len(),
        skills: std::mem::take(&mut folder.settled).into_iter().map(Entry::of).collect(),
        left_out: std::mem::take(&mut folder.left_out),
        stopped: None,
    }
}

impl Round<'_> {
    async fn carry_out(&mut self, gone: Gone, is_ripe: &impl Fn(&str) -> bool) -> Result<(), Refusal> {
        let names: BTreeSet<&String> =
            self.folder.skills.keys().chain(self.state.skills.keys()).chain(self.remote.skills.keys()).collect();
        let mut work = Work {
            in_service: Side { gone: gone.from_service, ..Side::default() },
            in_folder: Side { gone: gone.from_folder, ..Side::default() },
            ..Work::default()
        };
        for name in names.into_iter().cloned().collect::<Vec<_>>() {
            let deletes = self.how.deletes && (self.folder.skills.contains_key(&name) || is_ripe(&name));
            if self.state.skills.contains_key(&name) {
                work.in_service.there += usize::from(self.remote.skills.contains_key(&name));
                work.in_folder.there += usize::from(self.folder.skills.contains_key(&name));
            }
            if let Some(sides) = self.look(&name).await? {
                self.take_up(name, decide(sides, self.how.mode, deletes), &mut work);
            }
        }
        if !self.how.deletes_all {
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

    /// Deletes nothing on a side that would lose too many skills.
    fn keep_if_too_many(&mut self, work: &mut Work) {
        let (service, folder) = (work.in_service, work.in_folder);
        if service.is_too_many() {
            let reason = format!(
                "{} skills are missing from the folder, and a sync deletes at most half; see whether the folder is complete, \
                 then give --delete-all to delete them in the service",
                service.shown()
            );
            self.keep(std::mem::take(&mut work.deletes), &reason);
        }
        if folder.is_too_many() {
            let reason = format!(
                "{} skills are gone from the service, and a sync deletes at most half; see whether the service has lost them, \
                 then give --delete-all to remove them from the folder",
                folder.shown()
            );
            self.keep(std::mem::take(&mut work.removes), &reason);
        }
    }

    fn keep(&mut self, names: Vec<String>, reason: &str) {
        names.into_iter().for_each(|name| self.tell(name, Outcome::Kept, Some(reason.to_owned())));
    }

    /// Compares both sides; `None` where the folder's cannot be told.
    async fn look(&self, name: &str) -> Result<Option<Sides>, Refusal> {
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
                None => Some(Files::new()),
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
        Ok(Some(Sides { is_here, is_there, was_same, changed_here, changed_there }))
    }

    async fn read_whole(&self, id: SkillId) -> Result<Whole, Refusal> {
        remote::read_whole(self.service, remote::peek(self.service, id).await?).await
    }

    fn take_up(&mut self, name: String, step: Step, work: &mut Work) {
        match step {
            Step::Agree => {
                if let (Some(here), Some(there)) = (self.folder.skills.get(&name), self.remote.skills.get(&name)) {
                    self.state.skills.insert(name, here.base(there.version));
                }
            }
            Step::Forget => drop(self.state.skills.remove(&name)),
            Step::Send => work.sends.push(name),
            Step::DeleteThere => {
                work.in_service.going += 1;
                work.deletes.push(name);
            }
            Step::Write => work.writes.push(name),
            Step::RemoveHere => {
                work.in_folder.going += 1;
                work.removes.push(name);
            }
            Step::TellBehind => {
                let reason = "the service has a newer one; --pull writes it into the folder";
                self.tell(name, Outcome::Behind, Some(reason.to_owned()));
            }
            Step::TellGone => {
                let reason = "it was deleted in the service; --pull --delete removes it here, --push brings it back";
                self.tell(name, Outcome::Gone, Some(reason.to_owned()));
            }
            Step::TellMissing => {
                // While it watches, it may be deleted in a moment.
                work.in_service.going += 1;
                let reason = "it is not in the folder any more; --delete deletes it in the service";
                self.tell(name, Outcome::Missing, Some(reason.to_owned()));
            }
            Step::TellConflict => {
                let reason = self.conflict(&name);
                self.tell(name, Outcome::Conflict, Some(reason));
            }
        }
    }

    /// What both sides have done.
    fn conflict(&self, name: &str) -> String {
        let since = match self.state.skills.get(name) {
            Some(base) => format!("since version {}", base.version),
            None => "and what both had before is not known".to_owned(),
        };
        let (here, there) = (self.folder.skills.contains_key(name), self.remote.skills.get(name));
        let there = there.map(|there| format!("the service is at version {}", there.version));
        match (here, there) {
            (true, Some(there)) => format!(
                "the folder's differs {since}, and {there}; --push sends the folder's, --pull takes the service's and keeps \
                 the folder's beside it"
            ),
            (true, None) => {
                format!("the folder's has changed {since}, and the service has deleted it; --push brings it back")
            }
            (false, there) => format!(
                "it was removed from the folder {since}, and {}; --push deletes it, --pull brings it back",
                there.unwrap_or_default()
            ),
        }
    }

    /// Notes what became of a skill.
    pub(super) fn tell(&mut self, name: String, outcome: Outcome, reason: Option<String>) {
        let path = self.folder.skills.get(&name).map(|here| self.folder.shown(&here.ready.path));
        let version = match outcome {
            Outcome::Written => self.state.skills.get(&name).map(|base| base.version),
            _ => self.remote.skills.get(&name).map(|there| there.version),
        };
        self.report.skills.push(Entry { name: Some(name), path, outcome, version, reason });
    }
}
