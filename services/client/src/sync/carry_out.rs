//! Carries out the steps of a sync round.

use std::collections::{BTreeSet, HashMap};

use indicatif::ProgressBar;
use knowhow_ops::skills::folder_of;

use super::decide::FileDigests;
use super::pull::{Failure, Target, remove_here};
use super::remote::{self, ServiceSkill, SkillHead};
use super::report::{SyncEntry, SyncOutcome};
use super::round::SyncRound;
use super::state::Base;
use crate::import::report as sent;
use crate::import::upload::{Upload, progress};
use crate::service::ServiceError;

/// A skill from the service that will be written into the folder.
pub(super) struct PlannedWrite {
    name: String,
    head: SkillHead,
}

impl SyncRound<'_> {
    /// Sends skills from the folder to the service, which checks again that their base versions are current.
    pub(super) async fn send(&mut self, names: Vec<String>) -> Result<(), ServiceError> {
        let (mut ready, mut bases, mut expected) = (Vec::new(), HashMap::new(), HashMap::new());
        for name in names {
            if let Some(local) = self.folder.skills.remove(&name) {
                bases.insert(name.clone(), local.base(0));
                expected.insert(name.clone(), self.remote.skills.get(&name).map_or(0, |there| there.version));
                ready.push(local.ready);
            }
        }
        if ready.is_empty() {
            return Ok(());
        }
        let shown = |path: &str| self.folder.shown(path);
        let provenance = self.folder.provenance()?;
        let upload = Upload::new(self.service, &shown, self.options.is_dry);
        let mut upload = upload.with_provenance(provenance).with_bases(expected);
        let outcome = upload.run(ready).await;
        for entry in upload.entries {
            let base = entry.name.as_ref().and_then(|name| bases.remove(name));
            if let (Some(name), Some(version), Some(base)) = (&entry.name, entry.version, base) {
                self.state.skills.insert(name.clone(), Base { version, ..base });
            }
            if entry.outcome != sent::ImportEntryOutcome::Unchanged {
                self.report.skills.push(SyncEntry::of(entry));
            }
        }
        outcome
    }

    /// Deletes a skill in the service, after it was removed from the folder.
    pub(super) async fn delete(&mut self, name: String) -> Result<(), ServiceError> {
        let Some(there) = self.remote.skills.get(&name) else { return Ok(()) };
        let outcome = if self.options.is_dry { Ok(()) } else { remote::delete(self.service, there).await };
        match outcome {
            Err(refusal) if refusal.code != "not-found" => return self.refuse(name, refusal),
            _ => drop(self.state.skills.remove(&name)),
        }
        self.tell(name, SyncOutcome::Deleted, None);
        Ok(())
    }

    /// Reports an error that concerns only this skill. Returns any other error, which stops the round.
    fn refuse(&mut self, name: String, refusal: ServiceError) -> Result<(), ServiceError> {
        if !refusal.is_about_a_skill() {
            return Err(refusal);
        }
        let outcome = if refusal.code == "version-conflict" { SyncOutcome::Conflict } else { SyncOutcome::Refused };
        self.tell(name, outcome, Some(refusal.detail));
        Ok(())
    }

    /// Fetches the file lists of the skills to write, before any of them is written.
    ///
    /// # Errors
    /// Fails if any skill contains an unsafe path. No skill is written then.
    pub(super) async fn plan_writes(&mut self, names: Vec<String>) -> Result<Vec<PlannedWrite>, ServiceError> {
        let mut planned = Vec::with_capacity(names.len());
        for name in names {
            let Some(ServiceSkill { id, tainted, .. }) = self.remote.skills.get(&name).cloned() else { continue };
            if tainted {
                let reason = "it is tainted, and programs that read the folder would not see the mark; have it \
                    approved first";
                self.tell(name, SyncOutcome::Refused, Some(reason.to_owned()));
                continue;
            }
            match remote::peek(self.service, id).await {
                Ok(head) => {
                    head.check_paths(&name)?;
                    planned.push(PlannedWrite { name, head });
                }
                Err(refusal) => self.refuse(name, refusal)?,
            }
        }
        Ok(planned)
    }

    /// Writes skills from the service into the folder.
    pub(super) async fn write_all(&mut self, planned: Vec<PlannedWrite>) -> Result<(), ServiceError> {
        let prefix = self.options.prefix.as_ref().map_or(0, |prefix| prefix.as_str().len() + 1);
        let mut placed: BTreeSet<String> = BTreeSet::new();
        for (name, local) in self.folder.skills.iter().filter(|_| !planned.is_empty()) {
            placed.insert(name[prefix..].to_owned());
            placed.extend(local.files.keys().map(|path| format!("{}/{path}", &name[prefix..])));
        }
        let bar = if planned.is_empty() { ProgressBar::hidden() } else { progress(planned.len()) };
        for PlannedWrite { name, head } in planned {
            bar.inc(1);
            let home = match self.folder.skills.get(&name) {
                Some(local) => local.folder().to_owned(),
                None => folder_of(&name[prefix..], &placed),
            };
            match self.write(&name, head, home).await {
                Ok(base) => {
                    placed.insert(name[prefix..].to_owned());
                    placed.extend(base.files.keys().map(|path| format!("{}/{path}", &name[prefix..])));
                    self.state.skills.insert(name.clone(), base);
                    self.tell(name, SyncOutcome::Written, None);
                }
                Err(Failure::Here(reason)) => self.tell(name, SyncOutcome::Refused, Some(reason)),
                Err(Failure::There(refusal)) => self.refuse(name, refusal)?,
            }
        }
        bar.finish_and_clear();
        Ok(())
    }

    async fn write(&self, name: &str, head: SkillHead, home: String) -> Result<Base, Failure> {
        let Some(tree) = self.tree else {
            let SkillHead { version, digest, .. } = head;
            return Ok(Base { folder: home, version, digest, files: FileDigests::new() });
        };
        let (local, base) = (self.folder.skills.get(name), self.state.skills.get(name));
        let whole = remote::read_whole(self.service, head).await.map_err(Failure::There)?;
        Target { tree, local, base, home }.write(self.service, &whole).await
    }

    /// Removes a skill from the folder, after it was deleted in the service.
    pub(super) fn remove(&mut self, name: String) {
        let removed = match self.folder.skills.get(&name).zip(self.tree) {
            Some((local, tree)) => remove_here(tree, local),
            None => Ok(()),
        };
        match removed {
            Ok(()) => {
                self.state.skills.remove(&name);
                self.tell(name, SyncOutcome::Removed, None);
            }
            Err(reason) => self.tell(name, SyncOutcome::Refused, Some(reason)),
        }
    }
}
