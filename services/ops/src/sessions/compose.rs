//! Chooses the found skills that a turn shows: none twice, bodies within their budget, the most specific first.

mod bodies;
mod text;

use std::collections::HashSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use knowhow_domain::recall::{Hit, Mention, Stance};
use knowhow_domain::{Result, SkillId, Tools};
use knowhow_store::{graph, skills};

use self::bodies::{Bodies, Body};
use self::text::{Printing, print};
use super::kept::GivenBody;
use super::view::{ActiveView, ExcludedView, RelatedView, RelevantView, TooLongView, TurnAnswer};
use crate::Ctx;
use crate::recall::{KnownSkill, Recalled, UserCatalogue, reason};

/// Most neighbours of a turn.
const RELATED: usize = 5;

/// Most named skills of a turn: whose bodies are read before their budget is known to hold them.
const MOST_NAMED: usize = 16;

/// Most excluded skills of a turn.
pub(super) const MOST_EXCLUDED: usize = 64;

/// The skills that the session was shown since its prompt was last compressed.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) listed: HashSet<SkillId>,
    pub(super) injected: HashSet<SkillId>,
}

/// The session's terms, as far as they shape a turn.
pub(super) struct Terms {
    /// What the agent can call.
    pub(super) tools: Tools,
    /// Characters of bodies.
    pub(super) body_budget: usize,
    /// Whether the best recalled skill's body comes along.
    pub(super) inline_top: bool,
    /// Most recalled skills.
    pub(super) relevant: usize,
    /// The probability, 0 to 1, from which a turn brings skills that the message does not name.
    pub(super) min_score: f32,
    /// Of skills that were made until then the index in the agent's prompt says what they do; `None` where it says that of some
    /// only.
    pub(super) indexed_until: Option<DateTime<Utc>>,
    /// What to remind of, where it is time.
    pub(super) nudge: Option<String>,
    /// Whether any skill of the user may be tainted.
    pub(super) knows_taint: bool,
    /// Whether any skills of the user are related.
    pub(super) has_relations: bool,
}

impl Terms {
    /// How many recalled skills' bodies come along at most: an agent that cannot load them has no use for names.
    fn inlined(&self) -> usize {
        match (self.tools.can_read(), self.inline_top) {
            (false, _) => self.relevant,
            (true, true) => 1,
            (true, false) => 0,
        }
    }

    /// Whether the index in the agent's prompt says what a skill does.
    fn is_indexed(&self, skill: &KnownSkill) -> bool {
        // The id of a starter that is lent tells no time: it was there before the session.
        self.indexed_until.is_some_and(|until| skill.id.made_at().is_none_or(|made| made <= until))
    }
}

pub(super) struct Composed {
    /// The answer, its numbers aside.
    pub(super) answer: TurnAnswer,
    /// Skills whose bodies it holds, with their versions.
    pub(super) used: Vec<(SkillId, i32)>,
    /// Skills that it offers: those whose bodies it holds, and those that the agent can load by their names.
    pub(super) offered: Vec<SkillId>,
    /// Skills that the message forbids or asks about: it never becomes an example of them.
    pub(super) untaught: Vec<SkillId>,
    /// The bodies of the used skills, in the same order: those of the active skills, then those of the relevant ones.
    pub(super) bodies: Vec<GivenBody>,
}

/// What recall found in a catalogue.
pub(super) struct FromRecall<'a> {
    pub(super) catalogue: &'a Arc<UserCatalogue>,
    pub(super) found: &'a Recalled,
}

/// Composes a turn from what recall found, and adds what it shows to `shown`.
pub(super) async fn compose(
    ctx: &Ctx,
    recalled: &FromRecall<'_>,
    terms: &Terms,
    shown: &mut Shown,
) -> Result<Composed> {
    let FromRecall { catalogue, found } = recalled;
    let mut choice = Choice::of(catalogue, found, shown, terms);
    let (bodies, neighbours) = tokio::join!(Bodies::read(ctx, &choice, terms), choice.list_neighbours(ctx, terms));
    let mut bodies = bodies?;
    choice.add_neighbours(catalogue, &neighbours?, shown);
    if terms.knows_taint {
        choice.find_tainted(ctx).await?;
    }
    let mut answer = TurnAnswer::default();
    let mut offered = Vec::new();
    for (skill, reason) in &choice.named {
        match bodies.take(skill.id) {
            Some(Ok(body)) => {
                // Shows a named body even if it was shown as a reference before: that was no instruction.
                shown.injected.insert(skill.id);
                offered.push(skill.id);
                answer.active.push(ActiveView {
                    name: skill.name.to_string(),
                    version: body.version,
                    content: body.content,
                    missing: body.missing,
                    files: body.files,
                    reason: (*reason).into(),
                    tainted: body.tainted || choice.is_tainted(skill),
                });
            }
            Some(Err(characters)) => {
                if terms.tools.can_read() {
                    offered.push(skill.id);
                }
                answer.too_long.push(TooLongView {
                    name: skill.name.to_string(),
                    characters,
                    tainted: choice.is_tainted(skill),
                });
            }
            // Deleted since the catalogue was read.
            None => {}
        }
    }
    // A similar body must not take the room that a named one needed.
    let inlines = answer.too_long.is_empty() && answer.active.iter().all(|active| active.missing.is_none());
    let inlined = if inlines { terms.inlined() } else { 0 };
    answer.excluded.extend(
        choice.excluded.iter().map(|skill| ExcludedView { name: skill.name.to_string(), reason: EXCLUDED.into() }),
    );
    answer.relevant.extend(
        choice.asked.iter().map(|skill| RelevantView { tainted: choice.is_tainted(skill), ..asked_view(skill) }),
    );
    let mut bodies = bodies.for_recalled(terms, found.ranking.fit);
    for (place, (skill, hit)) in choice.relevant.iter().enumerate() {
        let body = match place {
            _ if place >= inlined => None,
            0 => bodies.take(skill.id).and_then(Result::ok),
            _ => bodies.take_whole(skill.id),
        };
        // An agent that can load it knows it by its name, the others only by its body.
        if terms.tools.can_read() || body.is_some() {
            shown.listed.insert(skill.id);
            offered.push(skill.id);
        }
        answer.relevant.push(RelevantView {
            tainted: choice.is_tainted(skill) || body.as_ref().is_some_and(|body| body.tainted),
            ..relevant_view(skill, hit, found.ranking.fit, body)
        });
    }
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
    Ok(Composed { answer, used: bodies.used, offered, untaught: choice.untaught, bodies: bodies.given })
}

/// The reason of a skill that the message calls for, not only mentions.
const CALLED: &str = "called in the message";

/// The reason of a skill that it mentions.
const NAMED: &str = "named in the message";

/// The reason of a skill that the agent named in what it offered.
const AGREED: &str = "named in what the message agrees to";

/// The reason of a skill that the message forbids.
const EXCLUDED: &str = "the user excluded it";

/// The reason of a skill that the message asks about.
const ASKED: &str = "asked about in the message";

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
        tainted: false,
    }
}

fn relevant_view(skill: &KnownSkill, hit: &Hit, fit: f32, body: Option<Body>) -> RelevantView {
    let (version, content, missing, files) = match body {
        Some(Body { version, content, missing, files, .. }) => (Some(version), Some(content), missing, files),
        None => (None, None, None, Vec::new()),
    };
    RelevantView {
        name: skill.name.to_string(),
        summary: skill.summary.to_string(),
        score: hit.closeness * fit,
        reason: reason(hit),
        content,
        version,
        missing,
        files,
        tainted: false,
    }
}

/// The skills of a turn.
struct Choice<'a> {
    /// With the reason of each.
    named: Vec<(&'a KnownSkill, &'static str)>,
    asked: Vec<&'a KnownSkill>,
    excluded: Vec<&'a KnownSkill>,
    /// Those that the message forbids or asks about.
    untaught: Vec<SkillId>,
    relevant: Vec<(&'a KnownSkill, &'a Hit)>,
    /// With the name of the skill that led there.
    related: Vec<(&'a KnownSkill, &'a str)>,
    /// Those of them that are not to be trusted.
    tainted: HashSet<SkillId>,
}

impl<'a> Choice<'a> {
    fn of(catalogue: &'a UserCatalogue, found: &'a Recalled, shown: &Shown, terms: &Terms) -> Self {
        let skill = |place: usize| catalogue.skills.get(place).map(AsRef::as_ref);
        let mut taken: HashSet<SkillId> = HashSet::new();
        let all = |mentions: &'a [Mention]| mentions.iter().filter_map(|mention| skill(mention.skill));
        taken.extend(all(&found.asked).chain(all(&found.excluded)).map(|skill| skill.id));
        let excluded: Vec<_> = all(&found.excluded).take(MOST_EXCLUDED).collect();
        let untaught =
            all(&found.asked).take(MOST_NAMED).chain(excluded.iter().copied()).map(|skill| skill.id).collect();
        // The agent has the text of one whose body it was shown.
        let asked = all(&found.asked).filter(|skill| !shown.injected.contains(&skill.id)).take(MOST_NAMED).collect();
        let reason = |mention: &Mention| if mention.stance == Stance::Called { CALLED } else { NAMED };
        let own = found.named.iter().map(|mention| (mention.skill, reason(mention)));
        let named = own.chain(found.agreed.iter().map(|mention| (mention.skill, AGREED)));
        let named = named.filter_map(|(place, reason)| Some((skill(place)?, reason)));
        let named: Vec<_> = named.filter(|(skill, _)| taken.insert(skill.id)).collect();
        let hits = found.ranking.relevant(terms.min_score).iter().filter_map(|hit| Some((skill(hit.skill)?, hit)));
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

    /// The strongest neighbours in the graph of what was recalled, where there is room beside what the skills themselves name.
    async fn list_neighbours(&self, ctx: &Ctx, terms: &Terms) -> Result<Vec<(SkillId, SkillId)>> {
        let recalled: Vec<SkillId> = self.recalled().map(|skill| skill.id).collect();
        if !terms.has_relations || recalled.is_empty() || self.related.len() >= RELATED {
            return Ok(Vec::new());
        }
        graph::list_neighbours(&ctx.app.db, &ctx.principal, &recalled, ctx.now()).await
    }

    fn add_neighbours(&mut self, catalogue: &'a UserCatalogue, neighbours: &[(SkillId, SkillId)], shown: &Shown) {
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

    /// What the message names, and what was found besides.
    fn recalled(&self) -> impl Iterator<Item = &'a KnownSkill> {
        let relevant = self.relevant.iter().map(|(skill, _)| *skill);
        self.named.iter().map(|(skill, _)| *skill).chain(relevant)
    }

    /// Asks which are not to be trusted: what recall knows of skills does not tell.
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

    /// Whose bodies are wanted.
    fn wanted(&self, terms: &Terms) -> Vec<SkillId> {
        let inlined = self.relevant.iter().take(terms.inlined()).map(|(skill, _)| skill.id);
        self.named.iter().map(|(skill, _)| skill.id).chain(inlined).collect()
    }
}
