//! Draws the catalogues that messages are tried on, like those of a user.

use knowhow_domain::recall::{Catalogue, Examples, SkillText};

use crate::corpus::{Corpus, Message};
use crate::dream::rank;
use crate::random::Random;
use crate::vectors::Vectors;

/// The messages that are tried, and the skills that they ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// Messages to coding agents, with long skills.
    Coding,
    /// Everyday messages, with short skills and the starters.
    Everyday,
    /// A data set, by its index in `Corpus::sets`.
    Set(usize),
}

/// The rules for drawing catalogues.
#[derive(Debug, Clone, Copy)]
pub struct Drawing {
    pub world: World,
    /// True if the irrelevant skills come from the message's repository first, so that they resemble the relevant
    /// ones.
    pub same_source: bool,
    /// Number of skills, not counting the starters of an everyday catalogue.
    pub size: usize,
    /// Maximum characters of each body; the rest is cut.
    pub body_chars: usize,
    /// Number of examples for each everyday skill.
    pub examples: usize,
    /// True if the starter skills are added to the catalogue.
    pub starters: bool,
    /// Whether the catalogue has only half of a set's skills. Messages that ask for the other half are near misses.
    pub halved: bool,
}

/// A catalogue and the skills that it was built from.
pub struct Drawn {
    /// Indexes of the skills in the corpus, in the order of the catalogue.
    places: Vec<usize>,
    pub catalogue: Catalogue,
    pub examples: Examples,
}

/// Maximum skills of a catalogue that is built for one message. Larger catalogues are shared by several messages,
/// because building one takes seconds.
const OWN: usize = 250;
/// Skills of a shared catalogue for each message that shares it: five skills for one message.
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
    /// Returns the indexes of all messages, in groups that share a catalogue.
    pub fn groups(&self, corpus: &Corpus) -> Vec<Vec<usize>> {
        let messages = corpus.messages(self.world);
        let all: Vec<usize> = (0..messages.len()).collect();
        let stands_alone = self.size <= OWN || messages.iter().any(|message| message.only.is_some());
        let group = if stands_alone { 1 } else { (self.size / SHARED).min(all.len()).max(1) };
        all.chunks(group).map(<[usize]>::to_vec).collect()
    }

    /// Draws a catalogue for a group of messages: the relevant skills, then irrelevant ones until there are `size`.
    ///
    /// The generator is `SplitMix64`, seeded with the first 8 bytes (little endian) of the SHA-256 of the first
    /// message's id. The irrelevant skills come from a partial Fisher-Yates shuffle in the order of the file. Near
    /// skills come first: with `same_source` those of the message's repository, in an everyday catalogue the everyday
    /// ones. The rest follows.
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

    /// Draws a catalogue of a set for a message: all skills of the set, or the relevant ones and others until there
    /// are `size`.
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

    /// Returns the texts and vectors of each skill that recall reads.
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
    /// Returns the indexes of the skills in the corpus, in the order of the catalogue.
    pub fn places(&self) -> &[usize] {
        &self.places
    }

    /// Returns the positions in the catalogue of the skills that are relevant to a message.
    pub fn relevant(&self, message: &Message) -> Vec<usize> {
        (0..self.places.len()).filter(|at| message.relevant.contains(&self.places[*at])).collect()
    }

    /// Returns whether a skill is a starter. Starters count neither as a hit nor as an answer.
    pub fn is_starter(&self, corpus: &Corpus, skill: usize) -> bool {
        (corpus.starters_at..corpus.sets_at).contains(&self.places[skill])
    }
}
