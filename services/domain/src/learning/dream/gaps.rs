//! Gaps: recurring requests that no skill answers.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use chrono::NaiveDate;

use super::cosine::{Direction, cosine, direction_of, mean_of};
use super::label::Labels;
use super::linkage::{Likeness, link};

/// Maximum number of requests that are compared, because the time is quadratic in it. The latest requests are compared.
pub const MOST_REQUESTS: usize = 500;
/// Minimum mean cosine between the requests in a group, after centring.
const LEAST_ALIKE: f32 = 0.28;
/// Minimum cosine between the requests in a group of two. It is higher, because two requests are often similar by
/// chance.
const TWO_ALIKE: f32 = 0.43;
/// Number of requests at which `centre` subtracts half of their mean. The mean of fewer requests reflects their topic
/// rather than the user's style.
const HALF_CENTRED: f32 = 40.0;
/// Cosine to a chatter phrase above which a message is chatter.
const CHATTER: f32 = 0.65;
/// Minimum cosine between a skill and the mean of a group at which the skill answers the group.
const SKILL_ANSWERS: f32 = 0.61;
/// Minimum cosine between an example and the mean of a group. It is higher, because messages are closer to each other
/// than to the descriptions of skills.
const EXAMPLE_ANSWERS: f32 = 0.74;
/// Minimum cosine between a skill and the mean of a group at which the skill may be extended to answer the group.
const SKILL_NEAR: f32 = 0.4;
/// Minimum number of sessions in a group.
const LEAST_SESSIONS: usize = 2;
/// Minimum number of different days in a group.
const LEAST_DAYS: usize = 2;

/// The first message in a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request<'a> {
    /// Number that identifies the session.
    pub session: usize,
    pub day: NaiveDate,
    /// Whether the agent did not fulfil the request.
    pub failed: bool,
    pub text: &'a str,
    /// Embedding of the text. A request with an empty embedding belongs to no gap.
    pub vector: &'a [f32],
}

/// A group of similar requests, from several sessions, that no existing skill answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Gap {
    /// Indices of the requests, in order.
    pub requests: Vec<usize>,
    /// Number of different sessions with these requests.
    pub sessions: usize,
    /// Mean cosine over all pairs of requests; 1 if all requests are equal.
    pub tightness: f32,
    /// At most three words that describe the requests; empty if the requests have no words.
    pub label: String,
}

/// Embeddings that requests are compared with. Each list may be empty.
#[derive(Debug, Clone, Copy, Default)]
pub struct KnownVectors<'a> {
    /// Embeddings of the existing skills, as for recall.
    pub skills: &'a [&'a [f32]],
    /// Embeddings of messages after which these skills were used.
    pub examples: &'a [&'a [f32]],
    /// Embeddings of phrases without a request, see [`list_chatter`](crate::recall::list_chatter).
    pub chatter: &'a [&'a [f32]],
}

/// Finds groups of similar requests from at least two sessions and two days. Leaves out groups with only failed
/// requests, and groups that a skill answers. Gaps with the most sessions come first, then the most similar.
///
/// Only the latest [`MOST_REQUESTS`] are compared. The thresholds come from measurements: `make bench-dream`.
pub fn find_gaps(requests: &[Request<'_>], known: &KnownVectors<'_>) -> Vec<Gap> {
    let compared = take_latest(requests, &directions_of(known.chatter));
    let seen = centre(&compared);
    let groups = link(Likeness::of(compared.len(), |a, b| cosine(&seen[a], &seen[b])), LEAST_ALIKE);
    let is_telling = |group: &[usize]| match group {
        [a, b] => cosine(&seen[*a], &seen[*b]) >= TWO_ALIKE,
        _ => true,
    };
    let [skills, examples] = [known.skills, known.examples].map(directions_of);
    let is_answered = |group: &[usize]| {
        let middle = direction_of(&middle_of(&compared, group)).unwrap_or_default();
        let is_near = |known: &[Direction], least| known.iter().any(|known| cosine(known, &middle) >= least);
        is_near(&skills, SKILL_ANSWERS) || is_near(&examples, EXAMPLE_ANSWERS)
    };
    let labels = Labels::of(compared.iter().map(|compared| compared.request.text));
    let mut gaps: Vec<Gap> = groups
        .into_iter()
        .filter(|group| is_telling(group) && recurs(&compared, group) && !is_answered(group))
        .map(|group| describe(&compared, &group, &labels))
        .collect();
    // The sort is stable: equal gaps stay in the order of `groups`.
    gaps.sort_by(|a, b| Reverse(a.sessions).cmp(&Reverse(b.sessions)).then(b.tightness.total_cmp(&a.tightness)));
    gaps
}

/// Returns the index of the skill closest to the mean of requests, if it is close enough to be extended.
pub fn find_near(skills: &[&[f32]], requests: &[&[f32]]) -> Option<usize> {
    let requests = directions_of(requests);
    let middle = direction_of(&mean_of(requests.iter().map(Vec::as_slice)))?;
    let near = skills.iter().enumerate().filter_map(|(at, skill)| Some((at, cosine(&direction_of(skill)?, &middle))));
    let best = near.filter(|(_, cosine)| *cosine >= SKILL_NEAR).max_by(|(_, a), (_, b)| a.total_cmp(b));
    best.map(|(at, _)| at)
}

/// A request with a usable embedding.
struct ComparedRequest<'a> {
    place: usize,
    request: Request<'a>,
    direction: Direction,
}

/// Returns the latest requests that have a usable embedding and are not chatter. Their order does not depend on the
/// order of `requests`, so that the result is deterministic.
fn take_latest<'a>(requests: &[Request<'a>], chatter: &[Direction]) -> Vec<ComparedRequest<'a>> {
    let with_direction = requests.iter().enumerate().filter_map(|(place, request)| {
        Some(ComparedRequest { place, request: *request, direction: direction_of(request.vector)? })
    });
    let is_chatter =
        |compared: &ComparedRequest<'a>| chatter.iter().any(|phrase| cosine(phrase, &compared.direction) > CHATTER);
    let mut compared: Vec<ComparedRequest<'a>> = with_direction.filter(|compared| !is_chatter(compared)).collect();
    compared.sort_by(|a, b| {
        let key = |compared: &ComparedRequest<'a>| {
            (Reverse(compared.request.day), compared.request.session, compared.request.text)
        };
        key(a).cmp(&key(b)).then_with(|| {
            let numbers =
                |compared: &ComparedRequest<'a>| compared.direction.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            numbers(a).cmp(&numbers(b))
        })
    });
    // Embeddings from different models cannot be compared.
    let dims = compared.first().map_or(0, |latest| latest.direction.len());
    compared.retain(|compared| compared.direction.len() == dims);
    compared.truncate(MOST_REQUESTS);
    compared
}

/// Subtracts a share of the mean from each request. The user's language and style are common to all requests and must
/// not make them similar.
fn centre(compared: &[ComparedRequest<'_>]) -> Vec<Direction> {
    let count = compared.len() as f32;
    let share = count / (count + HALF_CENTRED);
    let middle = middle_of(compared, &(0..compared.len()).collect::<Vec<_>>());
    let seen = |compared: &ComparedRequest<'_>| {
        let moved: Vec<f32> = compared.direction.iter().zip(&middle).map(|(x, middle)| x - share * middle).collect();
        // The share is below 1, so the result is never zero.
        direction_of(&moved).unwrap_or_default()
    };
    compared.iter().map(seen).collect()
}

/// Returns whether a group comes from enough sessions and days, and at least one of its requests succeeded.
fn recurs(compared: &[ComparedRequest<'_>], group: &[usize]) -> bool {
    let requests = || group.iter().map(|at| &compared[*at].request);
    let days: BTreeSet<NaiveDate> = requests().map(|request| request.day).collect();
    let succeeded = requests().any(|request| !request.failed);
    count_sessions(compared, group) >= LEAST_SESSIONS && days.len() >= LEAST_DAYS && succeeded
}

fn count_sessions(compared: &[ComparedRequest<'_>], group: &[usize]) -> usize {
    group.iter().map(|at| compared[*at].request.session).collect::<BTreeSet<_>>().len()
}

/// Returns the mean direction of a group.
fn middle_of(compared: &[ComparedRequest<'_>], group: &[usize]) -> Vec<f32> {
    mean_of(group.iter().map(|at| compared[*at].direction.as_slice()))
}

fn directions_of(vectors: &[&[f32]]) -> Vec<Direction> {
    vectors.iter().filter_map(|vector| direction_of(vector)).collect()
}

fn describe(compared: &[ComparedRequest<'_>], group: &[usize], labels: &Labels) -> Gap {
    let pairs = group.iter().enumerate().flat_map(|(at, a)| group[at + 1..].iter().map(move |b| (*a, *b)));
    let cosines: Vec<f32> = pairs.map(|(a, b)| cosine(&compared[a].direction, &compared[b].direction)).collect();
    let mut requests: Vec<usize> = group.iter().map(|at| compared[*at].place).collect();
    requests.sort_unstable();
    Gap {
        requests,
        sessions: count_sessions(compared, group),
        tightness: cosines.iter().sum::<f32>() / cosines.len().max(1) as f32,
        label: labels.name(group),
    }
}

#[cfg(test)]
mod tests;
