//! Generates users with three months of sessions from everyday messages: repeated requests, single requests, small
//! talk, orders to the assistant and other tasks.

use std::collections::BTreeMap;

use chrono::{Days, NaiveDate};
use knowhow_domain::learning::dream::Request;

use super::{Half, rank};
use crate::catalogues::World;
use crate::corpus::Corpus;
use crate::random::Random;
use crate::vectors::Vectors;

/// Users of a set. With 40 users, the F1 of another draw differs by up to .02.
const USERS: usize = 200;
/// Sessions of a user, and the number of days that they are spread over.
const SESSIONS: usize = 90;
/// Recurring skills of a user. `TIMES` is the minimum and maximum number of requests for each of them; the maximum is
/// the number of messages of a skill in `uses`.
const RECURRING: usize = 10;
const TIMES: [usize; 2] = [3, 8];
/// Number of messages of each kind that ask for no skill.
const NOISE: [(&str, usize); 3] = [("small-talk", 8), ("command", 4), ("other-task", 4)];

/// Source of the messages of users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The labelled messages, twelve for each skill.
    Messages,
    /// Messages after which a skill was used, eight for each skill.
    Uses,
}

impl Source {
    pub const ALL: [Self; 2] = [Self::Messages, Self::Uses];

    pub fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Uses => "uses",
        }
    }
}

/// A message with its embedding.
#[derive(Debug, Clone, Copy)]
struct Said<'a> {
    text: &'a str,
    vector: &'a [f32],
}

/// A user's requests, one for each session.
pub struct Person<'a> {
    pub requests: Vec<Request<'a>>,
    /// Index in the corpus of the skill that each request asks for; `None` if it asks for no skill.
    pub wanted: Vec<Option<usize>>,
    /// Indexes of the skills that the user asks for repeatedly.
    pub recurring: Vec<usize>,
}

/// Returns the same users on every run, because the seed of a user depends only on source, half and number.
pub fn draw_people<'a>(corpus: &'a Corpus, vectors: &'a Vectors, source: Source, half: Half) -> Vec<Person<'a>> {
    let by_skill = list_said(corpus, vectors, source, half);
    let noise = NOISE.map(|(kind, count)| (list_noise(corpus, vectors, kind, half), count));
    (0..USERS)
        .map(|user| {
            let seed = format!("{}-{}-{user}", source.name(), half.name());
            draw_person(&by_skill, &noise, Random::seeded(&seed))
        })
        .collect()
}

fn draw_person<'a>(
    by_skill: &BTreeMap<usize, Vec<Said<'a>>>,
    noise: &[(Vec<Said<'a>>, usize); 3],
    mut random: Random,
) -> Person<'a> {
    let order = random.choose(by_skill.keys().copied().collect(), by_skill.len());
    let (recurring, others) = order.split_at(RECURRING);
    let mut said: Vec<(Said<'a>, Option<usize>)> = Vec::new();
    for skill in recurring {
        let times = TIMES[0] + random.below(TIMES[1] - TIMES[0] + 1);
        said.extend(random.choose(by_skill[skill].clone(), times).into_iter().map(|said| (said, Some(*skill))));
    }
    for (pool, count) in noise {
        said.extend(random.choose(pool.clone(), *count).into_iter().map(|said| (said, None)));
    }
    for skill in others.iter().take(SESSIONS.saturating_sub(said.len())) {
        said.extend(random.choose(by_skill[skill].clone(), 1).into_iter().map(|said| (said, Some(*skill))));
    }
    let count = said.len();
    let (mut requests, mut wanted) = (Vec::new(), Vec::new());
    for (session, (Said { text, vector }, skill)) in random.choose(said, count).into_iter().enumerate() {
        let day = NaiveDate::default() + Days::new(random.below(SESSIONS) as u64);
        requests.push(Request { session, day, failed: random.below(10) == 0, text, vector });
        wanted.push(skill);
    }
    Person { requests, wanted, recurring: recurring.to_vec() }
}

/// Returns the messages of each everyday skill of a half, by the index of the skill.
fn list_said<'a>(
    corpus: &'a Corpus,
    vectors: &'a Vectors,
    source: Source,
    half: Half,
) -> BTreeMap<usize, Vec<Said<'a>>> {
    let mut by_skill: BTreeMap<usize, Vec<Said<'a>>> = BTreeMap::new();
    let skills = list_half(corpus, half);
    match source {
        Source::Messages => {
            for (at, message) in corpus.everyday.iter().enumerate() {
                if let [skill] = message.relevant[..]
                    && skills.contains(&skill)
                {
                    let vector = vectors.message(World::Everyday, at);
                    by_skill.entry(skill).or_default().push(Said { text: &message.text, vector });
                }
            }
        }
        Source::Uses => {
            for skill in skills {
                let uses = corpus.skills[skill].uses.iter().zip(&vectors.uses[skill]);
                by_skill.insert(skill, uses.map(|(text, vector)| Said { text, vector }).collect());
            }
        }
    }
    by_skill
}

/// Returns every second everyday skill, in the order of the hashes of their names.
fn list_half(corpus: &Corpus, half: Half) -> Vec<usize> {
    let mut skills: Vec<usize> = (corpus.everyday_at..corpus.starters_at).collect();
    skills.sort_by_key(|skill| rank(&corpus.skills[*skill].name));
    skills.into_iter().skip(usize::from(half == Half::HeldOut)).step_by(2).collect()
}

fn list_noise<'a>(corpus: &'a Corpus, vectors: &'a Vectors, kind: &str, half: Half) -> Vec<Said<'a>> {
    let all = corpus.everyday.iter().enumerate();
    all.filter(|(_, message)| message.kind == kind && Half::of(&message.id) == half)
        .map(|(at, message)| Said { text: &message.text, vector: vectors.message(World::Everyday, at) })
        .collect()
}
