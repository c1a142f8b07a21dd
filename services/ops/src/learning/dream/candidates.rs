//! Candidates that code finds without a chat model, as a list for users.

use chrono::NaiveDate;
use knowhow_domain::learning::dream::{Gap, Overlap, Pass, Term};
use knowhow_domain::text::sentence::cut;
use knowhow_domain::{Result, Scope, SessionId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::found::{AtRisk, FoundCandidates, FoundFamily, FoundPair};
use super::inputs::Inputs;
use super::part::InputPart;
use crate::platform::admission;
use crate::{Ctx, Priority};

/// The filter of candidates.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListCandidates {
    /// Only candidates of this pass.
    #[param(inline)]
    pub pass: Option<Pass>,
}

/// Candidates of the requested passes.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub struct DreamCandidates {
    /// Requests without a matching skill that were repeated in different sessions on different days.
    pub gaps: Vec<GapCandidate>,
    /// Words that occur in the first messages of several sessions.
    pub terms: Vec<TermCandidate>,
    /// Sessions that solved a problem without a skill.
    pub solved: Vec<RequestCandidate>,
    /// Skills with the same content.
    pub overlaps: Vec<OverlapCandidate>,
    /// Skills with a common name prefix.
    pub families: Vec<FamilyCandidate>,
    /// Skills that were used in the same sessions within 30 days; the ten most frequent pairs.
    pub co_used: Vec<CoUsedCandidate>,
    /// Skills with less than 200 characters that are older than 7 days.
    pub sparse: Vec<SparseCandidate>,
    /// Skills that failed.
    pub at_risk: Vec<RiskCandidate>,
}

/// A repeated request.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct GapCandidate {
    /// Words that the requests have in common.
    pub label: String,
    /// Mean cosine similarity between the requests.
    pub tightness: f32,
    /// The requests.
    pub requests: Vec<RequestCandidate>,
}

/// The first message of a session.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RequestCandidate {
    /// The session.
    #[schema(value_type = uuid::Uuid)]
    pub session: SessionId,
    /// The day of the session, in UTC.
    pub day: NaiveDate,
    /// The user's first message, at most 300 characters.
    pub message: String,
    /// Whether the session had read untrusted content.
    pub tainted: bool,
}

/// A frequent word.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct TermCandidate {
    /// The word.
    pub term: String,
    /// Number of sessions with the word.
    pub sessions: usize,
}

/// Two skills with the same content.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct OverlapCandidate {
    /// The names of both skills.
    pub skills: [String; 2],
    /// The cosine of their vectors.
    pub cosine: f32,
    /// The cosine, reduced by the similarity that their neighbours share.
    pub centred: f32,
}

/// Skills with a common name prefix.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct FamilyCandidate {
    /// The common prefix.
    #[schema(example = "mcp/*")]
    pub prefix: String,
    /// The members' names, without the skill that gives an overview of them.
    pub members: Vec<String>,
    /// Whether a guide exists: a skill that gives an overview of the members.
    pub has_guide: bool,
}

/// Two skills that were used together.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CoUsedCandidate {
    /// The names of both skills.
    pub skills: [String; 2],
    /// Number of sessions that used both.
    pub sessions: usize,
}

/// A skill with little content.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SparseCandidate {
    /// The skill's name.
    pub skill: String,
    /// Number of characters of the body.
    pub characters: usize,
}

/// A skill that failed.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RiskCandidate {
    /// The skill's name.
    pub skill: String,
    /// Number of sessions with corrections by the user.
    pub corrections: u32,
    /// Number of sessions with negative feedback.
    pub thumbs_down: u32,
    /// Number of sessions of poor or fair quality.
    pub low_quality: u32,
    /// Number of sessions with a reply that used up the budget of its message.
    pub over_budget: u32,
    /// Number of outcomes reported within 30 days.
    pub outcomes: u32,
    /// Number of successful outcomes within 30 days.
    pub successes: u32,
    /// Sessions of the skill with a correction, negative feedback, poor or fair quality, or a spent budget.
    #[schema(value_type = Vec<uuid::Uuid>)]
    pub bad_sessions: Vec<SessionId>,
    /// The other sessions that used the skill.
    #[schema(value_type = Vec<uuid::Uuid>)]
    pub good_sessions: Vec<SessionId>,
}

/// Finds the candidates that a dream would consider. Calls no chat model, but computes missing vectors.
pub async fn list_candidates(ctx: &Ctx, query: &ListCandidates) -> Result<DreamCandidates> {
    ctx.principal.require(Scope::SkillsRead)?;
    ctx.principal.require(Scope::Sessions)?;
    // With many skills the search takes about a second of CPU time.
    let _turn = ctx.app.admission.dream_candidates.turn(&ctx.principal).await?;
    let inputs = Inputs::read(ctx, query.pass, Priority::Change).await?;
    let pass = query.pass;
    admission::compute(move || {
        let found = inputs.find(InputPart::All, pass);
        Ok(shown(&inputs, &found))
    })
    .await
}

/// Maximum characters of a shown message.
const MESSAGE_CHARS: usize = 300;

fn shown(inputs: &Inputs, found: &FoundCandidates) -> DreamCandidates {
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
        corrections: risk.quality.corrections,
        thumbs_down: risk.quality.thumbs_down,
        low_quality: risk.quality.low_quality,
        over_budget: risk.quality.over_budget,
        outcomes: risk.quality.outcomes,
        successes: risk.quality.successes,
        bad_sessions: ids(&risk.bad),
        good_sessions: ids(&risk.good),
    }
}
