//! Allocates the body budget of a turn. Bodies are included completely, or cut at the end of a paragraph or line.

use std::collections::HashMap;

use knowhow_domain::kernel::limits::SHOWN_FILES;
use knowhow_domain::sessions::prompt::{PrintedBody, cut_body};
use knowhow_domain::{Result, SkillId};
use knowhow_store::skills;

use super::{ChosenSkills, Terms};
use crate::Ctx;
use crate::sessions::stored_answers::{BodyPosition, TurnBody};
use crate::sessions::view::MissingView;

/// Divisor of the budget. The result is the limit of recalled bodies, unless the session requested them with
/// `inline_top`. Recalled skills are less likely to be wanted than named ones.
const RECALLED_PART: usize = 2;

/// Bodies that were read, and the remaining budget.
pub(super) struct Bodies {
    read: HashMap<SkillId, skills::Body>,
    room: usize,
    pub(super) used: Vec<(SkillId, i32)>,
    pub(super) given: Vec<TurnBody>,
}

impl Bodies {
    pub(super) async fn read(ctx: &Ctx, choice: &ChosenSkills<'_>, terms: &Terms) -> Result<Self> {
        let wanted = choice.wanted(terms);
        let found = if wanted.is_empty() {
            Vec::new()
        } else {
            skills::read_bodies(&ctx.app.db, &ctx.principal, &wanted).await?
        };
        let read = found.into_iter().map(|body| (body.skill, body)).collect();
        Ok(Self { read, room: terms.body_budget, used: Vec::new(), given: Vec::new() })
    }

    /// Removes a skill's body from the bodies that were read, and charges it to the budget. Returns `None` if the body
    /// was not read. A body that exceeds the budget is cut at the end of a paragraph or line. If the cut body would be
    /// too short, returns `Err` with the number of characters in the whole body.
    pub(super) fn take(&mut self, skill: SkillId) -> Option<Result<ShownBody, usize>> {
        let skills::Body { version, content, mut files, document, from, tainted, .. } = self.read.remove(&skill)?;
        let more_files = files.len().saturating_sub(SHOWN_FILES);
        files.truncate(SHOWN_FILES);
        let characters = content.chars().count();
        let body = if characters <= self.room {
            ShownBody { version, content, missing: None, files, more_files, tainted }
        } else {
            let Some(cut) = cut_body(&content, self.room) else { return Some(Err(characters)) };
            let missing = Some(MissingView { characters: cut.missing, sections: cut.sections });
            ShownBody { version, content: cut.beginning.to_owned(), missing, files, more_files, tainted }
        };
        self.room -= body.content.chars().count();
        self.used.push((skill, version));
        let at = BodyPosition { document, from, bytes: body.content.len() };
        self.given.push(TurnBody { at, printed: PrintedBody::of(&body.content) });
        Some(Ok(body))
    }

    /// Limits the remaining budget to the part for recalled bodies. Without `inline_top`, this part shrinks with
    /// `fit`, the probability that the message asks for any skill.
    pub(super) fn for_recalled(mut self, terms: &Terms, fit: f32) -> Self {
        if !terms.inline_top {
            let room = (terms.body_budget / RECALLED_PART) as f32 * fit;
            self.room = self.room.min(room as usize);
        }
        self
    }

    /// If a skill's body fits completely, removes it from the bodies that were read and charges it to the budget.
    /// Otherwise, and if the body was not read, returns `None`.
    pub(super) fn take_whole(&mut self, skill: SkillId) -> Option<ShownBody> {
        let fits = self.read.get(&skill)?.content.chars().count() <= self.room;
        if fits { self.take(skill)?.ok() } else { None }
    }
}

/// A body as a turn shows it, complete or cut.
pub(super) struct ShownBody {
    pub(super) version: i32,
    pub(super) content: String,
    pub(super) missing: Option<MissingView>,
    /// Paths of the skill's files, at most [`SHOWN_FILES`].
    pub(super) files: Vec<String>,
    pub(super) more_files: usize,
    pub(super) tainted: bool,
}
