//! Renders the text of a turn for the agent's prompt, from the members of the answer.

use knowhow_domain::sessions::prompt::{ActiveSkill, PrintedBody, SkillLine, TooLong, TurnParts, render_turn};

use super::{CALLED, ChosenSkills, Terms};
use crate::recall::KnownSkill;
use crate::sessions::stored_answers::TurnBody;
use crate::sessions::view::{ActiveView, MissingView, RelevantView, TooLongView, TurnAnswer};

/// Inputs of the text that the answer does not contain.
pub(super) struct Printing<'a> {
    pub(super) choice: &'a ChosenSkills<'a>,
    pub(super) terms: &'a Terms,
}

/// Renders the text of a turn. `bodies` has the bodies of the active skills, followed by the bodies of the relevant
/// skills.
pub(super) fn print(answer: &TurnAnswer, bodies: &[TurnBody], printing: &Printing<'_>) -> String {
    let Printing { choice, terms } = printing;
    let mut printed = bodies.iter().map(|body| &body.printed);
    let found = answer.relevant.iter().skip(choice.asked.len());
    let relevant = found.zip(&choice.relevant);
    let inline = answer.relevant.iter().filter(|view| view.content.is_some());
    let relevant = relevant.filter(|(view, _)| terms.tools.can_read() || view.content.is_some());
    render_turn(&TurnParts {
        tools: terms.tools,
        active: answer.active.iter().zip(printed.by_ref()).map(|(view, body)| view.as_part(body)).collect(),
        excluded: answer.excluded.iter().map(|view| view.name.as_str()).collect(),
        asked: choice.asked.iter().map(|skill| line(skill, false, choice.is_tainted(skill))).collect(),
        too_long: answer.too_long.iter().map(TooLongView::as_part).collect(),
        relevant: relevant
            .map(|(view, (skill, _))| line(skill, view.content.is_some() || terms.is_indexed(skill), view.tainted))
            .collect(),
        inline: inline.zip(printed).filter_map(|(view, body)| view.as_part(body)).collect(),
        related: choice
            .related
            .iter()
            .map(|(skill, _)| line(skill, terms.is_indexed(skill), choice.is_tainted(skill)))
            .collect(),
        nudge: answer.nudge.as_deref(),
    })
}

/// Returns a line with the name of a skill. Adds the summary, unless the agent's prompt describes the skill
/// elsewhere.
fn line(skill: &KnownSkill, has_summary: bool, is_tainted: bool) -> SkillLine<'_> {
    SkillLine { name: &skill.name, summary: (!has_summary).then_some(&*skill.summary), is_tainted }
}

impl ActiveView {
    pub(in crate::sessions) fn is_called(&self) -> bool {
        self.reason == CALLED
    }

    fn as_part<'a>(&'a self, content: &'a PrintedBody) -> ActiveSkill<'a> {
        ActiveSkill {
            name: &self.name,
            version: self.version,
            content,
            missing: self.missing.as_ref().map(MissingView::as_part),
            files: &self.files,
            more_files: self.more_files,
            is_called: self.is_called(),
            is_tainted: self.tainted,
        }
    }
}

impl TooLongView {
    fn as_part(&self) -> TooLong<'_> {
        TooLong { name: &self.name, characters: self.characters, is_tainted: self.tainted }
    }
}

impl RelevantView {
    /// Returns the skill with its body, or `None` if it has no body.
    fn as_part<'a>(&'a self, content: &'a PrintedBody) -> Option<ActiveSkill<'a>> {
        Some(ActiveSkill {
            name: &self.name,
            version: self.version?,
            content,
            missing: self.missing.as_ref().map(MissingView::as_part),
            files: &self.files,
            more_files: self.more_files,
            is_called: false,
            is_tainted: self.tainted,
        })
    }
}
