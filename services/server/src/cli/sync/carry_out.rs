//! Carries out what a round has decided.

use std::collections::{BTreeSet, HashMap};

use indicatif::ProgressBar;
use knowhow_ops::skills::folder_of;

use super::decide::Files;
use super::pull::{Failure, Target, remove_here};
use super::remote::{self, Peeked, There};
use super::report::{Entry, Outcome};
use super::round::Round;
use super::state::Base;
use crate::cli::client::Refusal;
use crate::cli::import::report as sent;
use crate::cli::import::upload::{Upload, progress};

/// A skill that is to be written into the folder.
pub(super) struct Planned {
    name: String,
    peeked: Peeked,
}

impl Round<'_> {
    /// Sends skills of the folder. The service compares their bases once more.
    pub(super) async fn send(&mut self, names: Vec<String>) -> Result<(), Refusal> {
        let (mut ready, mut bases, mut expected) = (Vec::new(), HashMap::new(), HashMap::new());
        for name in names {
            if let Some(here) = self.folder.skills.remove(&name) {
                bases.insert(name.clone(), here.base(0));
                expected.insert(name.clone(), self.remote.skills.get(&name).map_or(0, |there| there.version));
                ready.push(here.ready);
            }
        }
        if ready.is_empty() {
            return Ok(());
        }
        let shown = |path: &str| self.folder.shown(path);
        let provenance = self.folder.provenance()?;
        let upload = Upload::new(self.service, &shown, self.how.is_dry);
        let mut upload = upload.with_provenance(provenance).with_bases(expected);
        let outcome = upload.run(ready).await;
        for entry in upload.entries {
            let base = entry.name.as_ref().and_then(|name| bases.remove(name));
            if let (Some(name), Some(version), Some(base)) = (&entry.name, entry.version, base) {
                self.state.skills.insert(name.clone(), Base { version, ..base });
            }
            if entry.outcome != sent::Outcome::Unchanged {
                self.report.skills.push(Entry::of(entry));
            }
        }
        outcome
    }

    /// Deletes a skill in the service that the folder has no more.
    pub(super) async fn delete(&mut self, name: String) -> Result<(), Refusal> {
        let Some(there) = self.remote.skills.get(&name) else { return Ok(()) };
        let outcome = if self.how.is_dry { Ok(()) } else { remote::delete(self.service, there).await };
        match outcome {
            Err(refusal) if refusal.code != "not-found" => return self.refuse(name, refusal),
            _ => drop(self.state.skills.remove(&name)),
        }
        self.tell(name, Outcome::Deleted, None);
        Ok(())
    }

    /// Notes a refusal of the service; hands on what is about more than the skill.
    fn refuse(&mut self, name: String, refusal: Refusal) -> Result<(), Refusal> {
        if !refusal.is_about_a_skill() {
            return Err(refusal);
        }
        let outcome = if refusal.code == "version-conflict" { Outcome::Conflict } else { Outcome::Refused };
        self.tell(name, outcome, Some(refusal.detail));
        Ok(())
    }

    /// Looks at the skills that are to be written, before anything is.
    ///
    /// # Errors
    /// If one of them has a path that must not be written: then none is.
    pub(super) async fn plan_writes(&mut self, names: Vec<String>) -> Result<Vec<Planned>, Refusal> {
        let mut planned = Vec::with_capacity(names.len());
        for name in names {
            let Some(There { id, tainted, .. }) = self.remote.skills.get(&name).cloned() else { continue };
            if tainted {
                let reason = "it is tainted, and programs that read the folder would not know; have it approved first";
                self.tell(name, Outcome::Refused, Some(reason.to_owned()));
                continue;
            }
            match remote::peek(self.service, id).await {
                Ok(peeked) => {
                    peeked.check_paths(&name)?;
                    planned.push(Planned { name, peeked });
                }
                Err(refusal) => self.refuse(name, refusal)?,
            }
        }
        Ok(planned)
    }

    /// Writes skills of the service into the folder.
    pub(super) async fn write_all(&mut self, planned: Vec<Planned>) -> Result<(), Refusal> {
        let prefix = self.how.prefix.as_ref().map_or(0, |prefix| prefix.as_str().len() + 1);
        let mut placed: BTreeSet<String> = BTreeSet::new();
        for (name, here) in self.folder.skills.iter().filter(|_| !planned.is_empty()) {
            placed.insert(name[prefix..].to_owned());
            placed.extend(here.files.keys().map(|path| format!("{}/{path}", &name[prefix..])));
        }
        let bar = if planned.is_empty() { ProgressBar::hidden() } else { progress(planned.len()) };
        for Planned { name, peeked } in planned {
            bar.inc(1);
            let home = match self.folder.skills.get(&name) {
                Some(here) => here.folder().to_owned(),
                None => folder_of(&name[prefix..], &placed),
            };
            match self.write(&name, peeked, home).await {
                Ok(base) => {
                    placed.insert(name[prefix..].to_owned());
                    placed.extend(base.files.keys().map(|path| format!("{}/{path}", &name[prefix..])));
                    self.state.skills.insert(name.clone(), base);
                    self.tell(name, Outcome::Written, None);
                }
                Err(Failure::Here(reason)) => self.tell(name, Outcome::Refused, Some(reason)),
                Err(Failure::There(refusal)) => self.refuse(name, refusal)?,
            }
        }
        bar.finish_and_clear();
        Ok(())
    }

    async fn write(&self, name: &str, peeked: Peeked, home: String) -> Result<Base, Failure> {
        let Some(tree) = self.tree else {
            let Peeked { version, digest, .. } = peeked;
            return Ok(Base { folder: home, version, digest, files: Files::new() });
        };
        let (here, base) = (self.folder.skills.get(name), self.state.skills.get(name));
        let whole = remote::read_whole(self.service, peeked).await.map_err(Failure::There)?;
        Target { tree, here, base, home }.write(self.service, &whole).await
    }

    /// Removes a skill from the folder that the service has no more.
    pub(super) fn remove(&mut self, name: String) {
        let removed = match self.folder.skills.get(&name).zip(self.tree) {
            Some((here, tree)) => remove_here(tree, here),
            None => Ok(()),
        };
        match removed {
            Ok(()) => {
                self.state.skills.remove(&name);
                self.tell(name, Outcome::Removed, None);
            }
            Err(reason) => self.tell(name, Outcome::Refused, Some(reason)),
        }
    }
}
