//! Gives out the bodies of a turn's skills within their budget: whole, or cut at the end of a section.

use std::collections::HashMap;

use knowhow_domain::prompt::{PrintedBody, cut_body};
use knowhow_domain::{Result, SkillId};
use knowhow_store::skills;

use super::{Choice, Terms};
use crate::Ctx;
use crate::sessions::kept::{BodyAt, GivenBody};
use crate::sessions::view::MissingView;

/// The part of the bodies' room that recalled ones may take where the session did not ask for them: they are less likely to
/// be wanted than those that the message names.
const RECALLED_PART: usize = 2;

/// Bodies, given out within a budget.
pub(super) struct Bodies {
    read: HashMap<SkillId, skills::Body>,
    room: usize,
    pub(super) used: Vec<(SkillId, i32)>,
    pub(super) given: Vec<GivenBody>,
}

impl Bodies {
    pub(super) async fn read(ctx: &Ctx, choice: &Choice<'_>, terms: &Terms) -> Result<Self> {
        let wanted = choice.wanted(terms);
        let found = if wanted.is_empty() {
            Vec::new()
        } else {
            skills::read_bodies(&ctx.app.db, &ctx.principal, &wanted).await?
        };
        let read = found.into_iter().map(|body| (body.skill, body)).collect();
        Ok(Self { read, room: terms.body_budget, used: Vec::new(), given: Vec::new() })
    }

    /// A body, or the characters of one that has no room any more. One that is longer than the room left is cut at the end
    /// of a section.
    pub(super) fn take(&mut self, skill: SkillId) -> Option<Result<Body, usize>> {
        let skills::Body { version, content, files, document, from, tainted, .. } = self.read.remove(&skill)?;
        let characters = content.chars().count();
        let body = if characters <= self.room {
            Body { version, content, missing: None, files, tainted }
        } else {
            let Some(cut) = cut_body(&content, self.room) else { return Some(Err(characters)) };
            let missing = Some(MissingView { characters: cut.missing, sections: cut.sections });
            Body { version, content: cut.kept.to_owned(), missing, files, tainted }
        };
        self.room -= body.content.chars().count();
        self.used.push((skill, version));
        let at = BodyAt { document, from, bytes: body.content.len() };
        self.given.push(GivenBody { at, printed: PrintedBody::of(&body.content) });
        Some(Ok(body))
    }

    /// With the room that recalled bodies may take: where the session did not ask for them the less, the less likely the
    /// message asks for any.
    pub(super) fn for_recalled(mut self, terms: &Terms, fit: f32) -> Self {
        if !terms.inline_top {
            let room = (terms.body_budget / RECALLED_PART) as f32 * fit;
            self.room = self.room.min(room as usize);
        }
        self
    }

    /// The body of another one, where it fits whole.
    pub(super) fn take_whole(&mut self, skill: SkillId) -> Option<Body> {
        let fits = self.read.get(&skill)?.content.chars().count() <= self.room;
        if fits { self.take(skill)?.ok() } else { None }
    }
}

/// A body as a turn shows it.
pub(super) struct Body {
    pub(super) version: i32,
    pub(super) content: String,
    pub(super) missing: Option<MissingView>,
    pub(super) files: Vec<String>,
    pub(super) tainted: bool,
}
