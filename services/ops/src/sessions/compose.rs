//! Chooses which of the found skills a turn shows. Each skill is shown once, and skills that the user calls for come
//! first. A budget limits the characters of bodies.

mod bodies;
mod text;

use std::collections::HashSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use knowhow_domain::recall::{Hit, Mention, Stance};
use knowhow_domain::{Result, SkillId, Tools};
use knowhow_store::{graph, skills};

use self::bodies::{Bodies, ShownBody};
use self::text::{Printing, print};
use super::view::{ActiveView, ExcludedView, RelatedView, RelevantView, TooLongView, TurnAnswer};
use crate::Ctx;
use crate::recall::{KnownSkill, Recalled, UserCatalogue, reason};
use crate::sessions::stored_answers::TurnBody;

/// Maximum number of related skills in a turn.
const RELATED: usize = 5;

/// Maximum number of named skills in a turn. Their bodies are read before it is known which ones fit into the budget.
const MOST_NAMED: usize = 16;

/// Maximum number of excluded skills in a turn.
const MOST_EXCLUDED: usize = 64;

/// Skills that the session was shown since the agent's prompt was last compressed.
#[derive(Default)]
pub(super) struct ShownSkills {
    pub(super) listed: HashSet<SkillId>,
    pub(super) injected: HashSet<SkillId>,
}

/// The settings of a session that affect its turns.
pub(super) struct Terms {
    /// Tools that the agent can call.
    pub(super) tools: Tools,
    /// Maximum number of characters in skill bodies.
    pub(super) body_budget: usize,
    /// Whether to include the body of the best recalled skill.
    pub(super) inline_top: bool,
    /// Maximum number of recalled skills.
    pub(super) relevant: usize,
    /// Minimum probability, 0 to 1, that the message asks for any skill. Below it, a turn shows only named skills.
    pub(super) min_score: f32,
    /// Time at which the agent's prompt was rendered: its index describes every skill created until then. `None` if the
    /// index omits descriptions.
    pub(super) indexed_until: Option<DateTime<Utc>>,
    /// Reminder to include in the turn, if one is due.
    pub(super) nudge: Option<String>,
    /// Whether any skill of the user may be tainted.
    pub(super) knows_taint: bool,
    /// Whether the user has skills that are related in the graph.
    pub(super) has_relations: bool,
}

impl Terms {
    /// Returns the maximum number of recalled skills with bodies. An agent that cannot load skills needs the bodies
    /// of all recalled skills.
    fn inlined(&self) -> usize {
        match (self.tools.can_read(), self.inline_top) {
            (false, _) => self.relevant,
            (true, true) => 1,
            (true, false) => 0,
        }
    }

    /// Returns whether the index in the agent's prompt describes the skill.
    fn is_indexed(&self, skill: &KnownSkill) -> bool {
        // A shared starter's id contains no time. Shared starters exist before the session.
        self.indexed_until.is_some_and(|until| skill.id.made_at().is_none_or(|made| made <= until))
    }
}

pub(super) struct ComposedTurn {
    /// The answer, without turn number and budget, which the caller sets.
    pub(super) answer: TurnAnswer,
    /// Skills with a body in the answer, with their versions.
    pub(super) used: Vec<(SkillId, i32)>,
    /// Skills that the turn offers: skills with a body, and skills that the agent can load by name.
    pub(super) offered: Vec<SkillId>,
    /// Skills that the message forbids.
    pub(super) excluded: Vec<SkillId>,
    /// Skills that the message forbids or asks about. The message is not stored as an example of them.
    pub(super) untaught: Vec<SkillId>,
    /// Bodies of the used skills, in the order of `used`: active skills first, then relevant ones.
    pub(super) bodies: Vec<TurnBody>,
}

/// The result of recall, with the catalogue that was searched.
pub(super) struct RecallOutcome<'a> {
    pub(super) catalogue: &'a Arc<UserCatalogue>,
    pub(super) found: &'a Recalled,
}

/// Composes a turn from the recalled skills. Adds the skills that it shows to `shown`.
pub(super) async fn compose(
    ctx: &Ctx,
    recalled: &RecallOutcome<'_>,
    terms: &Terms,
    shown: &mut ShownSkills,
) -> Result<ComposedTurn> {
    let RecallOutcome { catalogue, found } = recalled;
    let mut choice = ChosenSkills::of(catalogue, found, shown, terms);
    let (bodies, neighbours) = tokio::join!(Bodies::read(ctx, &choice, terms), choice.list_neighbours(ctx, terms));
    let mut bodies = bodies?;
    choice.add_neighbours(catalogue, &neighbours?, shown);
    if terms.knows_taint {
        choice.find_tainted(ctx).await?;
    }
    let mut made =
        AnswerInProgress { choice: &choice, terms, shown, answer: TurnAnswer::default(), offered: Vec::new() };
    made.add_named(&mut bodies);
    // If a named skill did not fit completely, recalled skills get no bodies, because named skills have priority.
    let inlines = made.answer.too_long.is_empty() && made.answer.active.iter().all(|active| active.missing.is_none());
    let inlined = if inlines { terms.inlined() } else { 0 };
    made.answer.excluded.extend(
        choice.excluded.iter().map(|skill| ExcludedView { name: skill.name.to_string(), reason: EXCLUDED.into() }),
    );
    made.answer.relevant.extend(
        choice.asked.iter().map(|skill| RelevantView { tainted: choice.is_tainted(skill), ..asked_view(skill) }),
    );
    let mut bodies = bodies.for_recalled(terms, found.fit());
    made.add_relevant(&mut bodies, found, inlined);
    let AnswerInProgress { mut answer, offered, .. } = made;
    answer.related.extend(choice.related.iter().map(|(skill, via)| RelatedView {
        name: skill.name.to_string(),
        summary: skill.summary.to_string(),
        via: via.to_string(),
        tainted: choice.is_tainted(skill),
    }));
    answer.nudge.clone_from(&terms.nudge);
    answer.text = print(&answer, &bodies.given, &Printing { choice: &choice, terms });
    shown.listed.extend(choice.named.iter().map(|(skill, _)| skill.id));
    shown.listed.extend(choice.asked.iter().map(|skill| skill.id));
    shown.listed.extend(choice.related.iter().map(|(skill, _)| skill.id));
    let excluded = choice.excluded.iter().map(|skill| skill.id).collect();
    Ok(ComposedTurn { answer, used: bodies.used, offered, excluded, untaught: choice.untaught, bodies: bodies.given })
}

/// An answer that is being composed.
struct AnswerInProgress<'a> {
    choice: &'a ChosenSkills<'a>,
    terms: &'a Terms,
    shown: &'a mut ShownSkills,
    answer: TurnAnswer,
    offered: Vec<SkillId>,
}

impl AnswerInProgress<'_> {
    /// Adds the named skills with their bodies. For a body that exceeds the budget, adds only its size.
    fn add_named(&mut self, bodies: &mut Bodies) {
        for (skill, reason) in &self.choice.named {
            match bodies.take(skill.id) {
                Some(Ok(body)) => {
                    // A named skill gets its body even if the session listed it before, because a line in a list is
                    // no instruction.
                    self.shown.injected.insert(skill.id);
                    self.offered.push(skill.id);
                    self.answer.active.push(ActiveView {
                        name: skill.name.to_string(),
                        version: body.version,
                        content: body.content,
                        missing: body.missing,
                        files: body.files,
                        more_files: body.more_files,
                        reason: (*reason).into(),
                        tainted: body.tainted || self.choice.is_tainted(skill),
                    });
                }
                Some(Err(characters)) => {
                    if self.terms.tools.can_read() {
                        self.offered.push(skill.id);
                    }
                    self.answer.too_long.push(TooLongView {
                        name: skill.name.to_string(),
                        characters,
                        tainted: self.choice.is_tainted(skill),
                    });
                }
                // The skill was deleted after the catalogue was read.
                None => {}
            }
        }
    }

    /// Adds the recalled skills. The first `inlined` ones get their bodies, if these fit.
    fn add_relevant(&mut self, bodies: &mut Bodies, found: &Recalled, inlined: usize) {
        for (place, (skill, hit)) in self.choice.relevant.iter().enumerate() {
            let body = match place {
                _ if place >= inlined => None,
                0 => bodies.take(skill.id).and_then(Result::ok),
                _ => bodies.take_whole(skill.id),
            };
            // An agent without tools can use only skills with a body.
            if self.terms.tools.can_read() || body.is_some() {
                self.shown.listed.insert(skill.id);
                self.offered.push(skill.id);
            }
            self.answer.relevant.push(RelevantView {
                tainted: self.choice.is_tainted(skill) || body.as_ref().is_some_and(|body| body.tainted),
                ..relevant_view(skill, hit, found, body)
            });
        }
    }
}

/// Reason for a skill that the message calls for.
const CALLED: &str = "called in the message";

/// Reason for a skill that the message mentions.
const NAMED: &str = "named in the message";

/// Reason for a skill that the agent offered, if the message accepts the offer.
const AGREED: &str = "named in the offer that the message agrees to";

/// Reason for a skill that the message forbids.
const EXCLUDED: &str = "the user excluded it";

/// Reason for a skill that the message asks about.
const ASKED: &str = "asked about in the message";

/// Beginning of the reason for a skill that a model chose.
const JUDGED: &str = "chosen by the model";

fn asked_view(skill: &KnownSkill) -> RelevantView {
    RelevantView {
        name: skill.name.to_string(),
        summary: skill.summary.to_string(),
        score: 1.0,
        reason: ASKED.into(),
        content: None,
        version: None,
        missing: None,
        files: Vec::new(),
        more_files: 0,
        tainted: false,
    }
}

fn relevant_view(skill: &KnownSkill, hit: &Hit, found: &Recalled, body: Option<ShownBody>) -> RelevantView {
    let view = RelevantView {
        score: hit.closeness * found.ranking.fit,
        reason: if found.judged.is_some() { format!("{JUDGED}; {}", reason(hit)) } else { reason(hit) },
        ..asked_view(skill)
    };
    let Some(ShownBody { version, content, missing, files, more_files, .. }) = body else { return view };
    RelevantView { content: Some(content), version: Some(version), missing, files, more_files, ..view }
}

/// The skills that a turn shows.
struct ChosenSkills<'a> {
    /// Named skills, each with its reason.
    named: Vec<(&'a KnownSkill, &'static str)>,
    asked: Vec<&'a KnownSkill>,
    excluded: Vec<&'a KnownSkill>,
    /// Skills that the message forbids or asks about. The message is not stored as an example of them.
    untaught: Vec<SkillId>,
    relevant: Vec<(&'a KnownSkill, &'a Hit)>,
    /// Related skills, each with the name of the skill that it is related to.
    related: Vec<(&'a KnownSkill, &'a str)>,
    /// Ids of the tainted skills among the skills above.
    tainted: HashSet<SkillId>,
}

impl<'a> ChosenSkills<'a> {
    fn of(catalogue: &'a UserCatalogue, found: &'a Recalled, shown: &ShownSkills, terms: &Terms) -> Self {
        let skill = |place: usize| catalogue.skills.get(place).map(AsRef::as_ref);
        let mut taken: HashSet<SkillId> = HashSet::new();
        let all = |mentions: &'a [Mention]| mentions.iter().filter_map(|mention| skill(mention.skill));
        taken.extend(all(&found.asked).chain(all(&found.excluded)).map(|skill| skill.id));
        let excluded: Vec<_> = all(&found.excluded).take(MOST_EXCLUDED).collect();
        let untaught =
            all(&found.asked).take(MOST_NAMED).chain(excluded.iter().copied()).map(|skill| skill.id).collect();
        // If the body of a skill was shown before, the agent already has the skill's text.
        let asked = all(&found.asked).filter(|skill| !shown.injected.contains(&skill.id)).take(MOST_NAMED).collect();
        let reason = |mention: &Mention| if mention.stance == Stance::Called { CALLED } else { NAMED };
        let own = found.named.iter().map(|mention| (mention.skill, reason(mention)));
        let named = own.chain(found.agreed.iter().map(|mention| (mention.skill, AGREED)));
        let named = named.filter_map(|(place, reason)| Some((skill(place)?, reason)));
        let named: Vec<_> = named.filter(|(skill, _)| taken.insert(skill.id)).collect();
        let hits = found.relevant(terms.min_score).iter().filter_map(|hit| Some((skill(hit.skill)?, hit)));
        let is_new = |skill: &KnownSkill| !shown.listed.contains(&skill.id);
        let relevant: Vec<_> =
            hits.filter(|(skill, _)| is_new(skill) && taken.insert(skill.id)).take(terms.relevant).collect();
        let named_places = found.named.iter().chain(&found.agreed).map(|m| m.skill);
        let sources = named_places.chain(relevant.iter().map(|(_, hit)| hit.skill));
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
        let named =
            named.into_iter().filter(|(skill, _)| !shown.injected.contains(&skill.id)).take(MOST_NAMED).collect();
        Self { named, asked, excluded, untaught, relevant, related, tainted: HashSet::new() }
    }

    /// Lists the strongest neighbours of the recalled skills in the graph. Returns an empty list if `see_also`
    /// references fill the limit of related skills.
    async fn list_neighbours(&self, ctx: &Ctx, terms: &Terms) -> Result<Vec<(SkillId, SkillId)>> {
        let recalled: Vec<SkillId> = self.recalled().map(|skill| skill.id).collect();
        if !terms.has_relations || recalled.is_empty() || self.related.len() >= RELATED {
            return Ok(Vec::new());
        }
        graph::list_neighbours(&ctx.app.db, &ctx.principal, &recalled, ctx.now()).await
    }

    fn add_neighbours(&mut self, catalogue: &'a UserCatalogue, neighbours: &[(SkillId, SkillId)], shown: &ShownSkills) {
        for (of, other) in neighbours {
            let skill = |id: SkillId| catalogue.skills.iter().find(|skill| skill.id == id).map(AsRef::as_ref);
            let (Some(source), Some(other)) = (skill(*of), skill(*other)) else { continue };
            let related = self.related.iter().map(|(skill, _)| *skill);
            let others = self.asked.iter().chain(&self.excluded).copied();
            let is_there = self.recalled().chain(related).chain(others).any(|s| s.id == other.id);
            if self.related.len() < RELATED && !is_there && !other.reserved && !shown.listed.contains(&other.id) {
                self.related.push((other, &source.name));
            }
        }
    }

    /// Returns the named and the relevant skills.
    fn recalled(&self) -> impl Iterator<Item = &'a KnownSkill> {
        let relevant = self.relevant.iter().map(|(skill, _)| *skill);
        self.named.iter().map(|(skill, _)| *skill).chain(relevant)
    }

    /// Finds the tainted skills. The marks are read from the database, because the catalogue does not contain them.
    async fn find_tainted(&mut self, ctx: &Ctx) -> Result<()> {
        let named = self.named.iter().map(|(skill, _)| skill.id);
        let relevant = self.relevant.iter().map(|(skill, _)| *skill).chain(self.asked.iter().copied());
        let relevant = relevant.map(|skill| skill.id);
        let ids: Vec<SkillId> = named.chain(relevant).chain(self.related.iter().map(|(skill, _)| skill.id)).collect();
        if !ids.is_empty() {
            self.tainted =
                skills::find_tainted(&ctx.app.db, &ctx.principal, &ids, ctx.now()).await?.into_iter().collect();
        }
        Ok(())
    }

    fn is_tainted(&self, skill: &KnownSkill) -> bool {
        self.tainted.contains(&skill.id)
    }

    /// Returns the skills with bodies that must be read.
    fn wanted(&self, terms: &Terms) -> Vec<SkillId> {
        let inlined = self.relevant.iter().take(terms.inlined()).map(|(skill, _)| skill.id);
        self.named.iter().map(|(skill, _)| skill.id).chain(inlined).collect()
    }
}
