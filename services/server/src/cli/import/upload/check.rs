//! Asks the service by name and digest which skills it has, so that only new and changed ones are sent.

use std::collections::VecDeque;

use knowhow_domain::Source;
use knowhow_ops::skills::{CheckImport, CheckedImport, CheckedSkill, MOST_CHECKED, SkillDigest, SkillState};
use reqwest::Method;

use super::{PATH, Upload, Waiting};
use crate::cli::client::{Bounds, Refusal};
use crate::cli::import::plan::Ready;
use crate::cli::import::report::Outcome;

/// Why a folder that is kept the same leaves a skill alone.
const FOREIGN: &str = "the user has a skill of this name that no sync has brought, and a sync leaves it alone; rename the \
                       folder, or delete that skill first";

impl Upload<'_> {
    /// Settles what is there already, and tells the rest apart into new and changed.
    pub(super) async fn check(
        &mut self,
        from: &mut VecDeque<Ready>,
        to: &mut VecDeque<Waiting>,
    ) -> Result<(), Refusal> {
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
                return Err(Refusal::because(format!(
                    "the service answers about {found} skills, and was asked about {count}"
                )));
            }
            (self.room, self.limit) = (checked.room as usize, checked.limit);
            for (skill, item) in from.drain(..count).zip(checked.items) {
                match item.state {
                    _ if self.is_foreign(&item) => {
                        self.settle(&skill, Outcome::Refused, Some(FOREIGN.to_owned()));
                        self.entries.last_mut().into_iter().for_each(|last| last.code = Some("not-synced".to_owned()));
                    }
                    SkillState::Unchanged => self.settle(&skill, Outcome::Unchanged, None),
                    state => to.push_back(Waiting { skill, is_new: state == SkillState::New }),
                }
            }
        }
        Ok(())
    }

    /// Whether a skill that a sync would send is there already by another way. One that is new to this sync may have been
    /// brought by another one since the skills were listed, also by one that was killed and whose request went on.
    fn is_foreign(&self, item: &CheckedSkill) -> bool {
        self.expected.is_some() && item.state != SkillState::New && item.source != Some(Source::Sync)
    }
}
