//! The catalogues that a message is tried on, as a user would have them.

use knowhow_domain::recall::{Catalogue, Examples, SkillText};

use crate::corpus::{Corpus, Message};
use crate::random::Random;
use crate::vectors::Vectors;

/// Which messages, to which skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// Messages to coding agents with long skills.
    Coding,
    /// What people say every day, to short skills and the starters.
    Everyday,
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
    /// Whether the starters are there too, in everyday catalogues.
    pub starters: bool,
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
        }
    }
}

impl Drawing {
    /// Messages, by their place, in groups that share a catalogue.
    pub fn groups(&self, corpus: &Corpus) -> Vec<Vec<usize>> {
        let all: Vec<usize> = (0..corpus.messages(self.world).len()).collect();
        let group = if self.size <= OWN { 1 } else { self.size / SHARED };
        all.chunks(group).map(<[usize]>::to_vec).collect()
    }

    /// Draws a catalogue for some messages: the relevant skills, then others until there are `size`.
    ///
    /// The generator is `SplitMix64`, seeded with the first 8 bytes (little endian) of SHA-256 of the first message's id.
    /// The others come from a partial Fisher-Yates shuffle of all that are not relevant, in the order of the file: first
    /// from the near ones (of the message's own repository, with `same_source`; the everyday ones), then from the rest.
    pub fn draw(&self, corpus: &Corpus, messages: &[usize]) -> Vec<usize> {
        let all = corpus.messages(self.world);
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
            World::Everyday => *place >= corpus.everyday_at,
        };
        let (near, far): (Vec<usize>, Vec<usize>) = others.partition(near);
        for pool in [near, far] {
            let missing = self.size.saturating_sub(drawn.len());
            drawn.extend(random.choose(pool, missing));
        }
        if self.world == World::Everyday && self.starters {
            drawn.extend(corpus.starters_at..corpus.skills.len());
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
        Drawn { catalogue, examples: self.examples(&places, vectors), places }
    }

    fn examples(&self, places: &[usize], vectors: Option<&Vectors>) -> Examples {
        let uses = vectors.into_iter().flat_map(|vectors| {
            let of = |(at, place): (u32, &usize)| {
                vectors.uses[*place].iter().take(self.examples).map(move |vector| (at, vector.as_slice()))
            };
            (0..).zip(places).flat_map(of).collect::<Vec<_>>()
        });
        Examples::new(uses)
    }
}

impl Drawn {
    /// Places in the catalogue of the skills that answer a message.
    pub fn relevant(&self, message: &Message) -> Vec<usize> {
        (0..self.places.len()).filter(|at| message.relevant.contains(&self.places[*at])).collect()
    }

    /// Whether a skill is one of the starters, which count neither as hit nor as answer.
    pub fn is_starter(&self, corpus: &Corpus, skill: usize) -> bool {
        self.places[skill] >= corpus.starters_at
    }
}
