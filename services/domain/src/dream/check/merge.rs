//! Skills that say the same become one. What nobody can guess must be in it.

use chrono::TimeDelta;

use super::archive::check_room;
use super::course::{Course, text_of};
use super::lasting::check_no_new_secret;
use super::{Checked, ShownSkill};
use crate::dream::tokens::{hard_tokens_of, missing_of};
use crate::dream::{Merged, Operation};
use crate::{SkillDocument, inert_line};

/// Most skills of one merge.
const SOURCES: usize = 5;
/// How long a merged skill is left alone, in days.
const REST_DAYS: i64 = 30;
/// Most merges on top of each other: each loses a little.
const CHAIN: u32 = 2;
/// One hard token of so many may be lost.
const ONE_LOST_OF: usize = 50;
/// A union with less than one part of so many of the longest text has lost something, also where no token tells it.
const SHORTENED_TO_ONE_OF: usize = 2;
/// Lost tokens that are named.
const NAMED: usize = 20;

pub(super) struct Union<'a> {
    pub(super) operation: &'a Operation,
    pub(super) into: &'a str,
    pub(super) sources: &'a [Merged],
}

impl Union<'_> {
    pub(super) fn check(&self, course: &Course<'_>) -> Checked {
        if self.sources.len() > SOURCES {
            return Err(format!("it merges {} skills; at most {SOURCES} are merged at once", self.sources.len()));
        }
        let skills = self.skills(course)?;
        if skills.len() < 2 {
            return Err("fewer than two skills would become one".to_owned());
        }
        for skill in &skills {
            check_history(course, skill)?;
            if skill.has_files && skill.name != self.into {
                return Err(format!("'{}' has files beside SKILL.md, which a merge would leave behind", skill.name));
            }
        }
        check_room(course, self.operation.taken_away().len())?;
        let reasons = unfound_pairs(course, &skills);
        Ok(reasons.into_iter().chain(self.check_text(course, &skills)?).collect())
    }

    /// All skills whose texts become one: the sources, and the one that they go into, where it exists.
    fn skills<'s>(&self, course: &Course<'s>) -> Result<Vec<&'s ShownSkill>, String> {
        let source = |source: &Merged| course.whole_skill(&source.name, source.version);
        let mut skills = self.sources.iter().map(source).collect::<Result<Vec<_>, _>>()?;
        let is_source = self.sources.iter().any(|source| source.name == self.into);
        if !is_source && !course.is_free(self.into) {
            let version = course.shown_skill(self.into).map_or(0, |skill| skill.version);
            skills.push(course.whole_skill(self.into, version)?);
        }
        Ok(skills)
    }

    fn check_text(&self, course: &Course<'_>, skills: &[&ShownSkill]) -> Checked {
        let before = skills.iter().map(|skill| course.document(skill)).collect::<Result<Vec<_>, _>>()?;
        let before: Vec<&SkillDocument> = before.iter().collect();
        let now = skills.iter().zip(&before).find(|(skill, _)| skill.name == self.into);
        let after = course.written(self.operation, now.map(|(_, document)| *document))?;
        check_no_new_secret(&before, &after)?;
        let lost = lost(&before, &text_of(&after))
            .map(|lost| format!("the merge would lose {lost}. Let it in only where nobody needs them, else reject it"));
        Ok(shortened(&before, &after).into_iter().chain(lost).collect())
    }
}

/// Checks that a skill was not merged too recently, or too often.
fn check_history(course: &Course<'_>, skill: &ShownSkill) -> Result<(), String> {
    let rests = skill.merged_at.is_some_and(|at| course.shown.now - at < TimeDelta::days(REST_DAYS));
    match skill {
        _ if rests => Err(format!("'{}' was merged within the last {REST_DAYS} days and rests", skill.name)),
        _ if skill.merges >= CHAIN => Err(format!(
            "'{}' is the outcome of {} merges on top of each other: no more are made",
            skill.name, skill.merges
        )),
        _ => Ok(()),
    }
}

/// The pairs of which code has not found that they say the same.
fn unfound_pairs(course: &Course<'_>, skills: &[&ShownSkill]) -> Vec<String> {
    let mut reasons = Vec::new();
    for (at, one) in skills.iter().enumerate() {
        for other in &skills[at + 1..] {
            if !course.is_pair(&one.name, &other.name) {
                reasons.push(format!(
                    "code did not find that '{}' and '{}' say the same: read both before you let the merge in",
                    one.name, other.name
                ));
            }
        }
    }
    reasons
}

/// The reason to wait where a union is much shorter than what goes into it.
fn shortened(before: &[&SkillDocument], after: &SkillDocument) -> Option<String> {
    let length = |document: &SkillDocument| document.content().trim().chars().count();
    let longest = before.iter().map(|document| length(document)).max().unwrap_or_default();
    (length(after) * SHORTENED_TO_ONE_OF < longest).then(|| {
        format!("the merged text has {} characters, and one of those that go into it {longest}", length(after))
    })
}

/// What a text loses of these texts, where that is more than may be.
pub(super) fn lost(before: &[&SkillDocument], after: &str) -> Option<String> {
    let texts: Vec<String> = before.iter().map(|document| text_of(document)).collect();
    let tokens = hard_tokens_of(texts.iter().map(String::as_str));
    let missing = missing_of(&tokens, after);
    (missing.len() * ONE_LOST_OF > tokens.len()).then(|| say_missing(&missing, tokens.len()))
}

/// How many of so many hard tokens are missing, and which, e.g. `2 of 60 commands, numbers and names: x; y`.
pub(super) fn say_missing(missing: &[String], all: usize) -> String {
    format!("{} of {all} commands, numbers and names: {}", missing.len(), named(missing))
}

/// The first of some tokens, each as a short line.
fn named(tokens: &[String]) -> String {
    const CHARS: usize = 100;
    let line = |token: &String| inert_line(token).chars().take(CHARS).collect::<String>();
    let mut named: Vec<String> = tokens.iter().take(NAMED).map(line).collect();
    if tokens.len() > NAMED {
        named.push(format!("and {} more", tokens.len() - NAMED));
    }
    named.join("; ")
}
