//! Compares names and digests with the service, so that only new and changed skills are sent.

use std::collections::VecDeque;

use knowhow_domain::Source;
use knowhow_ops::skills::{CheckImport, CheckedImport, CheckedSkill, MOST_CHECKED, SkillDigest, SkillState};
use reqwest::Method;

use super::{PATH, Upload, Waiting};
use crate::import::plan::Ready;
use crate::import::report::ImportEntryOutcome;
use crate::service::{Bounds, ServiceError};

/// The reason why a sync skips a skill that comes from another source.
const FOREIGN: &str = "a skill of this name exists but was not created by a sync, so sync does not change it; rename \
    the folder, or delete that skill first";

impl Upload<'_> {
    /// Adds the results of unchanged skills. Moves the other skills to `to`, and marks those that are new.
    pub(super) async fn check(
        &mut self,
        from: &mut VecDeque<Ready>,
        to: &mut VecDeque<Waiting>,
    ) -> Result<(), ServiceError> {
        while !from.is_empty() {
            let batch: Vec<&Ready> = from.iter().take(MOST_CHECKED).collect();
            let count = batch.len();
            let digest = |skill: &&Ready| SkillDigest { name: skill.name.to_string(), digest: skill.digest.clone() };
            let body = CheckImport { skills: batch.iter().map(digest).collect() };
            let path = format!("{PATH}/check");
            let answer = self.service.send(|service| service.request(Method::POST, &path).json(&body)).await?;
            let checked: CheckedImport = answer.json(Bounds::JSON).await?;
            if checked.items.len() != count {
                let found = checked.items.len();
                return Err(ServiceError::because(format!("the service returned {found} results for {count} skills")));
            }
            (self.room, self.limit) = (checked.room as usize, checked.limit);
            for (skill, item) in from.drain(..count).zip(checked.items) {
                match item.state {
                    _ if self.is_foreign(&item) => {
                        self.settle(&skill, ImportEntryOutcome::Refused, Some(FOREIGN.to_owned()));
                        self.entries.last_mut().into_iter().for_each(|last| last.code = Some("not-synced".to_owned()));
                    }
                    SkillState::Unchanged => self.settle(&skill, ImportEntryOutcome::Unchanged, None),
                    state => to.push_back(Waiting { skill, is_new: state == SkillState::New }),
                }
            }
        }
        Ok(())
    }

    /// Returns whether a sync would replace a skill that no sync created. If the skill is new to this sync, another
    /// sync may have created it after the skills were listed. That sync may even have been killed.
    fn is_foreign(&self, item: &CheckedSkill) -> bool {
        self.expected.is_some() && item.state != SkillState::New && item.source != Some(Source::Sync)
    }
}
