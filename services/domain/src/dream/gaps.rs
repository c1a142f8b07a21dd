//! Gaps: requests that come again and again without a skill for them.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use chrono::NaiveDate;

use super::cosine::{Direction, cosine, direction_of, mean_of};
use super::label::Labels;
use super::linkage::{Likeness, link};

/// So many requests are looked at, the latest: the time grows with the square of their number.
pub const MOST_REQUESTS: usize = 500;
/// So alike are requests that ask for the same, as seen from the middle of all, in the mean.
const LEAST_ALIKE: f32 = 0.28;
/// Two requests alone must be so alike: by chance two are nearer to each other than three or more.
const TWO_ALIKE: f32 = 0.43;
/// With so many requests half of their middle is taken away: that of a few says more of what they ask for than of how this
/// user asks for things.
const HALF_CENTRED: f32 = 40.0;
/// A message so near to one that asks for no skill asks for none either.
const CHATTER: f32 = 0.65;
/// A skill so near to the middle of the requests answers them.
const SKILL_ANSWERS: f32 = 0.61;
/// So does one that was used after such a message. Messages are nearer to each other than to what skills say of themselves.
const EXAMPLE_ANSWERS: f32 = 0.74;
const LEAST_SESSIONS: usize = 2;
const LEAST_DAYS: usize = 2;

/// The first message of a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request<'a> {
    /// Which session, by any number that is its own.
    pub session: usize,
    pub day: NaiveDate,
    /// Whether what was asked for was not done.
    pub failed: bool,
    pub text: &'a str,
    /// Its embedding; a request without one belongs to no gap.
    pub vector: &'a [f32],
}

/// Requests of several sessions that ask for the same, which no skill answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Gap {
    /// The places of the requests, in order.
    pub requests: Vec<usize>,
    /// How many sessions made them.
    pub sessions: usize,
    /// The mean cosine of two of them, 1 where all say the same.
    pub tightness: f32,
    /// The words that they share, at most three; nothing where they have no words.
    pub label: String,
}

/// What is known before, as embeddings. What is not given is not asked about.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'a> {
    /// Of the skills that there are, as recall embeds them.
    pub skills: &'a [&'a [f32]],
    /// Of messages after which these were used.
    pub examples: &'a [&'a [f32]],
    /// Of phrases that ask for no skill, see [`list_chatter`](crate::recall::list_chatter).
    pub chatter: &'a [&'a [f32]],
}

/// Finds requests of two sessions and more, on two days and more, that ask for the same: not all in vain, and none that a
/// skill answers. Most sessions first, then the tightest.
///
/// Of more than [`MOST_REQUESTS`] the latest are looked at. The numbers that decide are measured: `make bench-dream`.
pub fn find_gaps(requests: &[Request<'_>], known: &Known<'_>) -> Vec<Gap> {
    let asked = take_latest(requests, &directions_of(known.chatter));
    let seen = centre(&asked);
    let groups = link(Likeness::of(asked.len(), |a, b| cosine(&seen[a], &seen[b])), LEAST_ALIKE);
    let is_telling = |group: &[usize]| match group {
        [a, b] => cosine(&seen[*a], &seen[*b]) >= TWO_ALIKE,
        _ => true,
    };
    let [skills, examples] = [known.skills, known.examples].map(directions_of);
    let is_answered = |group: &[usize]| {
        let middle = direction_of(&middle_of(&asked, group)).unwrap_or_default();
        let is_near = |known: &[Direction], least| known.iter().any(|known| cosine(known, &middle) >= least);
        is_near(&skills, SKILL_ANSWERS) || is_near(&examples, EXAMPLE_ANSWERS)
    };
    let labels = Labels::of(asked.iter().map(|asked| asked.request.text));
    let mut gaps: Vec<Gap> = groups
        .into_iter()
        .filter(|group| is_telling(group) && recurs(&asked, group) && !is_answered(group))
        .map(|group| describe(&asked, &group, &labels))
        .collect();
    // Equals keep the order of their earliest requests.
    gaps.sort_by(|a, b| Reverse(a.sessions).cmp(&Reverse(b.sessions)).then(b.tightness.total_cmp(&a.tightness)));
    gaps
}

/// A request that can be compared.
struct Asked<'a> {
    place: usize,
    request: Request<'a>,
    direction: Direction,
}

/// The latest requests that have a vector and are no chatter, in an order that is not that of the caller: what is found is
/// the same however they were sorted.
fn take_latest<'a>(requests: &[Request<'a>], chatter: &[Direction]) -> Vec<Asked<'a>> {
    let with_direction = requests.iter().enumerate().filter_map(|(place, request)| {
        Some(Asked { place, request: *request, direction: direction_of(request.vector)? })
    });
    let is_chatter = |asked: &Asked<'a>| chatter.iter().any(|phrase| cosine(phrase, &asked.direction) > CHATTER);
    let mut asked: Vec<Asked<'a>> = with_direction.filter(|asked| !is_chatter(asked)).collect();
    asked.sort_by(|a, b| {
        let key = |asked: &Asked<'a>| (Reverse(asked.request.day), asked.request.session, asked.request.text);
        key(a).cmp(&key(b)).then_with(|| {
            let numbers = |asked: &Asked<'a>| asked.direction.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            numbers(a).cmp(&numbers(b))
        })
    });
    // What another model embedded cannot be compared with what the present one did.
    let dims = asked.first().map_or(0, |latest| latest.direction.len());
    asked.retain(|asked| asked.direction.len() == dims);
    asked.truncate(MOST_REQUESTS);
    asked
}

/// The directions of requests as seen from their middle: what all have in common, the language and how one asks, does not
/// make two of them alike.
fn centre(asked: &[Asked<'_>]) -> Vec<Direction> {
    let count = asked.len() as f32;
    let share = count / (count + HALF_CENTRED);
    let middle = middle_of(asked, &(0..asked.len()).collect::<Vec<_>>());
    let seen = |asked: &Asked<'_>| {
        let moved: Vec<f32> = asked.direction.iter().zip(&middle).map(|(x, middle)| x - share * middle).collect();
        // No share is whole, so something is always left.
        direction_of(&moved).unwrap_or_default()
    };
    asked.iter().map(seen).collect()
}

/// Whether it came in several sessions on several days, and not always in vain.
fn recurs(asked: &[Asked<'_>], group: &[usize]) -> bool {
    let requests = || group.iter().map(|at| &asked[*at].request);
    let days: BTreeSet<NaiveDate> = requests().map(|request| request.day).collect();
    let succeeded = requests().any(|request| !request.failed);
    count_sessions(asked, group) >= LEAST_SESSIONS && days.len() >= LEAST_DAYS && succeeded
}

fn count_sessions(asked: &[Asked<'_>], group: &[usize]) -> usize {
    group.iter().map(|at| asked[*at].request.session).collect::<BTreeSet<_>>().len()
}

/// The mean of some requests.
fn middle_of(asked: &[Asked<'_>], group: &[usize]) -> Vec<f32> {
    mean_of(group.iter().map(|at| asked[*at].direction.as_slice()))
}

fn directions_of(vectors: &[&[f32]]) -> Vec<Direction> {
    vectors.iter().filter_map(|vector| direction_of(vector)).collect()
}

fn describe(asked: &[Asked<'_>], group: &[usize], labels: &Labels) -> Gap {
    let pairs = group.iter().enumerate().flat_map(|(at, a)| group[at + 1..].iter().map(move |b| (*a, *b)));
    let cosines: Vec<f32> = pairs.map(|(a, b)| cosine(&asked[a].direction, &asked[b].direction)).collect();
    let mut requests: Vec<usize> = group.iter().map(|at| asked[*at].place).collect();
    requests.sort_unstable();
    Gap {
        requests,
        sessions: count_sessions(asked, group),
        tightness: cosines.iter().sum::<f32>() / cosines.len().max(1) as f32,
        label: labels.name(group),
    }
}

#[cfg(test)]
mod tests;
