//! Candidates: what code finds without any model, for whoever wants to look.

use chrono::NaiveDate;
use knowhow_domain::dream::{Gap, Overlap, Pass, Term};
use knowhow_domain::sentence::cut;
use knowhow_domain::{Result, Scope, SessionId};
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;
use utoipa::{IntoParams, ToSchema};

use super::found::{AtRisk, Found, FoundFamily, FoundPair};
use super::inputs::Inputs;
use super::part::Part;
use crate::dear::{self, Line};
use crate::{Ctx, Priority};

/// Which candidates.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListCandidates {
    /// Those of this pass alone.
    #[param(inline)]
    pub pass: Option<Pass>,
}

/// Candidates of the passes that were asked for.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub struct DreamCandidates {
    /// Requests that came again and again, in different conversations on different days, and that no skill is about.
    pub gaps: Vec<GapCandidate>,
    /// Words that came up in several conversations' first messages.
    pub terms: Vec<TermCandidate>,
    /// Conversations in which something was worked out without a skill.
    pub solved: Vec<RequestCandidate>,
    /// Skills that say the same.
    pub overlaps: Vec<OverlapCandidate>,
    /// Skills whose names begin alike.
    pub families: Vec<FamilyCandidate>,
    /// Skills that were used in the same conversations within 30 days, the ten most frequent pairs.
    pub co_used: Vec<CoUsedCandidate>,
    /// Skills of less than 200 characters that are older than 7 days.
    pub sparse: Vec<SparseCandidate>,
    /// Skills that failed.
    pub at_risk: Vec<RiskCandidate>,
}

/// Something that was asked for again and again.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct GapCandidate {
    /// Words that the requests have in common.
    pub label: String,
    /// How near the requests are to each other: their mean cosine.
    pub tightness: f32,
    /// The requests.
    pub requests: Vec<RequestCandidate>,
}

/// How a conversation began.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RequestCandidate {
    /// The conversation.
    #[schema(value_type = uuid::Uuid)]
    pub session: SessionId,
    /// On which day, in UTC.
    pub day: NaiveDate,
    /// What the user said first, at most 300 characters.
    pub message: String,
    /// Whether the conversation had read what is not to be trusted.
    pub tainted: bool,
}

/// A word that comes up.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct TermCandidate {
    /// The word.
    pub term: String,
    /// In how many conversations.
    pub sessions: usize,
}

/// Two skills that say the same.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct OverlapCandidate {
    /// Their names.
    pub skills: [String; 2],
    /// The cosine of their vectors.
    pub cosine: f32,
    /// The same less what their neighbours have in common.
    pub centred: f32,
}

/// Skills whose names begin alike.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct FamilyCandidate {
    /// How they begin.
    #[schema(example = "mcp/*")]
    pub prefix: String,
    /// Their names, without the guide.
    pub members: Vec<String>,
    /// Whether there is a guide.
    pub has_guide: bool,
}

/// Two skills that were used together.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CoUsedCandidate {
    /// Their names.
    pub skills: [String; 2],
    /// In how many conversations.
    pub sessions: usize,
}

/// A skill that says little.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SparseCandidate {
    /// Its name.
    pub skill: String,
    /// Characters of its body.
    pub characters: usize,
}

/// A skill that failed.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RiskCandidate {
    /// Its name.
    pub skill: String,
    /// Conversations in which the agent was put right.
    pub corrections: u32,
    /// Conversations that somebody disliked.
    pub thumbs_down: u32,
    /// Conversations of poor or fair quality.
    pub low_quality: u32,
    /// Conversations in which a reply spent the budget of its message.
    pub over_budget: u32,
    /// Reported outcomes of 30 days, and how many were successes.
    pub outcomes: u32,
    /// Successes among them.
    pub successes: u32,
    /// Conversations that speak against it.
    #[schema(value_type = Vec<uuid::Uuid>)]
    pub bad_sessions: Vec<SessionId>,
    /// Conversations that went well with it.
    #[schema(value_type = Vec<uuid::Uuid>)]
    pub good_sessions: Vec<SessionId>,
}

/// Finds what a dream would look at. No model is asked but for vectors.
///
/// # Errors
/// `Forbidden`, `Unavailable`.
pub async fn list_candidates(ctx: &Ctx, query: &ListCandidates) -> Result<DreamCandidates> {
    ctx.principal.require(Scope::SkillsRead)?;
    ctx.principal.require(Scope::Sessions)?;
    // Of a large library it takes a second of the processor.
    let _turn = LINE.turn(&ctx.principal).await?;
    let inputs = Inputs::read(ctx, query.pass, Priority::Change).await?;
    let pass = query.pass;
    dear::compute(move || {
        let found = inputs.find(Part::All, pass);
        Ok(shown(&inputs, &found))
    })
    .await
}

/// Everybody stands in it who waits for candidates.
pub(super) static LINE: LazyLock<Line> =
    LazyLock::new(|| Line::new("searches for candidates of this tenant's dreams", AT_ONCE));

const AT_ONCE: usize = 2;

/// Characters of a message that are shown.
const MESSAGE_CHARS: usize = 300;

fn shown(inputs: &Inputs, found: &Found) -> DreamCandidates {
    let request = |at: &usize| {
        let session = &inputs.sessions[*at];
        RequestCandidate {
            session: session.id,
            day: session.started_at.date_naive(),
            message: cut(&session.first_message, MESSAGE_CHARS),
            tainted: !session.tainted_by.is_empty(),
        }
    };
    let name = |at: usize| inputs.skills[at].name.clone();
    let gap = |gap: &Gap| GapCandidate {
        label: gap.label.clone(),
        tightness: gap.tightness,
        requests: gap.requests.iter().map(request).collect(),
    };
    let pair = |pair: &Overlap| OverlapCandidate {
        skills: [name(pair.first), name(pair.second)],
        cosine: pair.cosine,
        centred: pair.centred,
    };
    let family = |family: &FoundFamily| FamilyCandidate {
        prefix: format!("{}/*", family.prefix),
        members: family.members.clone(),
        has_guide: family.has_guide,
    };
    let used = |pair: &FoundPair| CoUsedCandidate {
        skills: [pair.first.clone(), pair.second.clone()],
        sessions: pair.sessions,
    };
    let sparse =
        |at: &usize| SparseCandidate { skill: name(*at), characters: inputs.skills[*at].body().chars().count() };
    DreamCandidates {
        gaps: found.gaps.iter().map(gap).collect(),
        terms: found.terms.iter().map(TermCandidate::of).collect(),
        solved: found.solved.iter().map(request).collect(),
        overlaps: found.overlaps.iter().map(pair).collect(),
        families: found.families.iter().map(family).collect(),
        co_used: found.co_used.iter().map(used).collect(),
        sparse: found.sparse.iter().map(sparse).collect(),
        at_risk: found.at_risk.iter().map(|risk| risk_of(inputs, risk)).collect(),
    }
}

impl TermCandidate {
    fn of(term: &Term) -> Self {
        Self { term: term.word.clone(), sessions: term.sessions }
    }
}

fn risk_of(inputs: &Inputs, risk: &AtRisk) -> RiskCandidate {
    let ids = |places: &[usize]| places.iter().map(|at| inputs.sessions[*at].id).collect();
    RiskCandidate {
        skill: inputs.skills[risk.skill].name.clone(),
        corrections: risk.standing.corrections,
        thumbs_down: risk.standing.thumbs_down,
        low_quality: risk.standing.low_quality,
        over_budget: risk.standing.over_budget,
        outcomes: risk.standing.outcomes,
        successes: risk.standing.successes,
        bad_sessions: ids(&risk.bad),
        good_sessions: ids(&risk.good),
    }
}
