//! What of the skills that were found a turn shows: nothing twice, bodies within their budget, the most specific first.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use knowhow_domain::Result;
use knowhow_domain::prompt::{ActiveSkill, SkillLine, TooLong, TurnParts, cut_body, render_turn};
use knowhow_domain::recall::{Hit, Mention};
use knowhow_domain::session::NUDGE;
use knowhow_store::Principal;
use knowhow_store::skills;
use uuid::Uuid;

use super::view::{ActiveView, MissingView, RelatedView, RelevantView, TooLongView, TurnAnswer};
use crate::App;
use crate::recall::{KnownSkill, Recalled, UserCatalogue, reason};

/// Most neighbours of a turn.
const RELATED: usize = 5;

/// Most named skills of a turn: whose bodies are read before their budget is known to hold them.
const NAMED: usize = 16;

/// What the session has been shown since its prompt was last compressed.
#[derive(Default)]
pub(super) struct Shown {
    /// By name.
    pub(super) listed: HashSet<Uuid>,
    /// Whole, as instructions.
    pub(super) injected: HashSet<Uuid>,
}

/// How the session wants its turns.
pub(super) struct Terms {
    /// Characters of bodies.
    pub(super) body_budget: usize,
    /// Whether the best recalled skill's body comes along.
    pub(super) inline_top: bool,
    /// Most recalled skills.
    pub(super) relevant: usize,
    /// How likely the message must ask for any.
    pub(super) min_score: f32,
    /// Whether it is time to remind of saving.
    pub(super) nudge: bool,
}

/// A composed turn.
pub(super) struct Composed {
    /// The answer, its numbers aside.
    pub(super) answer: TurnAnswer,
    /// Skills whose bodies it holds, with their versions.
    pub(super) used: Vec<(Uuid, i32)>,
}

/// Composes a turn from what recall found, and adds what it shows to `shown`.
pub(super) async fn compose(
    app: &App,
    principal: &Principal,
    (catalogue, found): (&Arc<UserCatalogue>, &Recalled),
    terms: &Terms,
    shown: &mut Shown,
) -> Result<Composed> {
    let choice = Choice::of(catalogue, found, shown, terms);
    let mut bodies = Bodies::read(app, principal, &choice, terms.body_budget).await?;
    let mut answer = TurnAnswer::default();
    for (skill, mention) in &choice.named {
        match bodies.take(skill.id) {
            Some(Ok(body)) => {
                // What came along as a reference comes again once it is named: it was not an instruction.
                shown.injected.insert(skill.id);
                answer.active.push(ActiveView {
                    name: skill.name.to_string(),
                    version: body.version,
                    content: body.content,
                    missing: body.missing,
                    reason: if mention.explicit { "called in the message" } else { "named in the message" }.into(),
                });
            }
            Some(Err(characters)) => answer.too_long.push(TooLongView { name: skill.name.to_string(), characters }),
            // Deleted since the catalogue was read.
            None => {}
        }
    }
    // Where a named body had no room, a similar one does not take its place.
    let inlines = terms.inline_top && answer.too_long.is_empty() && answer.active.iter().all(|a| a.missing.is_none());
    for (place, (skill, hit)) in choice.relevant.iter().enumerate() {
        let body = if place == 0 && inlines { bodies.take(skill.id).and_then(Result::ok) } else { None };
        let (version, content, missing) = match body {
            Some(Body { version, content, missing }) => (Some(version), Some(content), missing),
            None => (None, None, None),
        };
        answer.relevant.push(RelevantView {
            name: skill.name.to_string(),
            summary: skill.summary.to_string(),
            score: hit.closeness * found.ranking.fit,
            reason: reason(hit),
            content,
            version,
            missing,
        });
    }
    answer.related.extend(choice.related.iter().map(|(skill, via)| RelatedView {
        name: skill.name.to_string(),
        summary: skill.summary.to_string(),
        via: via.to_string(),
    }));
    answer.nudge = terms.nudge.then(|| NUDGE.to_owned());
    answer.text = print(&answer);
    shown.listed.extend(choice.ids());
    Ok(Composed { answer, used: bodies.used })
}

/// The skills of a turn.
struct Choice<'a> {
    named: Vec<(&'a KnownSkill, &'a Mention)>,
    relevant: Vec<(&'a KnownSkill, &'a Hit)>,
    /// With the name of the skill that led there.
    related: Vec<(&'a KnownSkill, &'a str)>,
    /// Whether the body of the first relevant one is wanted.
    inlines: bool,
}

impl<'a> Choice<'a> {
    fn of(catalogue: &'a UserCatalogue, found: &'a Recalled, shown: &Shown, terms: &Terms) -> Self {
        let skill = |place: usize| catalogue.skills.get(place);
        let mut taken: HashSet<Uuid> = HashSet::new();
        let named: Vec<_> = found.named.iter().filter_map(|m| Some((skill(m.skill)?, m))).collect();
        taken.extend(named.iter().map(|(skill, _)| skill.id));
        let hits = found.ranking.relevant(terms.min_score).iter().filter_map(|hit| Some((skill(hit.skill)?, hit)));
        let is_new = |skill: &KnownSkill| !shown.listed.contains(&skill.id);
        let relevant: Vec<_> =
            hits.filter(|(skill, _)| is_new(skill) && taken.insert(skill.id)).take(terms.relevant).collect();
        let sources = found.named.iter().map(|m| m.skill).chain(relevant.iter().map(|(_, hit)| hit.skill));
        let neighbours = sources.filter_map(|place| Some((place, skill(place)?)));
        let neighbours = neighbours.flat_map(|(place, source)| {
            catalogue
                .index
                .related(place)
                .iter()
                .filter_map(move |other| Some((skill(*other as usize)?, &*source.name)))
        });
        let related = neighbours
            .filter(|(skill, _)| !skill.reserved && is_new(skill) && taken.insert(skill.id))
            .take(RELATED)
            .collect();
        let named = named.into_iter().filter(|(skill, _)| !shown.injected.contains(&skill.id)).take(NAMED).collect();
        Self { named, relevant, related, inlines: terms.inline_top }
    }

    fn ids(&self) -> impl Iterator<Item = Uuid> {
        let named = self.named.iter().map(|(skill, _)| skill.id);
        named.chain(self.relevant.iter().map(|(s, _)| s.id)).chain(self.related.iter().map(|(s, _)| s.id))
    }

    /// Whose bodies are wanted.
    fn wanted(&self) -> Vec<Uuid> {
        let inline = self.relevant.first().filter(|_| self.inlines).map(|(skill, _)| skill.id);
        self.named.iter().map(|(skill, _)| skill.id).chain(inline).collect()
    }
}

/// Bodies, given out within a budget.
struct Bodies {
    read: HashMap<Uuid, (i32, String)>,
    room: usize,
    used: Vec<(Uuid, i32)>,
}

impl Bodies {
    async fn read(app: &App, principal: &Principal, choice: &Choice<'_>, room: usize) -> Result<Self> {
        let wanted = choice.wanted();
        let found =
            if wanted.is_empty() { Vec::new() } else { skills::read_bodies(&app.db, principal, &wanted).await? };
        let read = found.into_iter().map(|(id, version, body)| (id, (version, body))).collect();
        Ok(Self { read, room, used: Vec::new() })
    }

    /// A body, or the characters of one that has no room any more. One that is longer than the room left is cut at the end
    /// of a section.
    fn take(&mut self, skill: Uuid) -> Option<Result<Body, usize>> {
        let (version, content) = self.read.remove(&skill)?;
        let characters = content.chars().count();
        let body = if characters <= self.room {
            Body { version, content, missing: None }
        } else {
            let Some(cut) = cut_body(&content, self.room) else { return Some(Err(characters)) };
            let missing = Some(MissingView { characters: cut.missing, sections: cut.sections });
            Body { version, content: cut.kept.to_owned(), missing }
        };
        self.room -= body.content.chars().count();
        self.used.push((skill, version));
        Some(Ok(body))
    }
}

/// A body as a turn shows it.
struct Body {
    version: i32,
    content: String,
    missing: Option<MissingView>,
}

fn print(answer: &TurnAnswer) -> String {
    let body = |skill: &'_ RelevantView| skill.version.zip(skill.content.clone());
    let inline = answer.relevant.first().and_then(|first| Some((first, body(first)?)));
    render_turn(&TurnParts {
        active: answer
            .active
            .iter()
            .map(|skill| ActiveSkill {
                name: &skill.name,
                version: skill.version,
                content: &skill.content,
                missing: skill.missing.as_ref().map(MissingView::as_part),
            })
            .collect(),
        too_long: answer.too_long.iter().map(|s| TooLong { name: &s.name, characters: s.characters }).collect(),
        relevant: answer.relevant.iter().map(|s| SkillLine { name: &s.name, summary: &s.summary }).collect(),
        inline: inline.as_ref().map(|(skill, (version, content))| ActiveSkill {
            name: &skill.name,
            version: *version,
            content,
            missing: skill.missing.as_ref().map(MissingView::as_part),
        }),
        related: answer.related.iter().map(|s| SkillLine { name: &s.name, summary: &s.summary }).collect(),
        nudge: answer.nudge.is_some(),
    })
}
