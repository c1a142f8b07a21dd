//! The catalogues that a message is tried on, as a user would have them.

use knowhow_domain::recall::{Catalogue, Examples, SkillText};

use crate::corpus::{Corpus, Message};
use crate::dream::rank;
use crate::random::Random;
use crate::vectors::Vectors;

/// Which messages, to which skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// Messages to coding agents with long skills.
    Coding,
    /// What people say every day, to short skills and the starters.
    Everyday,
    /// A set, by its place.
    Set(usize),
}

/// How catalogues are drawn.
#[derive(Debug, Clone, Copy)]
pub struct Drawing {
    pub world: World,
    /// Others come from the same source as the message first: near neighbours.
    pub same_source: bool,
    /// Skills, the starters of an everyday catalogue aside.
    pub size: usize,
    /// Characters of bodies that are kept.
    pub body_chars: usize,
    /// Examples of each skill, of everyday ones.
    pub examples: usize,
    /// Whether the catalogue has the starter skills too.
    pub starters: bool,
    /// Whether the catalogue has only half of a set's skills. Messages that ask for the other half are near misses.
    pub halved: bool,
}

/// A catalogue with what it was built from.
pub struct Drawn {
    /// Skills of the corpus, in the order of the catalogue.
    places: Vec<usize>,
    pub catalogue: Catalogue,
    pub examples: Examples,
}

/// Catalogues of more skills than this are shared by many messages: to build one takes seconds.
const OWN: usize = 250;
/// Messages that share a catalogue are so many for each of its skills.
const SHARED: usize = 5;

impl Corpus {
    pub fn messages(&self, world: World) -> &[Message] {
        match world {
            World::Coding => &self.coding,
            World::Everyday => &self.everyday,
            World::Set(at) => &self.sets[at].messages,
        }
    }
}

impl Drawing {
    /// Messages, by their place, in groups that share a catalogue.
    pub fn groups(&self, corpus: &Corpus) -> Vec<Vec<usize>> {
        let messages = corpus.messages(self.world);
        let all: Vec<usize> = (0..messages.len()).collect();
        let stands_alone = self.size <= OWN || messages.iter().any(|message| message.only.is_some());
        let group = if stands_alone { 1 } else { (self.size / SHARED).min(all.len()).max(1) };
        all.chunks(group).map(<[usize]>::to_vec).collect()
    }

    /// Draws a catalogue for some messages: the relevant skills, then others until there are `size`.
    ///
    /// The generator is `SplitMix64`, seeded with the first 8 bytes (little endian) of SHA-256 of the first message's id.
    /// The others come from a partial Fisher-Yates shuffle of all that are not relevant, in the order of the file: first
    /// from the near ones (of the message's own repository, with `same_source`; the everyday ones), then from the rest.
    pub fn draw(&self, corpus: &Corpus, messages: &[usize]) -> Vec<usize> {
        let all = corpus.messages(self.world);
        if let World::Set(set) = self.world {
            return self.draw_of_set(corpus, set, &all[messages[0]]);
        }
        let mut random = Random::seeded(&all[messages[0]].id);
        let mut drawn: Vec<usize> = Vec::new();
        for place in messages.iter().flat_map(|message| &all[*message].relevant) {
            if !drawn.contains(place) {
                drawn.push(*place);
            }
        }
        let last = if self.world == World::Coding { corpus.everyday_at } else { corpus.starters_at };
        let others = (0..last).filter(|place| !drawn.contains(place));
        let source = &all[messages[0]].source;
        let near = |place: &usize| match self.world {
            World::Coding => self.same_source && corpus.skills[*place].source == *source,
            World::Everyday | World::Set(_) => *place >= corpus.everyday_at,
        };
        let (near, far): (Vec<usize>, Vec<usize>) = others.partition(near);
        for pool in [near, far] {
            let missing = self.size.saturating_sub(drawn.len());
            drawn.extend(random.choose(pool, missing));
        }
        if self.world == World::Everyday && self.starters {
            drawn.extend(corpus.starters_at..corpus.sets_at);
        }
        drawn
    }

    /// Draws a catalogue of a set for a message: all its skills, or the relevant ones and others until there are `size`.
    fn draw_of_set(&self, corpus: &Corpus, set: usize, message: &Message) -> Vec<usize> {
        let pool = message.only.as_ref().unwrap_or(&corpus.sets[set].library);
        let pool =
            pool.iter().copied().filter(|place| !self.halved || rank(&corpus.skills[*place].name).is_multiple_of(2));
        let (mut drawn, others): (Vec<usize>, Vec<usize>) = pool.partition(|place| message.relevant.contains(place));
        let missing = self.size.saturating_sub(drawn.len());
        if missing >= others.len() {
            drawn.extend(others);
            drawn.sort_unstable();
        } else {
            drawn.extend(Random::seeded(&message.id).choose(others, missing));
        }
        if self.starters {
            drawn.extend(corpus.starters_at..corpus.sets_at);
        }
        drawn
    }

    /// What recall reads of each skill.
    pub fn texts<'a>(&self, corpus: &'a Corpus, places: &[usize], vectors: Option<&'a Vectors>) -> Vec<SkillText<'a>> {
        let text = |place: &usize| {
            let skill = &corpus.skills[*place];
            let body = skill.body.as_str();
            SkillText {
                name: &skill.name,
                description: &skill.description,
                triggers: &skill.triggers,
                body: body.get(..body.floor_char_boundary(self.body_chars)).unwrap_or_default(),
                embedding: vectors.map(|vectors| vectors.skills[*place].as_slice()),
                ..SkillText::default()
            }
        };
        places.iter().map(text).collect()
    }

    pub fn build(&self, corpus: &Corpus, places: Vec<usize>, vectors: Option<&Vectors>) -> Drawn {
        let catalogue = Catalogue::build(&self.texts(corpus, &places, vectors));
        let examples = self.examples(&catalogue, &places, vectors);
        Drawn { catalogue, examples, places }
    }

    fn examples(&self, catalogue: &Catalogue, places: &[usize], vectors: Option<&Vectors>) -> Examples {
        let uses = vectors.into_iter().flat_map(|vectors| {
            let of = |(at, place): (u32, &usize)| {
                vectors.uses[*place].iter().take(self.examples).map(move |vector| (at, vector.as_slice()))
            };
            (0..).zip(places).flat_map(of).collect::<Vec<_>>()
        });
        Examples::of(catalogue, uses)
    }
}

impl Drawn {
    /// Skills of the corpus, in the order of the catalogue.
    pub fn places(&self) -> &[usize] {
        &self.places
    }

    /// Places in the catalogue of the skills that answer a message.
    pub fn relevant(&self, message: &Message) -> Vec<usize> {
        (0..self.places.len()).filter(|at| message.relevant.contains(&self.places[*at])).collect()
    }

    /// Whether a skill is one of the starters, which count neither as hit nor as answer.
    pub fn is_starter(&self, corpus: &Corpus, skill: usize) -> bool {
        (corpus.starters_at..corpus.sets_at).contains(&self.places[skill])
    }
}
