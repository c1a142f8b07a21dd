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
const LEAST_ALIKE: f32 = 0.26;
/// Two requests alone must be so alike: by chance two are nearer to each other than three or more.
const TWO_ALIKE: f32 = 0.40;
/// With so many requests half of their middle is taken away: that of a few says more of what they ask for than of how this
/// user asks for things.
const HALF_CENTRED: f32 = 40.0;
/// A message so near to one that asks for no skill asks for none either.
const CHATTER: f32 = 0.60;
/// A skill so near to the middle of the requests answers them.
const SKILL_ANSWERS: f32 = 0.60;
/// So does one that was used after such a message. Messages are nearer to each other than to what skills say of themselves.
const EXAMPLE_ANSWERS: f32 = 0.75;
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
mod tests {
    use chrono::Days;
    use proptest::prelude::*;

    use super::*;

    fn request<'a>(session: usize, day: u64, vector: &'a [f32]) -> Request<'a> {
        let day = NaiveDate::default() + Days::new(day);
        Request { session, day, failed: false, text: "reset the router", vector }
    }

    const EAST: [f32; 3] = [1.0, 0.0, 0.0];
    const NEAR_EAST: [f32; 3] = [0.95, 0.2, 0.0];
    const NORTH: [f32; 3] = [0.0, 1.0, 0.0];
    const UP: [f32; 3] = [0.0, 0.0, 1.0];

    fn two_like_requests() -> [Request<'static>; 4] {
        [request(1, 0, &EAST), request(2, 0, &NORTH), request(3, 1, &NEAR_EAST), request(4, 2, &UP)]
    }

    #[test]
    fn like_requests_of_two_days_are_a_gap() {
        let found = find_gaps(&two_like_requests(), &Known::default());
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].requests.as_slice(), found[0].sessions), (&[0, 2][..], 2));
        assert!(found[0].tightness > 0.97);
        assert_eq!(found[0].label, "router reset");
    }

    #[test]
    fn one_day_one_session_or_failures_alone_are_no_gap() {
        let mut requests = two_like_requests();
        requests[2].day = requests[0].day;
        assert_eq!(find_gaps(&requests, &Known::default()), []);
        let mut requests = two_like_requests();
        requests[2].session = 1;
        assert_eq!(find_gaps(&requests, &Known::default()), []);
        let mut requests = two_like_requests();
        requests[0].failed = true;
        assert_eq!(find_gaps(&requests, &Known::default()).len(), 1);
        requests[2].failed = true;
        assert_eq!(find_gaps(&requests, &Known::default()), []);
    }

    #[test]
    fn what_is_near_to_a_skill_is_no_gap() {
        let requests = two_like_requests();
        let near: [&[f32]; 2] = [&NORTH, &[0.8, -0.6, 0.0]];
        assert_eq!(find_gaps(&requests, &Known { skills: &near, ..Known::default() }), []);
        // What was said before is nearer to what is said again than a skill's description.
        assert_eq!(find_gaps(&requests, &Known { examples: &near, ..Known::default() }).len(), 1);
        assert_eq!(find_gaps(&requests, &Known { examples: &[&EAST], ..Known::default() }), []);
        let strange: [&[f32]; 5] = [&NORTH, &[1.0], &[], &[f32::NAN; 3], &[0.0; 3]];
        let known = Known { skills: &strange, examples: &strange, chatter: &strange };
        assert_eq!(find_gaps(&requests, &known).len(), 1);
    }

    #[test]
    fn chatter_is_no_gap() {
        let requests = two_like_requests();
        assert_eq!(find_gaps(&requests, &Known { chatter: &[&EAST], ..Known::default() }), []);
        assert_eq!(find_gaps(&requests, &Known { chatter: &[&UP], ..Known::default() }).len(), 1);
    }

    #[test]
    fn vectors_of_an_earlier_model_are_left_out() {
        let mut requests = two_like_requests().to_vec();
        requests.push(request(5, 1, &[1.0, 0.0]));
        assert_eq!(find_gaps(&requests, &Known::default())[0].requests, [0, 2]);
        requests.extend([request(6, 8, &[1.0, 0.0]), request(7, 9, &[0.0, 1.0])]);
        assert_eq!(find_gaps(&requests, &Known::default())[0].requests, [4, 5]);
    }

    #[test]
    fn the_largest_gap_comes_first() {
        let mut requests = two_like_requests().to_vec();
        requests.extend([request(5, 5, &UP), request(6, 6, &UP)]);
        let found: Vec<Vec<usize>> =
            find_gaps(&requests, &Known::default()).into_iter().map(|gap| gap.requests).collect();
        assert_eq!(found, [vec![3, 4, 5], vec![0, 2]]);
    }

    #[test]
    fn what_all_requests_have_in_common_makes_none_alike() {
        // Each shares one large number with all others, and another with two of them.
        let vectors: Vec<[f32; 31]> = (0..90)
            .map(|at| {
                let mut vector = [0.0; 31];
                (vector[30], vector[at % 30]) = (1.0, 1.2);
                vector
            })
            .collect();
        let requests: Vec<Request<'_>> = (0..90).map(|at| request(at, at as u64, &vectors[at])).collect();
        let found = find_gaps(&requests, &Known::default());
        assert_eq!(found.len(), 30);
        assert_eq!(found[0].requests, [29, 59, 89]);
    }

    #[test]
    fn a_user_who_asks_for_one_thing_has_a_gap() {
        let vectors = [EAST, NEAR_EAST, [0.9, 0.1, 0.3]];
        let requests: Vec<Request<'_>> = (0..3).map(|at| request(at, at as u64, &vectors[at])).collect();
        assert_eq!(find_gaps(&requests, &Known::default())[0].requests, [0, 1, 2]);
    }

    #[test]
    fn hostile_input_is_answered() {
        assert_eq!(find_gaps(&[], &Known::default()), []);
        assert_eq!(find_gaps(&[request(1, 0, &EAST)], &Known::default()), []);
        let strange: [&[f32]; 5] = [&[], &[0.0; 3], &[f32::NAN; 3], &[f32::INFINITY; 3], &[1.0]];
        let requests: Vec<Request<'_>> =
            strange.iter().enumerate().map(|(at, vector)| request(at, at as u64, vector)).collect();
        assert_eq!(find_gaps(&requests, &Known { skills: &strange, ..Known::default() }), []);
        let same: Vec<Request<'_>> = (0..MOST_REQUESTS + 9).map(|at| request(at, at as u64, &EAST)).collect();
        let found = find_gaps(&same, &Known::default());
        assert_eq!((found.len(), found[0].requests.len()), (1, MOST_REQUESTS));
        // The earliest are left out.
        assert_eq!(found[0].requests[0], 9);
        assert!((found[0].tightness - 1.0).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn the_order_of_requests_does_not_matter(
            list in prop::collection::vec((0_usize..6, 0_u64..4, prop::array::uniform3(-2_i8..3), any::<bool>()), 0..12),
            turn in 0_usize..12,
        ) {
            let vectors: Vec<[f32; 3]> = list.iter().map(|(_, _, numbers, _)| numbers.map(f32::from)).collect();
            let made: Vec<Request<'_>> = list.iter().zip(&vectors)
                .map(|((session, day, _, failed), vector)| Request { failed: *failed, ..request(*session, *day, vector) })
                .collect();
            let mut turned = made.clone();
            turned.rotate_left(turn.min(list.len()));
            turned.reverse();
            let seen = |requests: &[Request<'_>]| -> Vec<_> {
                let gaps = find_gaps(requests, &Known::default());
                let of = |gap: &Gap| {
                    let mut members: Vec<_> = gap.requests.iter().map(|at| (requests[*at].session, requests[*at].day)).collect();
                    members.sort_unstable();
                    members
                };
                gaps.iter().map(|gap| (of(gap), gap.tightness, gap.label.clone())).collect()
            };
            prop_assert_eq!(seen(&made), seen(&turned));
        }
    }
}
