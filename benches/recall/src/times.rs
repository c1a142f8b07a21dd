//! Measures the time for building and searching on one core, and the memory of a skill.

use std::hint::black_box;
use std::time::{Duration, Instant};

use knowhow_domain::recall::{Catalogue, search};

use crate::catalogues::{Drawing, World};
use crate::corpus::Corpus;
use crate::measure::{Basis, ask};
use crate::settings::{Setting, Way};
use crate::vectors::Vectors;

/// One catalogue in this number is built and searched, because medians are stable long before all are measured.
const EVERY: usize = 16;
/// Number of searches in a catalogue that many messages share.
const SEARCHES: usize = 200;

/// Median costs. Other work on the machine affects medians least.
pub struct Cost {
    pub name: String,
    /// Number of skills of a catalogue, including starters.
    pub skills: usize,
    pub build_us_a_skill: f64,
    pub bytes_a_skill: usize,
    /// Time of a search in microseconds, for each way of searching.
    pub search_us: Vec<(Way, f64)>,
}

pub fn time(corpus: &Corpus, setting: &Setting, vectors: Option<&Vectors>) -> Cost {
    let drawing = &setting.drawing;
    let some: Vec<_> = drawing.groups(corpus).into_iter().step_by(EVERY).collect();
    let catalogues = some.iter().map(|group| {
        let messages: Vec<usize> = group.iter().copied().take(SEARCHES).collect();
        (drawing.draw(corpus, group), messages)
    });
    measure(&setting.name, Basis { corpus, drawing, vectors }, catalogues, setting.ways(vectors.is_some()))
}

/// Measures the whole corpus as one catalogue, which has the size of a tenant's library rather than a user's.
pub fn time_whole(corpus: &Corpus, vectors: Option<&Vectors>) -> Cost {
    const EVERY: usize = 8;
    let places: Vec<usize> = (0..corpus.everyday_at).collect();
    let drawing = Drawing {
        world: World::Coding,
        same_source: false,
        size: places.len(),
        body_chars: usize::MAX,
        examples: 0,
        starters: false,
        halved: false,
    };
    let messages = (0..corpus.coding.len()).step_by(EVERY).collect();
    let ways: &[Way] = if vectors.is_some() { &[Way::Words, Way::Meaning] } else { &[Way::Words] };
    measure("all", Basis { corpus, drawing: &drawing, vectors }, [(places, messages)].into_iter(), ways)
}

/// Builds each catalogue and searches it for its messages.
fn measure(
    name: &str,
    basis: Basis<'_>,
    catalogues: impl Iterator<Item = (Vec<usize>, Vec<usize>)>,
    ways: &[Way],
) -> Cost {
    let Basis { corpus, drawing, vectors } = basis;
    let (mut building, mut bytes, mut skills, mut built) = (Vec::new(), 0, 0, 0);
    let mut searching: Vec<(Way, Vec<Duration>)> = ways.iter().map(|way| (*way, Vec::new())).collect();
    for (places, messages) in catalogues {
        let texts = drawing.texts(corpus, &places, vectors);
        building.push(time_of(|| Catalogue::build(&texts)) / u32::try_from(places.len()).unwrap_or(u32::MAX));
        let drawn = drawing.build(corpus, places, vectors);
        bytes += drawn.catalogue.weight();
        skills += drawn.catalogue.len();
        built += 1;
        for (way, times) in &mut searching {
            let queries = messages.iter().map(|at| ask(basis, &drawn, *at, *way));
            times.extend(queries.map(|query| time_of(|| search(&drawn.catalogue, &query))));
        }
    }
    Cost {
        name: name.to_owned(),
        skills: skills / built.max(1),
        build_us_a_skill: median_us(building),
        bytes_a_skill: bytes / skills.max(1),
        search_us: searching.into_iter().map(|(way, times)| (way, median_us(times))).collect(),
    }
}

fn time_of<T>(work: impl FnOnce() -> T) -> Duration {
    let started = Instant::now();
    let made = black_box(work());
    let taken = started.elapsed();
    drop(made);
    taken
}

fn median_us(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1e6)
}
